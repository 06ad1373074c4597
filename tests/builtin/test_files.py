"""The path source: what is found, under which name, and when nobody may conclude anything."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from localdb_core.builtin.files import DEFAULT_EXCLUDES, PathSource
from localdb_core.builtin.globs import Globs
from localdb_core.domain import Source
from localdb_core.domain.formats import stored_mime
from localdb_core.domain.uri import file_uri
from localdb_core.plugin import Accepts, Listing, PluginContext

ACCEPTS = Accepts(
    suffixes=frozenset({".md", ".txt", ".py", ".fb2.zip"}), filenames=frozenset({"Cargo.lock"})
)
CONTEXT = PluginContext(plugin="core")


def listing(
    root: Path | str,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    accepts: Accepts = ACCEPTS,
) -> Listing:
    source = Source(
        id="s",  # type: ignore[arg-type]
        store_id="t",  # type: ignore[arg-type]
        kind="path",
        root=str(root),
        include=tuple(include),
        exclude=tuple(exclude),
    )
    return PathSource(CONTEXT).list(source, accepts)


def fill(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")


def names(found: Listing, root: Path) -> list[str]:
    return [item.path.relative_to(os.path.realpath(root)).as_posix() for item in found.items]


@pytest.mark.req("L-ING-12", "L-BYD-16")
def test_without_includes_the_installed_parsers_decide(tmp_path: Path) -> None:
    fill(
        tmp_path, "a.md", "B.MD", "x/c.py", "Cargo.lock", "d.fb2.zip", "e.zip", "f", ".md", "g.rtf"
    )

    first = listing(tmp_path)
    later = listing(tmp_path, accepts=Accepts(suffixes=frozenset({".rtf"})))

    assert names(first, tmp_path) == ["B.MD", "Cargo.lock", "a.md", "d.fb2.zip", "x/c.py"]
    assert names(later, tmp_path) == ["g.rtf"]


@pytest.mark.req("L-ING-12")
def test_default_excludes_prune_whole_folders(tmp_path: Path) -> None:
    kept = ["a/target.md", "b/.github/c.md"]
    fill(tmp_path, *kept, *(f"x/{name[3:]}/y/z.md" for name in DEFAULT_EXCLUDES))

    assert names(listing(tmp_path), tmp_path) == kept


@pytest.mark.req("L-ING-21")
@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.md", "a.md", True),
        ("*.md", "x/a.md", False),
        ("**/*.md", "a.md", True),
        ("**/*.md", "x/y/a.md", True),
        ("x/**", "x/y/z", True),
        ("x/**", "xy/z", False),
        ("x/**/z", "x/z", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[!a-c].md", "d.md", True),
        ("[!a-c].md", "b.md", False),
        ("[z-a]", "[z-a]", True),
        ("{a,b*}.md", "bcd.md", True),
        ("a[1].md", "a[1].md", True),
        ("*.md", "new\nline.md", True),
        ("./docs/", "docs", True),
        ("a.md", "aXmd", False),
        ("[^x]", "^", True),
    ],
)
def test_globs_cross_folders_only_with_two_stars(pattern: str, path: str, matches: bool) -> None:
    assert Globs([pattern]).match(path) is matches


@pytest.mark.req("L-ING-21", "L-ING-13")
def test_includes_look_at_the_relative_path_and_excludes_also_at_the_name(tmp_path: Path) -> None:
    fill(tmp_path, "a.txt", "docs/b.txt", "docs/tmp/c.txt", "docs/skip.txt", "docs/d.odd")

    found = listing(tmp_path, include=["docs/**"], exclude=["tmp", "**/skip.*"])

    assert names(found, tmp_path) == ["docs/b.txt", "docs/d.odd"]


@pytest.mark.req("L-ING-11")
@pytest.mark.parametrize("name", ["one.md", "we[i]rd {1}.odd", "no extension"])
def test_a_single_file_is_found_without_its_neighbours(tmp_path: Path, name: str) -> None:
    fill(tmp_path, name, "other.md")
    locked = tmp_path / "locked"
    locked.mkdir(mode=0)

    found = listing(tmp_path, include=[name])

    assert found.complete
    assert names(found, tmp_path) == [name]


def test_a_single_file_outside_the_root_is_not_found(tmp_path: Path) -> None:
    fill(tmp_path, "root/a.md", "b.md")

    assert listing(tmp_path / "root", include=["../b.md", str(tmp_path / "b.md")]).items == []


@pytest.mark.req("L-ING-20")
def test_a_missing_root_is_unavailable_and_an_empty_one_is_not(tmp_path: Path) -> None:
    missing = listing(tmp_path / "gone")
    empty = listing(tmp_path)

    assert (missing.complete, missing.items) == (False, [])
    assert missing.reason == f"root unavailable: {tmp_path / 'gone'}"
    assert (empty.complete, empty.items) == (True, [])


def test_a_missing_relative_root_says_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    away = listing("notes")
    (tmp_path / "elsewhere").rmdir()
    nowhere = listing("notes")

    assert away.reason == f"root unavailable: notes, looked for in {tmp_path / 'elsewhere'}"
    assert nowhere.reason == "root unavailable: notes; the current folder was deleted"
    assert not away.complete
    assert not nowhere.complete


@pytest.mark.req("L-ING-22", "L-INV-05")
def test_a_folder_that_cannot_be_read_makes_the_listing_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, "a.md", "locked/b.md")
    real = os.scandir

    def refusing(path):
        # The test may run as a user whom no permission bit stops.
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refusing)

    found = listing(tmp_path)

    assert not found.complete
    assert found.reason == "cannot read the folder locked/: Permission denied"


def test_a_folder_that_vanishes_makes_the_listing_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, "a/1.md", "b/2.md")
    real = os.scandir

    def vanishing(path):
        if str(path).endswith(("a", "b")) and (tmp_path / "a").exists():
            (tmp_path / "a").rename(tmp_path / "moved")
            (tmp_path / "b").rename(tmp_path / "moved too")
        return real(path)

    monkeypatch.setattr(os, "scandir", vanishing)

    assert not listing(tmp_path).complete


@pytest.mark.req("L-ING-22", "L-ING-23", "L-DOM-41")
def test_items_carry_what_the_catalog_needs_sorted_by_uri(tmp_path: Path) -> None:
    fill(tmp_path, "z.md", "a b.txt", "m/é.py")
    os.utime(tmp_path / "z.md", ns=(0, 1_700_000_000_999_999_999))
    os.utime(tmp_path / "a b.txt", (0, -1))

    found = listing(tmp_path)

    uris = [item.uri for item in found.items]
    last = found.items[-1]
    assert uris == sorted(uris)
    assert [item.mime for item in found.items] == ["text/plain", "text/x-python", "text/markdown"]
    assert found.items[0].added_at == "1969-12-31T23:59:59Z"
    assert (last.name, last.size, last.added_at) == ("z.md", 4, "2023-11-14T22:13:20Z")
    assert last.mtime_ns == 1_700_000_000_999_999_999
    assert last.uri == last.locator == file_uri(Path(os.path.realpath(tmp_path / "z.md")))


@pytest.mark.req("L-ING-23")
def test_stored_media_types_follow_the_table() -> None:
    assert stored_mime("a.MD") == "text/markdown"
    assert stored_mime("a.tsx") == "text/typescript"
    assert stored_mime("a.docx") == "application/octet-stream"
    assert stored_mime("Makefile") is None
    assert stored_mime(".md") is None


@pytest.mark.req("L-ING-21")
def test_links_are_followed_but_never_in_circles(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    fill(root, "a/one.md")
    fill(outside, "two.md")
    (root / "a" / "up").symlink_to(root)
    (root / "out").symlink_to(outside)
    (root / "self").symlink_to(root / "self")

    found = listing(root)

    assert found.complete
    assert [item.path.name for item in found.items] == ["two.md", "one.md"]


def test_links_that_multiply_come_to_an_end(tmp_path: Path) -> None:
    folders = [tmp_path / f"d{n}" for n in range(14)]
    for folder in folders:
        fill(folder, "x.md")
    for one, two in zip(folders, folders[1:], strict=False):
        (one / "left").symlink_to(two)
        (one / "right").symlink_to(two)

    assert len(listing(tmp_path).items) == 14


@pytest.mark.req("L-DOM-42")
def test_a_linked_file_is_listed_once_under_its_real_path(tmp_path: Path) -> None:
    fill(tmp_path, "real.md")
    (tmp_path / "alias.md").symlink_to("real.md")
    (tmp_path / "broken.md").symlink_to("nowhere.md")

    found = listing(tmp_path)

    assert [(item.name, item.path.name) for item in found.items] == [("real.md", "real.md")]
    assert [problem.reason for problem in found.problems] == ["broken link: broken.md leads here"]
    assert found.problems[0].uri.endswith("/nowhere.md")


@pytest.mark.req("L-INV-05", "L-ING-52")
def test_a_linked_folder_that_is_away_is_told_of_and_hides_nothing_else(tmp_path: Path) -> None:
    fill(tmp_path, "notes/a.md", "disk/b.md", "empty/c.md", "gone/d.md")
    for name in ("disk", "empty", "gone"):
        (tmp_path / "notes" / name).symlink_to(tmp_path / name)
    (tmp_path / "notes" / "loop").symlink_to("loop")
    before = listing(tmp_path / "notes")
    (tmp_path / "empty" / "c.md").unlink()  # such as the folder of a disk that is not mounted
    (tmp_path / "gone").rename(tmp_path / "elsewhere")

    after = listing(tmp_path / "notes")

    assert len(before.items) == 4
    assert names(after, tmp_path) == ["disk/b.md", "notes/a.md"]
    assert after.complete
    assert {Path(folder.uri).name: folder.reason for folder in after.hidden} == {
        "empty": "the folder behind the link empty/ is empty now",
        "gone": "the link gone leads nowhere now (No such file or directory); mend or remove it",
        "loop": "the link loop leads nowhere now (Too many levels of symbolic links); "
        "mend or remove it",
    }


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")

    assert listing(tmp_path) == Listing()


@pytest.mark.req("L-DOM-41")
def test_names_of_any_bytes_are_found(tmp_path: Path) -> None:
    raw = [b"new\nline.md", b"latin-\xe9.md", "漢.md".encode()]
    for name in raw:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("x")

    found = listing(tmp_path)

    assert {os.fsencode(item.name) for item in found.items} == set(raw)
    assert all(item.uri.isascii() and item.path.read_text() == "x" for item in found.items)


@pytest.mark.req("L-ING-14")
def test_a_relative_root_is_read_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, "notes/a.md")
    monkeypatch.chdir(tmp_path)

    (item,) = listing("notes").items

    assert item.path == Path(os.path.realpath(tmp_path / "notes" / "a.md"))
