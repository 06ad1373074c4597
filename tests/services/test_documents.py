"""Reading what is indexed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from localdb_core.app import LocalDB
from localdb_core.domain.errors import InvalidRequest
from localdb_core.domain.ids import ChunkId
from localdb_core.domain.store import Store
from localdb_core.testing.app import make_app

TABLE = (
    "# Birds\n\nSome birds.\n\n| name | legs |\n| --- | --- |\n| heron | 2 |\n\n```py\nx = 1\n```\n"
)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalDB]:
    folder = tmp_path_factory.mktemp("documents")
    notes = folder / "notes"
    notes.mkdir()
    (notes / "table.md").write_text(TABLE)
    for n in range(12):
        (notes / f"{n:02}.txt").write_text(f"Line {n} on herons.\n")
    with make_app(folder / "home") as app:
        for store in (app.stores.resolve("default"), app.stores.add("other")):
            app.sources.add(store, str(notes))
        app.index(app.stores.list())
        yield app


@pytest.fixture
def store(app: LocalDB) -> Store:
    return app.stores.resolve("default")


@pytest.mark.req("L-SRCH-21")
def test_the_text_of_a_document_is_its_blocks_with_blank_lines_between(
    app: LocalDB, store: Store
) -> None:
    rows, _ = app.documents.page(store, source_id=None, offset=12, limit=1)

    text = app.documents.text(store, rows[0].id)

    assert text == "Birds\n\nSome birds.\n\n| name | legs |\n| --- | --- |\n| heron | 2 |\n\nx = 1"


@pytest.mark.req("L-SRCH-21")
def test_without_blocks_the_text_is_its_chunks_by_line(app: LocalDB, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("One.\n\n```\ntwo\n```\n")
    with make_app(tmp_path / "home") as fresh:
        store = fresh.stores.resolve("default")
        fresh.sources.add(store, str(tmp_path))
        fresh.index([store])
        with fresh.catalog.connections.write() as db:
            db.execute("DELETE FROM blocks")
        rows, _ = fresh.documents.page(store, source_id=None, offset=0, limit=1)

        assert fresh.documents.text(store, rows[0].id) == "One.\ntwo"


@pytest.mark.req("L-MCP-16")
def test_chunks_come_in_storage_order(app: LocalDB, store: Store) -> None:
    rows, _ = app.documents.page(store, source_id=None, offset=12, limit=1)

    chunks = app.documents.chunks(store, rows[0].id)

    assert [str(chunk.block_kind) for chunk in chunks] == ["text", "table", "code"]
    assert [chunk.block_seq for chunk in chunks] == [1, 2, 3]
    assert app.documents.chunk_count(store, rows[0].id) == 3


@pytest.mark.parametrize(
    ("offset", "limit", "expected"),
    [(0, 5, 5), (10, 5, 3), (13, 5, 0), (0, 0, 0), (2**70, 1, 0), (0, 10_000, 13)],
)
def test_pages_are_ordered_by_uri_and_never_fail(
    app: LocalDB, store: Store, offset: int, limit: int, expected: int
) -> None:
    rows, total = app.documents.page(store, source_id=None, offset=offset, limit=limit)

    assert (len(rows), total) == (expected, 13)
    assert [row.uri for row in rows] == sorted(row.uri for row in rows)


def test_a_page_may_be_of_one_source(app: LocalDB, store: Store) -> None:
    (source,) = app.sources.list(store)

    assert app.documents.page(store, source_id=source.id, offset=0, limit=1)[1] == 13
    assert app.documents.page(store, source_id="nobody", offset=0, limit=1) == ([], 0)


@pytest.mark.req("L-DOM-14")
def test_a_document_in_two_stores_is_found_in_both(app: LocalDB, store: Store) -> None:
    (row, *_), _ = app.documents.page(store, source_id=None, offset=0, limit=1)
    stores = app.stores.list()

    found = app.documents.find_all(row.id, stores)

    assert [(s.name, resource.id) for s, resource in found] == [
        ("default", row.id),
        ("other", row.id),
    ]
    assert app.documents.find(row.id, stores) == found[0]
    assert app.documents.find(row.id, []) is None


@pytest.mark.parametrize("resource_id", ["", "f" * 64, "\ud800", "%", "x\x00y", "é" * 9999])
def test_an_unknown_id_finds_nothing(app: LocalDB, store: Store, resource_id: str) -> None:
    assert app.documents.find(resource_id, [store]) is None


# --- Around a chunk ---


@pytest.fixture(scope="module")
def novel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalDB]:
    """One document: a heading, a block of many chunks, another block."""
    folder = tmp_path_factory.mktemp("novel")
    long = " ".join(f"Sentence {n} tells what the heron saw in the reeds." for n in range(80))
    (folder / "novel.md").write_text(f"# Reeds\n\n{long}\n\n# End\n\nThe heron flew.\n")
    with make_app(folder / "home") as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(folder / "novel.md"))
        app.index([store])
        yield app


@pytest.mark.req("L-SRCH-22")
def test_neighbours_of_every_chunk_are_those_of_the_whole_sequence(novel: LocalDB) -> None:
    store = novel.stores.resolve("default")
    (row,), _ = novel.documents.page(store, source_id=None, offset=0, limit=1)
    chunks = novel.documents.chunks(store, row.id)
    assert len(chunks) > 4

    for place, chunk in enumerate(chunks):
        assert novel.documents.position(store, row.id, chunk_id=chunk.id) == place
        for count in (0, 1, 3, 10**9):
            before, after = chunks[max(0, place - count) : place], chunks[place + 1 :][:count]
            assert novel.documents.neighbours(store, chunk, count) == (before, after)

            inside = novel.documents.neighbours(store, chunk, count, within_block=True)
            assert inside == (
                [c for c in before if c.block_seq == chunk.block_seq],
                [c for c in after if c.block_seq == chunk.block_seq],
            )


@pytest.mark.req("L-SRCH-22")
def test_blocks_come_as_a_whole_sequence_or_near_a_number(novel: LocalDB) -> None:
    store = novel.stores.resolve("default")
    (row,), _ = novel.documents.page(store, source_id=None, offset=0, limit=1)

    blocks = novel.documents.blocks(store, row.id)

    assert [block.text[:11] for block in blocks] == ["Reeds", "Sentence 0 ", "End", "The heron f"]
    assert novel.documents.blocks_near(store, row.id, 1, 1) == blocks[:3]
    assert novel.documents.blocks_near(store, row.id, 3, 0) == blocks[3:]
    assert novel.documents.blocks_near(store, row.id, 99, 1) == []
    assert novel.documents.blocks(store, "nobody") == []


@pytest.mark.req("L-SRCH-22")
def test_a_chunk_that_is_gone_has_no_neighbours_and_no_count_is_negative(novel: LocalDB) -> None:
    store = novel.stores.resolve("default")
    (row,), _ = novel.documents.page(store, source_id=None, offset=0, limit=1)
    chunk = replace(novel.documents.chunks(store, row.id)[0], id=ChunkId("gone"))

    assert novel.documents.neighbours(store, chunk, 5) == ([], [])
    with pytest.raises(InvalidRequest):
        novel.documents.neighbours(store, chunk, -1)
    with pytest.raises(InvalidRequest):
        novel.documents.blocks_near(store, row.id, 0, -1)


@pytest.mark.parametrize(("offset", "limit"), [(0, 2), (1, 1), (3, 5), (2**70, 1), (1, None)])
def test_a_page_of_chunks_is_a_slice_of_all(novel: LocalDB, offset: int, limit: int | None) -> None:
    store = novel.stores.resolve("default")
    (row,), _ = novel.documents.page(store, source_id=None, offset=0, limit=1)
    chunks = novel.documents.chunks(store, row.id)

    page = novel.documents.chunks(store, row.id, offset=offset, limit=limit)

    assert page == chunks[offset:][:limit]
