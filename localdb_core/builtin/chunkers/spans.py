"""Pieces out of character ranges: text, byte spans, trimmed ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from localdb_core.domain import Block, Piece, Span

Range = tuple[int, int]


def trimmed(text: str, start: int, end: int) -> Range:
    """The range without white space at its ends; empty when there is nothing else."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


def pieces_of(block: Block, ranges: Sequence[Range]) -> list[Piece]:
    """One piece for each character range of the block's text."""
    offsets = _byte_offsets(block.text, (place for pair in ranges for place in pair))
    return [
        Piece(
            block_seq=block.seq,
            block_kind=block.kind,
            text=block.text[start:end],
            span=Span(offsets[start], offsets[end]),
        )
        for start, end in ranges
    ]


def _byte_offsets(text: str, places: Iterable[int]) -> dict[int, int]:
    """UTF-8 offsets of character places, in one pass over the text."""
    ordered = sorted(set(places))
    if text.isascii():
        return {place: place for place in ordered}
    offsets: dict[int, int] = {}
    before, total = 0, 0
    for place in ordered:
        total += len(text[before:place].encode("utf-8", "surrogatepass"))
        offsets[place] = total
        before = place
    return offsets
