"""Every chunk of a table is read by a Markdown reader as the same kind of table."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from localdb_core.builtin.chunkers.table import TableChunker
from localdb_core.domain import NO_SPAN, Block, BlockKind, Piece
from localdb_core.pipeline.structure import to_blocks
from localdb_core.pipeline.tables import table_block
from localdb_core.plugin import Document, PluginContext, Sizing

CONTEXT = PluginContext(plugin="core")


def cut(block: Block, target: int) -> list[Piece]:
    return TableChunker(CONTEXT).cut([block], Sizing(target, lambda texts: [*map(len, texts)]))


def read(text: str) -> Block:
    (table,) = to_blocks(Document(markdown=text))
    assert table.kind is BlockKind.TABLE
    return table


CELL = st.text(alphabet="ab1 |\\-:漢é", max_size=12).map(str.strip)
ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(CELL, min_size=1, max_size=width), min_size=2, max_size=12).map(
        lambda rows: [["h", *["k"] * (width - 1)], *rows]
    )
)


@pytest.mark.req("L-CHK-51", "L-PAR-23")
@settings(max_examples=100, deadline=None)
@given(rows=ROWS, target=st.integers(40, 200))
@example(rows=[["h"], ["a\\"], ["|"], ["\\|"], ["---"], [":-"]], target=40)
def test_each_chunk_reads_as_the_same_table_with_some_of_its_rows(
    rows: Sequence[Sequence[str]], target: int
) -> None:
    block = table_block(rows, page=None)

    pieces = cut(block, target)

    whole = [piece for piece in pieces if piece.span == NO_SPAN]
    tables = [read(piece.text) for piece in whole]
    assert all(table.details["headers"] == block.details["headers"] for table in tables)
    assert all(len(piece.text) <= target for piece in pieces)
    kept = [line for piece in whole for line in piece.text.split("\n")[2:]]
    split = {piece.span for piece in pieces} - {NO_SPAN}
    assert sum(table.details["rows"] for table in tables) == len(kept)
    assert len(kept) == block.details["rows"] or split


@pytest.mark.req("L-PAR-23")
def test_a_table_read_from_its_own_rendering_is_the_same() -> None:
    source = "| a|b \n|:-|-\n| x\\|y | `p\\|q` |\n| only\n\n"

    first = read(source)

    assert read(first.text) == first


@pytest.mark.req("L-CHK-50", "L-CHK-51")
def test_a_header_above_the_target_loses_no_word() -> None:
    block = table_block([["header " * 40], *([f"row {n}"] for n in range(30))], page=None)

    pieces = cut(block, 100)

    together = " ".join(piece.text for piece in pieces).split()
    assert together == block.text.split()
    assert max(len(piece.text) for piece in pieces) <= 100
