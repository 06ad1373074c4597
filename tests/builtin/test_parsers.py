"""Markdown and plain text: encodings, front matter, titles, names."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localdb_core.builtin.decode import decode
from localdb_core.builtin.frontmatter import read_front_matter
from localdb_core.builtin.markdown import MarkdownParser, first_heading
from localdb_core.builtin.plaintext import PlainTextParser
from localdb_core.domain import Metadata
from localdb_core.domain.formats import CODE_SUFFIXES, LOCKFILES
from localdb_core.domain.frontmatter import FrontMatter
from localdb_core.plugin import Declined, Document, PluginContext, Probe, no_progress

CONTEXT = PluginContext(plugin="core")
SHARED = Path(os.environ.get("LOCALDB_SHARED") or Path(__file__).parents[3] / "shared")


def parse(parser, folder: Path, name: str, data: bytes | str, media_type: str | None = None):
    raw = data if isinstance(data, bytes) else data.encode()
    path = folder / name
    path.write_bytes(raw)
    return parser(CONTEXT).parse(path, Probe(name, raw[:8192], media_type), no_progress)


def markdown(folder: Path, data: bytes | str, name: str = "a.md") -> Document:
    document = parse(MarkdownParser, folder, name, data, "text/markdown")
    assert isinstance(document, Document)
    return document


@pytest.mark.req("L-PAR-14", "L-DOM-31")
@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From front matter\n---\n# From heading", "From front matter"),
        ("---\nauthor: A\n---\nintro\n\n# From *heading* #", "From heading"),
        ("## Second\n\nSetext `one`\n===\n", "Setext one"),
        ("```\n# comment\n```\n\n# [Real](x) ![i](y) one", "Real one"),
        ("~~~\n```\n# comment\n~~~\n# snake_case \\*x", "snake_case *x"),
        ("text\n\n## only second", None),
        ("#hashtag\n\n    # code\n\n===\n", None),
        ("", None),
    ],
)
def test_the_title_is_front_matter_then_first_heading_then_none(
    tmp_path: Path, text: str, title: str | None
) -> None:
    assert markdown(tmp_path, text).metadata.title == title


@pytest.mark.req("L-PAR-14", "L-BYD-13")
def test_front_matter_becomes_dublin_core(tmp_path: Path) -> None:
    text = """---
title: "A: *b*"
authors:
  - name: Doe, Jane
  - John Roe
date: 2024-01-05
tags: [one, two, one]
categories: "three, four"
summary: >
  Two
  lines.
lang: de
publisher: ~
license: CC-BY
version: 7
---
Body
"""

    document = markdown(tmp_path, text)

    assert document.front_matter_read
    assert document.markdown == text
    assert document.metadata == Metadata(
        title="A: *b*",
        creator=("Doe, Jane", "John Roe"),
        date="2024-01-05",
        subject=("one", "two", "three", "four"),
        description="Two lines.",
        language="de",
        rights="CC-BY",
        format="text/markdown",
    )


@pytest.mark.req("L-BYD-13")
def test_toml_front_matter_is_read_too(tmp_path: Path) -> None:
    document = markdown(
        tmp_path,
        '+++\ntitle = "T"\ndate = 2024-01-05\nauthors = ["A"]\n[taxonomies]\ntags = ["x"]\n+++\n',
    )

    metadata = document.metadata
    assert (metadata.title, metadata.date) == ("T", "2024-01-05")
    assert (metadata.creator, metadata.subject) == (("A",), ("x",))


@pytest.mark.parametrize(
    "body",
    [
        "title: [unclosed",
        "- a\n- b",
        "just words",
        "? [a, b]\n: c",
        "a: &a [*a]",
        "\t- x: {",
        "title: " + "[" * 5000,
    ],
)
def test_front_matter_that_cannot_be_read_stays_text_and_is_told(tmp_path: Path, body: str) -> None:
    document = markdown(tmp_path, f"---\n{body}\n---\n# Title\n")

    assert not document.front_matter_read
    assert document.metadata.title == "Title"
    assert len(document.warnings) == 1
    assert "front matter" in document.warnings[0]


def test_front_matter_cannot_run_code_or_grow(tmp_path: Path) -> None:
    marker = tmp_path / "made"
    bomb = "a: &a [x, x]\n" + "".join(
        f"{new}: &{new} [*{old}, *{old}, *{old}, *{old}, *{old}, *{old}, *{old}, *{old}]\n"
        for old, new in zip("abcdefghijk", "bcdefghijkl", strict=True)
    )
    text = f"---\ntitle: !!python/object/apply:os.mkdir ['{marker}']\n{bomb}tags: *l\n---\nBody"

    document = markdown(tmp_path, text)

    assert not marker.exists()
    assert len(json.dumps(document.metadata.to_json())) < 10_000


@settings(deadline=None)
@given(
    body=st.text(alphabet="ab:-[]{}&*!|>'\"\n ,#?%@\t1", max_size=80),
    format_=st.sampled_from(["yaml", "toml"]),
)
def test_no_front_matter_raises(body: str, format_: str) -> None:
    reading = read_front_matter(FrontMatter(format_, body, 0))

    assert reading.metadata == Metadata() or not reading.problem
    json.dumps(reading.metadata.to_json())


@given(st.text(alphabet="# a=`~*[]()!\\\n\t", max_size=100))
def test_a_title_is_one_line_with_text(text: str) -> None:
    title = first_heading(text)

    assert title is None or (title.strip() == title and "\n" not in title and title)


@pytest.mark.req("L-PAR-18", "L-BYD-36")
@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "latin-1"],
)
def test_text_is_decoded_whatever_its_encoding(tmp_path: Path, encoding: str) -> None:
    text = "# Größe\r\n\rEine Straße führt über die Brücke nach Süden.\r\n"

    document = markdown(tmp_path, text.encode(encoding))

    assert document.markdown == "# Größe\n\nEine Straße führt über die Brücke nach Süden.\n"
    assert document.metadata.title == "Größe"
    assert document.warnings == ()


@pytest.mark.req("L-PAR-18")
@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Café déjà vu, où êtes-vous? Voilà l’été à Noël.", "cp1252"),
        ("¿Dónde está el niño? Mañana por la mañana.", "latin-1"),
        ("Ağrı Dağı Türkiye’nin en yüksek dağıdır. Işık şimdi söndü.", "cp1254"),
        (
            "До прибытия Роллона население не отличалось от соседей. Затем всё изменилось. " * 3,
            "koi8-r",
        ),
        ("やがて、廊下に足音がして、誰か上ってくる。", "shift_jis"),
        ("やがて、廊下に足音がして、誰か上ってくる。", "iso-2022-jp"),
    ],
)
def test_legacy_encodings_are_told_apart(text: str, encoding: str) -> None:
    decoded = decode(text.encode(encoding))

    assert decoded is not None
    assert decoded.text == text


def test_a_few_bad_bytes_do_not_make_another_encoding(tmp_path: Path) -> None:
    raw = ("Grüße aus Köln, schöne Straßen. " * 20).encode() + b"\xff end"

    document = markdown(tmp_path, raw)

    assert document.markdown is not None
    assert document.markdown.startswith("Grüße aus Köln")
    assert document.warnings == ("1 characters could not be read as utf-8",)


@pytest.mark.req("L-PAR-14", "L-PAR-15", "L-PAR-18")
@pytest.mark.parametrize(
    "data", [b"\x00\x01\x02\x00", b"text\x00text\n" * 50, bytes(range(256)) * 9]
)
def test_binary_data_is_declined(tmp_path: Path, data: bytes) -> None:
    assert isinstance(parse(PlainTextParser, tmp_path, "a.txt", data), Declined)
    assert isinstance(parse(MarkdownParser, tmp_path, "a.md", data), Declined)


@settings(deadline=None, max_examples=50)
@given(st.binary(max_size=300))
def test_no_bytes_crash_the_decoder(data: bytes) -> None:
    decoded = decode(data)

    assert decoded is None or ("\x00" not in decoded.text and "\r" not in decoded.text)


@pytest.mark.req("L-PAR-15")
@pytest.mark.parametrize("name", [*(f"a{s}" for s in CODE_SUFFIXES), *LOCKFILES, "A.PY"])
def test_source_code_is_one_block_as_it_is(tmp_path: Path, name: str) -> None:
    document = parse(PlainTextParser, tmp_path, name, "# comment\r\n\r\n    indented *a*\n")

    assert document.markdown is None
    assert [block.text for block in document.blocks] == ["# comment\n\n    indented *a*\n"]


@pytest.mark.req("L-PAR-15")
def test_plain_text_goes_on_as_markdown(tmp_path: Path) -> None:
    document = parse(PlainTextParser, tmp_path, "a.txt", "One\r\rTwo", "text/plain; charset=x")

    assert (document.markdown, document.blocks) == ("One\n\nTwo", None)
    assert document.metadata == Metadata(format="text/plain")


@pytest.mark.req("L-PAR-15")
def test_other_names_are_declined_unless_a_server_calls_them_text(tmp_path: Path) -> None:
    assert isinstance(parse(PlainTextParser, tmp_path, "a.xyz", "text"), Declined)
    assert isinstance(parse(PlainTextParser, tmp_path, ".txt", "text"), Declined)
    assert isinstance(parse(MarkdownParser, tmp_path, "a.txt", "text"), Declined)
    assert isinstance(parse(PlainTextParser, tmp_path, "page", "text", "text/plain"), Document)


def test_empty_files_give_empty_documents(tmp_path: Path) -> None:
    assert markdown(tmp_path, "").markdown == ""
    assert parse(PlainTextParser, tmp_path, "a.py", "\n").blocks == ()


@pytest.mark.req("L-PAR-18")
def test_the_collected_texts_are_read_like_their_published_decoding() -> None:
    folder = SHARED / "data" / "docs" / "text"
    if not folder.is_dir():
        pytest.skip("no collection of documents; set LOCALDB_SHARED to its folder")

    for gold in sorted((folder / "gold").glob("*.utf8.txt")):
        decoded = decode((folder / gold.name.removesuffix(".utf8.txt")).read_bytes())
        assert decoded is not None, gold.name
        assert _bare(decoded.text) == _bare(gold.read_text("utf-8")), gold.name


def _bare(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).replace("\ufeff", "").split())
