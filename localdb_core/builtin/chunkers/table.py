"""Tables: rows packed under a repeated header (spec §5.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from localdb_core.builtin.chunkers.code import cut_lines
from localdb_core.domain import Block, Piece, Span
from localdb_core.plugin import PluginContext, Sizing

_CELL_END = re.compile(r"(?<!\\)\|")


class TableChunker:
    """Every chunk is a table of its own: header, separator, some rows."""

    def __init__(self, context: PluginContext) -> None:
        del context

    def cut(self, blocks: Sequence[Block], sizing: Sizing) -> list[Piece]:
        """Pieces of tables, block by block; what is no table is cut like code."""
        return [piece for block in blocks for piece in _cut_block(block, sizing)]


@dataclass(frozen=True, slots=True)
class _Table:
    header: str
    rows: tuple[tuple[int, str], ...]  # character place in the block, line


def _cut_block(block: Block, sizing: Sizing) -> list[Piece]:
    if not block.text.strip():
        return []
    table = _read(block.text)
    if table is None:
        return cut_lines(block, sizing.code_limit)
    target = max(1, sizing.target)
    if not table.rows:
        return [_rebuilt(block, table.header)]
    sizes = sizing.measure([table.header, *("\n" + row for _, row in table.rows)])
    if sizes[0] >= target:
        # A header that fills a chunk cannot be repeated; nothing of it may get lost.
        return cut_lines(block, target)
    pieces: list[Piece] = []
    for group in _groups(table, sizes, target):
        pieces += _cut_group(block, table, group, sizing)
    return pieces


def _read(text: str) -> _Table | None:
    lines: list[tuple[int, str]] = []
    place = 0
    for line in text.split("\n"):
        if line.strip():
            lines.append((place, line))
        place += len(line) + 1
    if len(lines) < 2 or "|" not in lines[0][1] or not _is_separator(lines[1][1]):
        return None
    # The separator has to be the very next line, not just the next one with text.
    if lines[1][0] != lines[0][0] + len(lines[0][1]) + 1:
        return None
    return _Table(f"{lines[0][1]}\n{lines[1][1]}", tuple(lines[2:]))


def _is_separator(line: str) -> bool:
    inner = line.strip().removeprefix("|")
    cells = _CELL_END.split(inner)
    if cells and not cells[-1].strip():
        cells.pop()
    return bool(cells) and all(_is_rule(cell) for cell in cells)


def _is_rule(cell: str) -> bool:
    return "-" in cell and not cell.strip("- :\t")


def _groups(table: _Table, sizes: Sequence[int], target: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows that fit beside the header; a row too big alone is its own range."""
    header, rows = sizes[0], sizes[1:]
    start, total = 0, header
    for index, size in enumerate(rows):
        if index > start and total + size > target:
            yield start, index
            start, total = index, header
        total += size
    yield start, len(rows)


def _cut_group(block: Block, table: _Table, group: tuple[int, int], sizing: Sizing) -> list[Piece]:
    start, end = group
    text = "\n".join([table.header, *(row for _, row in table.rows[start:end])])
    target = max(1, sizing.target)
    if sizing.measure([text])[0] <= target:
        return [_rebuilt(block, text)]
    if end - start == 1:
        return _cut_row(block, table.rows[start], target)
    middle = (start + end) // 2
    return _cut_group(block, table, (start, middle), sizing) + _cut_group(
        block, table, (middle, end), sizing
    )


def _rebuilt(block: Block, text: str) -> Piece:
    return Piece(block_seq=block.seq, block_kind=block.kind, text=text)


def _cut_row(block: Block, row: tuple[int, str], target: int) -> list[Piece]:
    place, line = row
    before = len(block.text[:place].encode("utf-8", "surrogatepass"))
    return [
        replace(piece, span=Span(piece.span.start + before, piece.span.end + before))
        for piece in cut_lines(replace(block, text=line), target)
    ]
