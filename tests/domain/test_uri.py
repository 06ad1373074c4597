"""URIs of files and pages, and how they are shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localdb_core.domain.uri import display, file_path, file_uri, normalise_url, printable


@pytest.mark.req("L-DOM-41")
@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/home/user/my file.md", "file:///home/user/my%20file.md"),
        ("/a/b&c=d+e~f'g(h)[i]|j;k:l@m", "file:///a/b&c=d+e~f'g(h)[i]|j;k:l@m"),
        ('/a/"#<>?`{}%\\^', "file:///a/%22%23%3C%3E%3F%60%7B%7D%25%5C%5E"),
        ("/ä", "file:///%C3%A4"),
        ("/line\nbreak", "file:///line%0Abreak"),
    ],
)
def test_a_path_becomes_a_uri_byte_by_byte(path: str, uri: str) -> None:
    assert file_uri(Path(path)) == uri
    assert file_path(uri) == Path(path)


@pytest.mark.req("L-DOM-41")
@given(st.lists(st.binary(min_size=1, max_size=8), min_size=1, max_size=4))
def test_a_file_uri_has_an_inverse_for_any_bytes(parts: list[bytes]) -> None:
    names = [part.replace(b"/", b"_").replace(b"\x00", b"_") for part in parts]
    names = [b"dots" if name in (b".", b"..") else name for name in names]
    path = Path(os.fsdecode(b"/" + b"/".join(names)))

    uri = file_uri(path)

    assert uri.isascii()
    assert file_path(uri) == path


@pytest.mark.req("L-DOM-42")
def test_a_relative_path_has_no_uri() -> None:
    with pytest.raises(ValueError, match="absolute"):
        file_uri(Path("notes/a.md"))


@pytest.mark.req("L-DOM-40")
@pytest.mark.parametrize(
    ("given_url", "normal"),
    [
        ("HTTP://Example.COM", "http://example.com/"),
        ("https://example.com:443/a/./b/../c", "https://example.com/a/c"),
        ("http://example.com:8080/x y", "http://example.com:8080/x%20y"),
        ("http://example.com/%7euser/%2f", "http://example.com/%7euser/%2f"),
        ("http://example.com/ä?q=ü#ö", "http://example.com/%C3%A4?q=%C3%BC#%C3%B6"),
    ],
)
def test_urls_are_normalised(given_url: str, normal: str) -> None:
    assert normalise_url(given_url) == normal
    assert normalise_url(normal) == normal


@pytest.mark.parametrize("url", ["no scheme", "http://", "http://example.com:bad/"])
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        normalise_url(url)


@pytest.mark.req("L-DOM-43")
def test_the_shown_form_is_decoded_and_harmless() -> None:
    assert display("file:///a/my%20file.md") == "file:/a/my file.md"
    assert display("https://example.com/%C3%A4") == "https://example.com/ä"
    assert display("file:///a%1B%5B31m") == "file:/a\ufffd[31m"
    assert printable("a\u202eb\u2066c\x07") == "a\ufffdb\ufffdc\ufffd"
