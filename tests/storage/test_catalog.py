"""The catalog file: how it is opened and shared, whose rows it gives, what damage it bears."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localdb_core.app import LocalDB
from localdb_core.domain import InternalError, Metadata, SearchMode, SearchRequest
from localdb_core.domain.ids import ChunkId, new_ulid
from localdb_core.domain.store import Source, Store
from localdb_core.plugin import EmbedderCard
from localdb_core.storage import connections
from localdb_core.storage.catalog import Catalog
from localdb_core.storage.connections import MAX_READERS, Connections
from localdb_core.storage.encoding import pack, unpack
from localdb_core.storage.legs import nearest
from localdb_core.storage.resources import PreparedDocument
from localdb_core.storage.session import WriteSession
from localdb_core.testing.app import MEMORY, make_app
from localdb_core.testing.memory import FakeEmbedder

OWN: dict[str, Any] = {**MEMORY, "index": {"dense": "exact", "sparse": "fts5"}}


@pytest.fixture
def app(tmp_path: Path) -> Iterator[LocalDB]:
    with make_app(tmp_path / "home", config=OWN) as app:
        yield app


@pytest.fixture
def indexed(app: LocalDB, tmp_path: Path) -> Store:
    """Store ``default`` with three notes on herons."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for n in range(3):
        (notes / f"{n}.md").write_text(f"# Note {n}\n\nParagraph {n} on herons.\n")
    store = app.stores.resolve("default")
    app.sources.add(store, str(notes))
    app.index([store])
    return store


def edit(app: LocalDB, statement: str, *values: object) -> None:
    """Change the file behind the program's back."""
    with sqlite3.connect(app.catalog.path) as db:
        db.execute(statement, values)
    db.close()


# --- Opening and sharing the file ---


@pytest.mark.req("L-STO-01")
def test_a_connection_sets_its_timeout_before_it_asks_for_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: dict[str, list[str]] = {"rwc": [], "ro": []}
    connect = sqlite3.connect

    def traced(place: str, **options: Any) -> sqlite3.Connection:
        connection = connect(place, **options)
        connection.set_trace_callback(said[place.rpartition("mode=")[2]].append)
        return connection

    monkeypatch.setattr(connections.sqlite3, "connect", traced)
    opened = Connections(tmp_path / "file.db")
    with opened.read() as db:
        assert db.execute("PRAGMA busy_timeout").fetchone()[0] == 5000
    opened.close()

    assert said["rwc"][:3] == [
        "PRAGMA busy_timeout = 5000",
        "PRAGMA journal_mode = WAL",
        "PRAGMA foreign_keys = ON",
    ]
    assert said["ro"][0] == "PRAGMA busy_timeout = 5000"


@pytest.mark.req("L-STO-01")
def test_opening_a_file_that_is_locked_waits_for_it(tmp_path: Path) -> None:
    path = tmp_path / "file.db"
    Connections(path).close()
    holder = sqlite3.connect(path, check_same_thread=False)
    holder.execute("PRAGMA journal_mode = DELETE")
    holder.execute("BEGIN EXCLUSIVE")
    opened: list[Connections] = []
    opening = threading.Thread(target=lambda: opened.append(Connections(path)))

    opening.start()
    opening.join(0.3)
    waited = not opened and opening.is_alive()
    holder.execute("COMMIT")
    opening.join(30)
    holder.close()

    assert waited
    assert len(opened) == 1
    opened[0].close()


@pytest.mark.req("L-STO-02")
def test_readers_see_the_last_commit_while_a_write_is_under_way(app: LocalDB) -> None:
    seen: list[list[str]] = []

    def read() -> None:
        seen.append([store.name for store in app.stores.list()])

    with app.catalog.connections.write() as db:
        values = (new_ulid(), "half done", "2026-01-01T00:00:00Z")
        db.execute("INSERT INTO stores (id, name, created_at) VALUES (?, ?, ?)", values)
        readers = [threading.Thread(target=read) for _ in range(MAX_READERS + 2)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(30)
        during = list(seen)
    read()

    assert during == [["default"]] * (MAX_READERS + 2)
    assert seen[-1] == ["default", "half done"]
    assert 2 <= MAX_READERS <= 4


@pytest.mark.req("L-STO-02")
def test_writers_of_one_process_take_turns(app: LocalDB) -> None:
    order: list[str] = []
    inside = threading.Event()

    def second() -> None:
        inside.wait(30)
        with app.catalog.connections.write():
            order.append("second")

    other = threading.Thread(target=second)
    other.start()
    with app.catalog.connections.write() as db:
        assert db.in_transaction
        inside.set()
        other.join(0.1)
        with app.catalog.connections.write() as nested:
            assert nested is db
        order.append("first")
    other.join(30)

    assert order == ["first", "second"]


@pytest.mark.req("L-STO-02")
def test_nothing_can_be_written_through_a_reader(app: LocalDB) -> None:
    with (
        pytest.raises(Exception, match=r"readonly|cannot be written"),
        app.catalog.connections.read() as db,
    ):
        db.execute("DELETE FROM stores")

    assert len(app.stores.list()) == 1


# --- Stores do not mix ---


def prepared(app: LocalDB, store: Store) -> PreparedDocument:
    """A document of the store as the pipeline would commit it once more."""
    (resource, *_), _ = app.documents.page(store, source_id=None, offset=0, limit=1)
    table = app.catalog.passages
    chunks = tuple(table.chunks(store.id, resource.id))
    blocks = tuple(table.blocks(store.id, resource.id))
    return PreparedDocument(resource, blocks, chunks, trails=tuple("" for _ in chunks))


def dumped(app: LocalDB) -> list[str]:
    with closing(sqlite3.connect(app.catalog.path)) as db:
        return list(db.iterdump())


@pytest.mark.req("L-STO-05")
def test_a_document_of_another_store_is_refused_and_nothing_changes(
    app: LocalDB, indexed: Store
) -> None:
    other = app.stores.add("other")
    document = prepared(app, indexed)
    before = dumped(app)

    with (
        WriteSession(app._engines, other) as session,
        pytest.raises(InternalError, match=f"for store {indexed.id}, not for {other.id}"),
    ):
        session.commit([document])

    assert dumped(app) == before


@pytest.mark.req("L-STO-05")
def test_a_source_of_another_store_is_not_indexed_into_this_one(
    app: LocalDB, indexed: Store, caplog: pytest.LogCaptureFixture
) -> None:
    other = app.stores.add("other")
    (source,) = app.sources.list(indexed)

    (report,) = app.index([other], source=source)

    assert (report.stats.docs_seen, report.stats.error_count) == (0, 1)
    assert "belongs to another store" in caplog.text
    assert app.catalog.stores.stats(other.id).document_count == 0


@pytest.mark.req("L-STO-05")
def test_no_row_of_another_store_is_returned_even_by_its_id(app: LocalDB, indexed: Store) -> None:
    other = app.stores.add("other")
    document = prepared(app, indexed)
    resource, chunk = document.resource.id, document.chunks[0].id
    table, vectors = app.catalog.resources, app.catalog.vectors
    passages = app.catalog.passages
    embedder = app.catalog.stores.embedder(indexed.id)
    assert embedder is not None
    assert table.hits(indexed.id, [chunk])

    for store in (other.id, "", "%", new_ulid()):
        assert table.get(store, resource) is None
        assert table.page(store, source_id=None, offset=0, limit=9) == ([], 0)
        assert table.page(store, source_id=document.resource.source_id, offset=0, limit=9)[1] == 0
        assert passages.blocks(store, resource) == passages.chunks(store, resource) == []
        assert passages.places(store, resource) == []
        assert passages.count(store, resource) == 0
        assert table.hits(store, [chunk]) == {}
        assert table.existing(store, [chunk]) == set()
        assert table.known(store) == {}
        assert vectors.matrix(store, embedder.id)[0] == []
        assert list(vectors.entries(store, embedder.id)) == []
        assert vectors.chunk_ids(store, None) == set()
        assert app.catalog.keyword.query(store, "herons", limit=9) == []


# --- Rows that somebody damaged ---

UNREADABLE = ["", "{", "null", "[]", '"text"', "7", '{"kind": "opera"}', "[" * 100_000, "NaN"]


@pytest.mark.req("L-STO-07")
@pytest.mark.parametrize("stored", UNREADABLE, ids=lambda text: text[:12] or "empty")
def test_unreadable_metadata_is_read_as_that_of_an_empty_document(
    app: LocalDB, indexed: Store, stored: str
) -> None:
    edit(app, "UPDATE resources SET metadata_json = ?", stored)

    rows, total = app.documents.page(indexed, source_id=None, offset=0, limit=9)
    cited = app.search.search(SearchRequest("herons")).citations

    assert total == len(rows) == len(cited) == 3
    assert [row.metadata for row in rows] == [Metadata()] * 3
    assert cited[0].to_json()["metadata"] == Metadata().to_json()


@pytest.mark.req("L-STO-07")
def test_metadata_of_the_wrong_types_keeps_what_is_right(app: LocalDB, indexed: Store) -> None:
    odd = {"kind": "document", "title": 7, "creator": ["Ann", 3], "date": "2026", "page_count": 4}
    edit(app, "UPDATE resources SET metadata_json = ?", json.dumps(odd))

    (row, *_), _ = app.documents.page(indexed, source_id=None, offset=0, limit=1)

    assert row.metadata == Metadata(creator=("Ann",), date="2026", extra={"page_count": 4})


@pytest.mark.parametrize("stored", ["", "{", "[]", "[" * 100_000])
def test_blocks_and_chunks_bear_damaged_details(app: LocalDB, indexed: Store, stored: str) -> None:
    edit(app, "UPDATE blocks SET metadata_json = ?, location_json = ?", stored, stored)
    edit(app, "UPDATE chunks SET location_json = ?, heading_path = ?", stored, stored)

    hit = app.search.search(SearchRequest("herons")).citations[0]

    assert hit.to_json()["location"] == {"span": {"start": 0, "end": 0}}
    assert hit.headings == ()
    assert app.documents.text(indexed, hit.resource.id).startswith("Note")


@pytest.mark.req("L-DOM-12")
@pytest.mark.parametrize("stored", ["{", "[]", "max_entries: 3", "[" * 100_000])
def test_a_feed_with_unreadable_settings_has_the_defaults(app: LocalDB, stored: str) -> None:
    store = app.stores.resolve("default")
    feed = Source(new_ulid(), store.id, "feed", url="https://example.org/feed")  # type: ignore[arg-type]
    app.catalog.sources.add(replace(feed, settings={"max_entries": 3}))
    edit(app, "UPDATE sources SET config_json = ?", stored)

    (read,) = app.sources.list(store)

    assert (read.id, read.settings) == (feed.id, {})


@pytest.mark.req("L-DOM-13", "L-BYD-10")
def test_a_source_of_an_unknown_kind_is_passed_over_with_a_warning(
    app: LocalDB, indexed: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (known,) = app.sources.list(indexed)
    more = tmp_path / "more"
    more.mkdir()
    (more / "stork.md").write_text("A stork.\n")
    edit(app, "UPDATE sources SET kind = 'gramophone', root = ? WHERE id = ?", "/roll", known.id)
    edit(app, "UPDATE resources SET ingestor_kind = 'gramophone'")
    app.sources.add(indexed, str(more))

    (report,) = app.index([indexed], delete=True)

    assert report.error is None
    assert (report.stats.docs_indexed, report.stats.docs_deleted) == (1, 0)
    assert [r.getMessage() for r in caplog.records if "gramophone" in r.getMessage()] != []
    assert len(app.search.search(SearchRequest("herons")).citations) == 4
    assert {source.kind for source in app.sources.list(indexed)} == {"gramophone", "path"}
    assert app.documents.page(indexed, source_id=known.id, offset=0, limit=9)[1] == 3


@pytest.mark.req("L-DOM-32")
def test_the_title_of_a_resource_fills_an_empty_title_in_its_metadata(
    app: LocalDB, indexed: Store
) -> None:
    document = prepared(app, indexed)
    untitled = replace(document.resource, title="From the feed", metadata=Metadata(date="2026"))

    with WriteSession(app._engines, indexed) as session:
        session.commit([replace(document, resource=untitled)])

    stored = app.catalog.resources.get(indexed.id, untitled.id)
    assert stored is not None
    assert stored.metadata == Metadata(title="From the feed", date="2026")
    assert stored.title == "From the feed"


# --- Vectors ---


@pytest.mark.req("L-STO-08")
def test_bits_are_packed_with_the_first_dimension_in_the_highest_bit() -> None:
    vector = np.array([0.5, -0.5, 0.0, -1, -1, -1, -1, 2, 1, -3], dtype=np.float32)

    assert pack(vector, "binary") == bytes([0b10100001, 0b10000000])
    assert len(pack(np.ones(1024, dtype=np.float32), "binary")) == 128
    assert pack(vector, "float32") == vector.astype("<f4").tobytes()
    assert len(pack(vector, "float32")) == 4 * vector.size


NUMBERS = st.floats(-1, 1, width=32)


@pytest.mark.req("L-STO-08")
@given(st.integers(1, 40).flatmap(lambda n: st.lists(st.lists(NUMBERS, min_size=n, max_size=n))))
def test_what_is_packed_comes_back_in_either_encoding(rows: list[list[float]]) -> None:
    dimension = len(rows[0]) if rows else 3
    vectors = np.array(rows, dtype=np.float32).reshape(len(rows), dimension)

    def again(encoding: str) -> Any:
        blobs = [pack(vector, encoding) for vector in vectors]
        return unpack(blobs, dimension=dimension, encoding=encoding)

    assert np.array_equal(again("float32"), vectors)
    assert np.array_equal(again("binary") >= 0, vectors >= 0)
    assert again("binary").shape == vectors.shape
    assert np.allclose(np.linalg.norm(again("binary"), axis=1), 1)


@pytest.mark.req("L-STO-08", "L-SRCH-12")
@pytest.mark.parametrize("dense", ["exact", "memory-dense"])
def test_a_store_of_a_binary_embedder_holds_bits_and_scores_by_their_distance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dense: str
) -> None:
    def card(self: FakeEmbedder) -> EmbedderCard:
        return replace(self._card, encoding="binary", fingerprint="fake:64:bits")

    monkeypatch.setattr(FakeEmbedder, "card", property(card))
    notes = tmp_path / "notes"
    notes.mkdir()
    texts = ["herons fish", "storks stand still", "reeds grow by the water"]
    for n, text in enumerate(texts):
        (notes / f"{n}.txt").write_text(text)
    config = {**OWN, "index": {"dense": dense, "sparse": "fts5"}}
    with make_app(tmp_path / "home", config=config) as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(notes))
        app.index([store])
        request = SearchRequest("herons stand", mode=SearchMode.DENSE)
        result = app.search.search(request)
        lengths = {row[0] for row in stored_vectors(app)}
        for file in notes.iterdir():  # the same texts again: their vectors come from the catalog
            file.write_text(file.read_text() + "\n\nmore")
        app.index([store])
        app.engines.rebuild("dense", [store], on_progress=lambda done, total: None)
        app.search.search(request)

    asked = FakeEmbedder().embed(["herons stand"], "query")[0] >= 0
    expected = {
        text: 1 - np.count_nonzero(asked != (FakeEmbedder().embed([text], "passage")[0] >= 0)) / 64
        for text in texts
    }
    assert lengths == {8}
    assert result.notices == ()
    assert {c.chunk.text: c.score.dense for c in result.citations} == pytest.approx(expected)


def stored_vectors(app: LocalDB) -> list[tuple[int]]:
    with app.catalog.connections.read() as db:
        return [tuple(row) for row in db.execute("SELECT length(vector) FROM vectors")]


@pytest.mark.req("L-STO-10")
@given(
    st.lists(st.sampled_from([(1, 0), (0, 1), (-1, 0), (0.6, 0.8)]), max_size=30),
    st.integers(1, 12),
)
def test_the_nearest_are_the_same_every_time_and_ties_go_by_id(
    rows: list[tuple[float, float]], limit: int
) -> None:
    ids = [f"{n * 7 % 31:02}" for n in range(len(rows))]
    matrix = np.array(rows, dtype=np.float32).reshape(len(rows), 2)
    asked = np.array([1, 0], dtype=np.float32)

    found = nearest(ids, matrix, asked, limit)
    backwards = nearest(ids[::-1], matrix[::-1], asked, limit)

    naive = sorted(zip(ids, rows, strict=True), key=lambda pair: (-pair[1][0], pair[0]))[:limit]
    assert [hit.chunk_id for hit in found] == [ChunkId(key) for key, _ in naive]
    assert [hit.score for hit in found] == pytest.approx([(1 + row[0]) / 2 for _, row in naive])
    assert found == backwards


@pytest.mark.req("L-STO-10")
def test_an_unchanged_index_answers_the_same_after_it_was_opened_again(
    app: LocalDB, indexed: Store
) -> None:
    embedder = app.catalog.stores.embedder(indexed.id)
    assert embedder is not None
    vector = FakeEmbedder().embed(["paragraph on herons"], "query")[0]

    def ask(catalog: Catalog) -> list[Any]:
        return catalog.exact.query(
            indexed.id, vector, embedder_id=embedder.id, limit=3, generation=1
        )

    again = Catalog(app.paths.data)
    answers = [ask(app.catalog), ask(app.catalog), ask(again)]
    again.close()

    assert len(answers[0]) == 3
    assert answers[0] == answers[1] == answers[2]
