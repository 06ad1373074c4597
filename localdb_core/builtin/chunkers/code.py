"""Code: whole lines up to a limit (spec §5.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from localdb_core.builtin.chunkers.spans import Range, pieces_of
from localdb_core.domain import Block, Piece
from localdb_core.plugin import PluginContext, Sizing

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class CodeChunker:
    """Cuts at line ends; white space stays at the end of a piece."""

    def __init__(self, context: PluginContext) -> None:
        del context

    def cut(self, blocks: Sequence[Block], sizing: Sizing) -> list[Piece]:
        """Pieces of ``sizing.code_limit`` characters at most (L-CHK-03, D-07)."""
        return [piece for block in blocks for piece in cut_lines(block, sizing.code_limit)]


def cut_lines(block: Block, limit: int) -> list[Piece]:
    """The block's text in pieces of whole lines; what is only white space is left out."""
    text = block.text
    kept = [(start, end) for start, end in line_ranges(text, limit) if text[start:end].strip()]
    return pieces_of(block, kept)


def line_ranges(text: str, limit: int) -> Iterator[Range]:
    """Character ranges that cover the text: lines are packed, long ones are cut."""
    limit = max(1, limit)
    start, size = 0, 0
    for line in _LINE.finditer(text):
        weight = len(line.group().encode("utf-8", "surrogatepass"))
        too_long = line.end() - line.start() > limit
        if size and (too_long or size + weight > limit):
            yield start, line.start()
            start, size = line.start(), 0
        if too_long:
            yield from _cut_line(text, line.start(), line.end(), limit)
            start = line.end()
        else:
            size += weight
    if size:
        yield start, len(text)


def _cut_line(text: str, start: int, end: int, limit: int) -> Iterator[Range]:
    while end - start > limit:
        place = start + limit
        # Back to just after the last white space, unless that leaves less than half a piece.
        for back in range(place, start + limit // 2, -1):
            if text[back - 1].isspace():
                place = back
                break
        yield start, place
        start = place
    yield start, end
