"""Tables: rows packed under a repeated header (spec §5.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from localdb_core.builtin.chunkers.code import cut_lines, fitting_lines, fitting_ranges, line_ranges
from localdb_core.builtin.chunkers.spans import Range, pieces_of
from localdb_core.domain import Block, Piece
from localdb_core.plugin import Measure, PluginContext, Sizing

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
        return fitting_lines(block, sizing)
    groups = _verified(table, list(_groups(table, sizes, target)), sizing.measure, target)
    ranges = _cut_rows(block.text, [table.rows[g.start] for g in groups if not g.fits], sizing)
    placed = [
        (table.rows[group.start][0], _rebuilt(block, _text(table, group)))
        for group in groups
        if group.fits
    ]
    placed += zip((start for start, _ in ranges), pieces_of(block, ranges), strict=True)
    return [piece for _, piece in sorted(placed, key=lambda pair: pair[0])]


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


def _groups(table: _Table, sizes: Sequence[int], target: int) -> Iterator[_Group]:
    """Rows that should fit beside the header; a row too big alone is its own group."""
    header, rows = sizes[0], sizes[1:]
    start, total = 0, header
    for index, size in enumerate(rows):
        if index > start and total + size > target:
            yield _Group(start, index)
            start, total = index, header
        total += size
    yield _Group(start, len(rows))


@dataclass(frozen=True, slots=True)
class _Group:
    """Rows from ``start`` to ``end`` under the header; ``fits`` once that was measured."""

    start: int
    end: int
    fits: bool = False


def _verified(table: _Table, groups: list[_Group], measure: Measure, target: int) -> list[_Group]:
    """The groups, those above the target halved; each round is one call of the measure."""
    doubtful = groups
    settled: list[_Group] = []
    while doubtful:
        sizes = measure([_text(table, group) for group in doubtful])
        halves: list[_Group] = []
        for group, size in zip(doubtful, sizes, strict=True):
            if size <= target or group.end - group.start == 1:
                settled.append(replace(group, fits=size <= target))
            else:
                middle = (group.start + group.end) // 2
                halves += [_Group(group.start, middle), _Group(middle, group.end)]
        doubtful = halves
    return sorted(settled, key=lambda group: group.start)


def _text(table: _Table, group: _Group) -> str:
    return "\n".join([table.header, *(row for _, row in table.rows[group.start : group.end])])


def _rebuilt(block: Block, text: str) -> Piece:
    return Piece(block_seq=block.seq, block_kind=block.kind, text=text)


def _cut_rows(text: str, rows: Sequence[tuple[int, str]], sizing: Sizing) -> list[Range]:
    """Rows too big for a chunk in pieces, like code (L-CHK-52)."""
    target = max(1, sizing.target)
    ranges = [
        (place + start, place + end)
        for place, line in rows
        for start, end in line_ranges(line, target)
    ]
    return fitting_ranges(text, ranges, sizing.measure, target)
