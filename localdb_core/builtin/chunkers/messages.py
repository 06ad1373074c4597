"""Conversations and transcripts: overlapping windows of turns (spec §5.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from localdb_core.builtin.chunkers.prose import prose_ranges
from localdb_core.builtin.chunkers.spans import pieces_of
from localdb_core.domain import Block, BlockKind, Piece
from localdb_core.plugin import PluginContext, Sizing

_BETWEEN = "\n\n"


class MessageChunker:
    """Sees every turn of a document at once."""

    def __init__(self, context: PluginContext) -> None:
        del context

    def cut(self, blocks: Sequence[Block], sizing: Sizing) -> list[Piece]:
        """Windows of turns in order; a turn too long for a chunk is cut on its own."""
        turns = [_Turn(block, _prefix(block)) for block in blocks if block.text.strip()]
        sizes = sizing.measure([turn.text + _BETWEEN for turn in turns]) if turns else []
        pieces: list[Piece] = []
        start = 0
        while start < len(turns):
            window, end = _window(turns, sizes, start, sizing)
            pieces += window
            if end == len(turns):
                break
            full = end - start >= max(1, sizing.window_turns)
            # A shrunk window goes on after what it covered, so that no turn is skipped.
            stride = min(max(1, sizing.stride_turns), end - start)
            start = start + stride if full else end
        return pieces


@dataclass(frozen=True, slots=True)
class _Turn:
    block: Block
    prefix: str

    @property
    def text(self) -> str:
        """What the chunk says: who, when, what."""
        return self.prefix + self.block.text


def _prefix(block: Block) -> str:
    details = block.details
    if block.kind is BlockKind.SEGMENT:
        who, start = details.get("speaker"), details.get("start_ms")
        when = None if start is None else f"{start}-{details.get('end_ms', start)}"
    else:
        who, when = details.get("sender"), details.get("timestamp")
    parts = [f"[{who}]"] if who else []
    if when:
        parts.append(f"({when})")
    return " ".join(parts) + ": " if parts else ""


def _window(
    turns: Sequence[_Turn], sizes: Sequence[int], start: int, sizing: Sizing
) -> tuple[list[Piece], int]:
    """The pieces of the window that begins at ``start``, and where it ends."""
    target = max(1, sizing.target)
    last = min(len(turns), start + max(1, sizing.window_turns))
    end, total = start + 1, sizes[start]
    while end < last and total + sizes[end] <= target + 2:
        total += sizes[end]
        end += 1
    while True:
        text = _BETWEEN.join(turn.text for turn in turns[start:end])
        if sizing.measure([text])[0] <= target:
            return [_piece(turns[start:end], text)], end
        if end == start + 1:
            return _cut_turn(turns[start], sizing), end
        end -= 1


def _piece(turns: Sequence[_Turn], text: str) -> Piece:
    first = turns[0].block
    seqs = tuple(turn.block.seq for turn in turns)
    return Piece(block_seq=first.seq, block_kind=first.kind, text=text, window_block_seqs=seqs)


def _cut_turn(turn: _Turn, sizing: Sizing) -> list[Piece]:
    prefix_size = sizing.measure([turn.prefix])[0] if turn.prefix else 0
    room = max(1, sizing.target - prefix_size, sizing.target // 2)
    ranges = prose_ranges(turn.block.text, replace(sizing, target=room))
    seqs = (turn.block.seq,)
    return [
        replace(piece, text=turn.prefix + piece.text, window_block_seqs=seqs)
        for piece in pieces_of(turn.block, ranges)
    ]
