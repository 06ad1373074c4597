"""Conversations and transcripts: overlapping windows of turns (spec §5.7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
        if not turns:
            return []
        gap, *sizes = sizing.measure([_BETWEEN, *(turn.text for turn in turns)])
        windows = list(_windows([size + gap for size in sizes], sizing, gap))
        pieces: list[Piece] = []
        for window in _verified(turns, windows, sizing):
            chosen = turns[window.start : window.stop]
            if len(chosen) == 1 and sizes[window.start] > sizing.target:
                pieces += _cut_turn(chosen[0], sizing)
            else:
                pieces.append(_piece(chosen))
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


def _windows(sizes: Sequence[int], sizing: Sizing, gap: int) -> Iterator[range]:
    """Which turns stand together; ``sizes`` have the ``gap`` after each turn in them."""
    room = max(1, sizing.target) + gap
    most = max(1, sizing.window_turns)
    start = 0
    while True:
        end, total = start + 1, sizes[start]
        while end < min(len(sizes), start + most) and total + sizes[end] <= room:
            total += sizes[end]
            end += 1
        yield range(start, end)
        if end == len(sizes):
            return
        # A shrunk window goes on after what it covered, so that no turn is skipped.
        stride = min(max(1, sizing.stride_turns), end - start)
        start = start + stride if end - start == most else end


def _verified(turns: Sequence[_Turn], windows: list[range], sizing: Sizing) -> list[range]:
    """The windows, those above the target halved; each round is one call of the measure."""
    settled: list[range] = []
    doubtful = windows
    while doubtful:
        sizes = sizing.measure([_joined(turns[one.start : one.stop]) for one in doubtful])
        halves: list[range] = []
        for window, size in zip(doubtful, sizes, strict=True):
            if size <= sizing.target or len(window) == 1:
                settled.append(window)
            else:
                middle = len(window) // 2
                halves += [window[:middle], window[middle:]]
        doubtful = halves
    return sorted(settled, key=lambda window: (window.start, window.stop))


def _joined(turns: Sequence[_Turn]) -> str:
    return _BETWEEN.join(turn.text for turn in turns)


def _piece(turns: Sequence[_Turn]) -> Piece:
    first = turns[0].block
    return Piece(
        block_seq=first.seq,
        block_kind=first.kind,
        text=_joined(turns),
        window_block_seqs=tuple(turn.block.seq for turn in turns),
    )


def _cut_turn(turn: _Turn, sizing: Sizing) -> list[Piece]:
    prefix, room = turn.prefix, max(1, sizing.target)
    size = sizing.measure([prefix])[0] if prefix else 0
    if size * 2 > room:
        prefix, size = "", 0  # a name that leaves no room for what was said
    room -= size
    ranges = prose_ranges(turn.block.text, replace(sizing, target=room))
    seqs = (turn.block.seq,)
    return [
        replace(piece, text=prefix + piece.text, window_block_seqs=seqs)
        for piece in pieces_of(turn.block, ranges)
    ]
