"""Stores and sources: names, roots, scope, and removing with everything below."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from localdb_core.app import LocalDB
from localdb_core.domain import InvalidRequest, SearchRequest, SourceNotFound, StoreNotFound
from localdb_core.domain.errors import IndexInProgress
from localdb_core.storage.lock import StoreLock
from localdb_core.testing.app import make_app


@pytest.fixture
def app(tmp_path: Path) -> Iterator[LocalDB]:
    with make_app(tmp_path / "home") as app:
        yield app


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for n in range(3):
        (folder / f"{n}.md").write_text(f"# Note {n}\n\nParagraph {n} on herons.\n")
    return folder


def texts(app: LocalDB) -> list[str]:
    return [c.chunk.text for c in app.search.search(SearchRequest("herons")).citations]


def rows(app: LocalDB, table: str) -> int:
    with app.catalog.connections.read() as db:
        return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


# --- Stores ---


@pytest.mark.req("L-DOM-10")
@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/", "a\\b", "\ud800", "caf\udce9"])
def test_a_bad_store_name_is_refused_and_nothing_is_made(app: LocalDB, name: str) -> None:
    with pytest.raises(InvalidRequest):
        app.stores.add(name)

    assert [store.name for store in app.stores.list()] == ["default"]


@pytest.mark.req("L-DOM-10")
@pytest.mark.parametrize(
    "name", ["notes", "...", " ", "a b", "日本", "-s", "'; --", "a\nb", "x" * 999]
)
def test_any_other_name_is_a_store_name(app: LocalDB, name: str) -> None:
    store = app.stores.add(name)

    assert app.stores.resolve(name) == store
    assert app.stores.resolve(store.id) == store


def test_a_taken_name_is_refused(app: LocalDB) -> None:
    with pytest.raises(InvalidRequest, match="'default' already exists"):
        app.stores.add("default")


@pytest.mark.req("L-MCP-14")
def test_an_id_wins_over_a_name(app: LocalDB) -> None:
    default = app.stores.resolve("default")
    app.stores.add(default.id)

    assert app.stores.resolve(default.id) == default


@pytest.mark.parametrize("name", ["nobody", "", "DEFAULT", "default ", "\ud800", "%"])
def test_an_unknown_store_is_not_found(app: LocalDB, name: str) -> None:
    with pytest.raises(StoreNotFound):
        app.stores.resolve(name)


def test_a_scope_shows_only_its_stores(app: LocalDB) -> None:
    inside, outside = app.stores.add("inside"), app.stores.add("outside")
    scoped = app.services([inside]).stores

    assert list(scoped.list()) == [inside]
    assert scoped.resolve("inside") == inside
    for name in ("outside", outside.id):
        with pytest.raises(StoreNotFound):
            scoped.resolve(name)


@pytest.mark.req("L-ING-56")
@pytest.mark.req("L-STO-06")
def test_removing_a_store_removes_everything_in_it_and_its_indexes(
    app: LocalDB, notes: Path
) -> None:
    other = app.stores.add("other")
    default = app.stores.resolve("default")
    for store in (default, other):
        app.sources.add(store, str(notes))
    app.index(app.stores.list())
    assert len(texts(app)) == 6
    folders = list((app.paths.data / "index").glob(f"*/{other.id}"))

    app.stores.remove(other)

    assert len(folders) == 2
    assert not any(folder.exists() for folder in folders)
    assert len(list((app.paths.data / "index").glob(f"*/{default.id}"))) == 2
    assert app.stores.list() == [app.stores.resolve("default")]
    assert len(texts(app)) == 3
    assert [rows(app, t) for t in ("sources", "resources", "chunks", "vectors")] == [1, 3, 3, 3]
    assert rows(app, "index_state") == 2
    with pytest.raises(StoreNotFound):
        app.stores.resolve("other")


def test_a_name_is_free_again_after_removing_its_store(app: LocalDB, notes: Path) -> None:
    app.sources.add(app.stores.resolve("default"), str(notes))
    app.index(app.stores.list())

    app.stores.remove(app.stores.resolve("default"))
    fresh = app.stores.add("default")
    app.sources.add(fresh, str(notes))
    app.index([fresh])

    assert len(texts(app)) == 3


@pytest.mark.req("L-ING-02")
def test_a_store_that_is_being_written_is_not_removed(app: LocalDB, notes: Path) -> None:
    store = app.stores.resolve("default")
    source = app.sources.add(store, str(notes))
    app.index([store])
    lock = StoreLock(app.paths.data, store.id)
    lock.acquire()

    with pytest.raises(IndexInProgress, match="'default'"):
        app.stores.remove(store)
    with pytest.raises(IndexInProgress, match="'default'"):
        app.sources.remove(source)
    lock.release()

    assert len(texts(app)) == 3
    app.stores.remove(store)


# --- Sources ---


@pytest.mark.req("L-ING-10")
@pytest.mark.parametrize("place", ["nowhere", "notes/nowhere.md", "", "a\x00b", "notes/0.md/x"])
def test_a_path_that_does_not_exist_is_refused(
    app: LocalDB, notes: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes.parent / "home")
    location = place and str(notes.parent / place)

    if not place:  # the folder one stands in
        location = "./nowhere"
    with pytest.raises(InvalidRequest):
        app.sources.add(app.stores.resolve("default"), location)

    assert app.sources.list(app.stores.resolve("default")) == []


@pytest.mark.req("L-ING-11")
def test_a_file_is_a_source_of_its_own(app: LocalDB, notes: Path) -> None:
    store = app.stores.resolve("default")

    source = app.sources.add(store, str(notes / "1.md"))
    app.index([store])

    assert (source.root, source.include) == (str(notes), ("1.md",))
    assert texts(app) == ["Paragraph 1 on herons."]


@pytest.mark.req("L-ING-11")
def test_a_file_without_a_folder_belongs_to_the_current_one(
    app: LocalDB, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes)
    store = app.stores.resolve("default")

    source = app.sources.add(store, "1.md")
    app.index([store])

    assert (source.root, source.typed, source.include) == (str(notes), ".", ("1.md",))
    assert texts(app) == ["Paragraph 1 on herons."]


@pytest.mark.parametrize("name", ["[a]*?{b}.md", " x .md", "caf\udce9.md", "new\nline.md"])
def test_a_file_with_an_odd_name_is_found_as_it_is(app: LocalDB, notes: Path, name: str) -> None:
    (notes / name).write_text("An odd paragraph on herons.\n")
    store = app.stores.resolve("default")

    app.sources.add(store, str(notes / name))
    app.index([store])

    assert texts(app) == ["An odd paragraph on herons."]


def test_an_empty_path_is_not_the_current_folder(app: LocalDB) -> None:
    store = app.stores.resolve("default")

    with pytest.raises(InvalidRequest, match="the path is empty"):
        app.sources.add(store, "")

    assert app.sources.list(store) == []


def test_a_folder_can_be_added_when_the_current_one_was_deleted(
    app: LocalDB, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    store = app.stores.resolve("default")
    app.sources.add(store, ".")
    gone.rmdir()

    assert app.sources.add(store, str(notes)).root == str(notes)


@pytest.mark.req("L-ING-14")
def test_a_relative_root_is_kept_as_typed_and_read_from_wherever_a_run_starts(
    app: LocalDB, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere" / "notes"
    elsewhere.mkdir(parents=True)
    (elsewhere / "other.md").write_text("Not these herons.\n")
    monkeypatch.chdir(notes.parent)
    store = app.stores.resolve("default")
    app.sources.add(store, "notes")
    monkeypatch.chdir(elsewhere.parent)

    (source,) = app.sources.list(store)

    assert (source.typed, source.root) == ("notes", str(notes))
    assert app.index([store])[0].stats.docs_indexed == 3
    assert app.sources.add(store, "notes").root == str(elsewhere)  # the same word, not the place


def test_a_root_with_dots_behind_a_link_is_the_folder_it_leads_to(
    app: LocalDB, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "beside").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "er")
    monkeypatch.chdir(tmp_path)
    store = app.stores.resolve("default")

    assert app.sources.add(store, "link/../beside").root == str(tmp_path / "deep" / "beside")
    assert app.sources.add(store, "./notes/.").root == str(notes)


def test_a_relative_path_means_nothing_when_the_current_folder_was_deleted(
    app: LocalDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    with pytest.raises(InvalidRequest):
        app.sources.add(app.stores.resolve("default"), ".")


def test_a_tilde_is_the_home_folder(
    app: LocalDB, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(notes.parent))

    assert app.sources.add(app.stores.resolve("default"), "~/notes").root == str(notes)


def test_a_folder_whose_name_is_no_unicode_is_refused_with_a_way_out(
    app: LocalDB, notes: Path
) -> None:
    folder = os.fsdecode(os.fsencode(notes) + b"/caf\xe9")
    os.mkdir(folder)
    Path(folder, "a.md").write_text("Herons within.\n")
    store = app.stores.resolve("default")

    with pytest.raises(InvalidRequest, match="the one above it"):
        app.sources.add(store, folder)
    app.sources.add(store, str(notes))
    app.index([store])

    assert "Herons within." in texts(app)


@pytest.mark.req("L-DOM-11")
def test_two_stores_may_share_a_root_and_one_store_may_not_have_it_twice(
    app: LocalDB, notes: Path
) -> None:
    store, other = app.stores.resolve("default"), app.stores.add("other")
    app.sources.add(store, str(notes))
    app.sources.add(other, str(notes))

    with pytest.raises(InvalidRequest, match="already has a source for"):
        app.sources.add(store, str(notes))


def test_an_unknown_preset_is_refused_and_the_others_are_named(app: LocalDB, notes: Path) -> None:
    with pytest.raises(InvalidRequest, match="code, messages, prose"):
        app.sources.add(app.stores.resolve("default"), str(notes), preset="poem")


@pytest.mark.req("L-ING-56")
def test_removing_a_source_removes_its_documents_everywhere(
    app: LocalDB, notes: Path, tmp_path: Path
) -> None:
    store = app.stores.resolve("default")
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "k.md").write_text("Kept herons.\n")
    source = app.sources.add(store, str(notes))
    app.sources.add(store, str(kept))
    app.index([store])

    app.sources.remove(source)

    assert texts(app) == ["Kept herons."]
    assert app.search.search(SearchRequest("herons")).notices == ()
    assert [(i.state, i.entries) for i in app.engines.list([store]).indexes] == [("ready", 1)] * 2
    assert sorted(path.name for path in notes.iterdir()) == ["0.md", "1.md", "2.md"]
    with pytest.raises(SourceNotFound):
        app.sources.remove(source)
    assert texts(app) == ["Kept herons."]


@pytest.mark.req("L-ING-11")
def test_files_of_one_folder_share_a_source(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "c.md"):
        (tmp_path / name).write_text(f"# {name}\n\nHerons.\n")
    with make_app(tmp_path / "home") as app:
        store = app.stores.resolve("default")

        first = app.sources.add(store, str(tmp_path / "a.md"))
        second = app.sources.add(store, str(tmp_path / "b.md"))
        app.index([store])

        assert second.id == first.id
        assert second.include == ("a.md", "b.md")
        assert app.stores.stats(store).document_count == 2
        with pytest.raises(InvalidRequest, match="remove it first"):
            app.sources.add(store, str(tmp_path))


# --- Sources of a kind that a plugin brings ---


def test_a_place_of_another_kind_is_kept_as_an_address_or_as_an_absolute_path(
    app: LocalDB, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes.parent)
    store = app.stores.resolve("default")

    address = app.sources.add(store, "imap://example.org/inbox", kind="mail")
    there = app.sources.add(store, "notes", kind="mail")
    missing = app.sources.add(store, str(notes / "later"), kind="mail")

    assert (address.root, address.url) == (None, "imap://example.org/inbox")
    assert (there.root, there.url, there.typed) == (str(notes), None, "notes")
    assert (missing.root, missing.typed) == (str(notes / "later"), str(notes / "later"))


@pytest.mark.parametrize("location", ["", "a\0b", "caf\udce9"])
def test_a_place_that_cannot_be_stored_is_refused(app: LocalDB, location: str) -> None:
    with pytest.raises(InvalidRequest, match="no place where a mail source can be"):
        app.sources.add(app.stores.resolve("default"), location, kind="mail")
