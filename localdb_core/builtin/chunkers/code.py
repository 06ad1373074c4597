"""Code: whole lines up to a limit (spec §5.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from localdb_core.builtin.chunkers.clusters import is_inside, last_cut
from localdb_core.builtin.chunkers.spans import Range, pieces_of
from localdb_core.domain import Block, Piece
from localdb_core.plugin import Measure, PluginContext, Sizing

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


def fitting_lines(block: Block, sizing: Sizing) -> list[Piece]:
    """Pieces of at most ``target`` characters that are no larger in the measure either."""
    target = max(1, sizing.target)
    ranges = list(line_ranges(block.text, target))
    return pieces_of(block, fitting_ranges(block.text, ranges, sizing.measure, target))


def fitting_ranges(
    text: str, ranges: Sequence[Range], measure: Measure, target: int
) -> list[Range]:
    """The ranges, those above the target halved; each round is one call of the measure.

    What is only white space is left out.
    """
    settled: list[Range] = []
    doubtful = [(start, end) for start, end in ranges if text[start:end].strip()]
    while doubtful:
        sizes = measure([text[start:end] for start, end in doubtful])
        halves: list[Range] = []
        for (start, end), size in zip(doubtful, sizes, strict=True):
            if size <= target or end - start == 1:
                settled.append((start, end))
            else:
                middle = last_cut(text, (start + end) // 2, start)
                halves += [(start, middle), (middle, end)]
        doubtful = [(start, end) for start, end in halves if text[start:end].strip()]
    return sorted(settled)


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
        place = last_cut(text, start + limit, start)
        # Back to just after the last white space, unless that leaves less than half a piece.
        for back in range(place, start + limit // 2, -1):
            if text[back - 1].isspace() and not is_inside(text, back, start):
                place = back
                break
        yield start, place
        start = place
    yield start, end
