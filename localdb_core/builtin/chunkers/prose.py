"""Prose: as much as fits, cut where the text itself pauses (spec §5.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from localdb_core.builtin.chunkers.clusters import last_cut, next_cut
from localdb_core.builtin.chunkers.code import fitting_lines
from localdb_core.builtin.chunkers.sentences import (
    Part,
    characters,
    is_structureless,
    sentences,
    words,
)
from localdb_core.builtin.chunkers.spans import Range, pieces_of, trimmed
from localdb_core.domain import Block, Piece
from localdb_core.plugin import PluginContext, Sizing

LONGEST_RUN = 8
LONGEST_LINE = 64
"""Times the target, in characters; what is beyond these and no prose is cut like code.

L-CHK-30 sends every longer line to the code chunker; ours does so only where the line is
not made of sentences, because a whole chapter may stand on one line.
"""

FULL_ENOUGH = 0.75
"""From this share of the target on, a better boundary is worth more than more text."""

_MOST_ROUNDS = 16


class ProseChunker:
    """Packs sentences up to the target; chunks are exact, trimmed and never above it."""

    def __init__(self, context: PluginContext) -> None:
        del context

    def cut(self, blocks: Sequence[Block], sizing: Sizing) -> list[Piece]:
        """Pieces of running text, block by block."""
        return [piece for block in blocks for piece in _cut_block(block, sizing)]


def _cut_block(block: Block, sizing: Sizing) -> list[Piece]:
    text = block.text
    target = max(1, sizing.target)
    if is_structureless(text, longest_run=LONGEST_RUN * target, longest_line=LONGEST_LINE * target):
        return fitting_lines(block, sizing)
    return pieces_of(block, prose_ranges(text, sizing))


def prose_ranges(text: str, sizing: Sizing) -> list[Range]:
    """Character ranges of the chunks of a text, in order."""
    whole = trimmed(text, 0, len(text))
    if whole[0] >= whole[1]:
        return []
    target = max(1, sizing.target)
    # A text that may fit is asked as a whole first: most blocks are one chunk.
    if len(text) <= LONGEST_RUN * target and sizing.measure([text[slice(*whole)]])[0] <= target:
        return [whole]
    atoms = _atoms(text, sizing, target)
    overlap = sizing.overlap if 0 < sizing.overlap < FULL_ENOUGH * target else 0
    return _verified(text, _pack(atoms, target, overlap), sizing, target)


@dataclass(frozen=True, slots=True)
class _Atom:
    """A part that is not cut any more, and its size."""

    part: Part
    size: int


def _atoms(text: str, sizing: Sizing, target: int) -> list[_Atom]:
    """Sentences; those above the target in words, and such words in characters."""
    atoms = _measured(text, sentences(text), sizing)
    atoms = _refined(text, atoms, sizing, target, lambda atom: words(text, atom.part))
    for _ in range(_MOST_ROUNDS):
        before = len(atoms)
        atoms = _refined(text, atoms, sizing, target, lambda atom: _runs(text, atom, target))
        if len(atoms) == before:
            break
    return atoms


def _runs(text: str, atom: _Atom, target: int) -> Iterable[Part]:
    start, end, _ = atom.part
    # Quarters of a target, so that packing them fills a chunk well.
    length = max(1, (end - start) * target // max(1, atom.size) // 4)
    return characters(text, atom.part, length)


def _refined(
    text: str,
    atoms: Sequence[_Atom],
    sizing: Sizing,
    target: int,
    finer: Callable[[_Atom], Iterable[Part]],
) -> list[_Atom]:
    """The atoms, those above the target replaced; all new ones measured in one call."""
    split = [list(finer(atom)) if atom.size > target else [] for atom in atoms]
    fresh = iter(_measured(text, [part for parts in split for part in parts], sizing))
    result: list[_Atom] = []
    for atom, parts in zip(atoms, split, strict=True):
        result += [next(fresh) for _ in parts] if parts else [atom]
    return result


def _measured(text: str, parts: Iterable[Part], sizing: Sizing) -> list[_Atom]:
    listed = list(parts)
    if not listed:
        return []
    sizes = sizing.measure([text[start:end] for start, end, _ in listed])
    return [_Atom(part, size) for part, size in zip(listed, sizes, strict=True)]


_Run = list[_Atom]


def _pack(atoms: Sequence[_Atom], target: int, overlap: int) -> list[_Run]:
    runs: list[_Run] = []
    first, done = 0, 0
    while done < len(atoms):
        end = _end_of_run(atoms, first, done, target)
        runs.append(list(atoms[first:end]))
        done = first = end
        shared = 0
        while overlap and end < len(atoms) and first - 1 > end - len(runs[-1]):
            shared += atoms[first - 1].size
            if shared > overlap or shared + atoms[end].size > target:
                break
            first -= 1
    return runs


def _end_of_run(atoms: Sequence[_Atom], first: int, done: int, target: int) -> int:
    """Where a chunk that begins at ``first`` ends; it takes at least the atom at ``done``."""
    total = sum(atom.size for atom in atoms[first : done + 1])
    end, best = done + 1, done + 1
    best_boundary = -1
    while True:
        boundary = atoms[end - 1].part[2]
        if total >= FULL_ENOUGH * target and boundary >= best_boundary:
            best, best_boundary = end, boundary
        if end == len(atoms) or total + atoms[end].size > target:
            break
        total += atoms[end].size
        end += 1
    return end if end == len(atoms) or best_boundary < 0 else best


def _verified(text: str, runs: list[_Run], sizing: Sizing, target: int) -> list[Range]:
    """The runs as ranges; sizes need not add up, so each is measured and halved if above."""
    fitting: list[Range] = []
    doubtful = runs
    while doubtful:
        shown = [run for run in doubtful if _has_text(text, run)]
        ranges = [trimmed(text, run[0].part[0], run[-1].part[1]) for run in shown]
        sizes = sizing.measure([text[start:end] for start, end in ranges]) if ranges else []
        doubtful = []
        for run, span, size in zip(shown, ranges, sizes, strict=True):
            if size <= target or span[1] - span[0] == 1:
                fitting.append(span)
            else:
                doubtful += _halves(text, run)
    return sorted(fitting)


def _has_text(text: str, run: _Run) -> bool:
    return not text[run[0].part[0] : run[-1].part[1]].isspace()


def _halves(text: str, run: _Run) -> list[_Run]:
    if len(run) == 1:
        start, end, last = run[0].part
        middle = (start + end) // 2
        place = next_cut(text, middle, start, end)
        if place == end:
            # May tear a cluster that is above the target by itself: the bound counts more.
            place = last_cut(text, middle, start)
        return [[_Atom((start, place, last), 0)], [_Atom((place, end, last), 0)]]
    middle = len(run) // 2
    around = range(max(1, middle - len(run) // 4), min(len(run) - 1, middle + len(run) // 4) + 1)
    place = max(around, key=lambda at: (run[at - 1].part[2], -abs(at - middle)))
    return [run[:place], run[place:]]
