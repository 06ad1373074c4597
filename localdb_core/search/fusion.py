"""Reciprocal rank fusion over pooled legs, with deterministic ties."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from localdb_core.plugin import Scored

RRF_K: Final = 60
"""Cormack, Clarke and Büttcher 2009, "Reciprocal rank fusion outperforms Condorcet"."""

Key = tuple[str, str]
"""(store id, chunk id): the same content in two stores stays two results."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """One hit of a leg, with its rank in the pool of all stores (from 0)."""

    key: Key
    score: float
    rank: int


@dataclass(slots=True)
class Fused:
    """A candidate with its fused score and what each leg said about it."""

    key: Key
    score: float = 0.0
    legs: dict[str, Pooled] = field(default_factory=dict)


def pool(answers: Mapping[str, Sequence[Scored]]) -> list[Pooled]:
    """Join one leg's answers, by store id, into one ranking.

    Ordered by score (best first), store id, chunk id. A leg that ranks all-word
    matches before any-word ones (D-05) shows it by a score that rises down its list:
    what comes after a rise stays behind everything that comes before one.
    """
    flat = [
        (part, -hit.score, store, hit.chunk_id)
        for store, hits in answers.items()
        for part, hit in _parted(hits)
    ]
    return [
        Pooled((store, chunk), -negative, rank)
        for rank, (_, negative, store, chunk) in enumerate(sorted(flat))
    ]


def _parted(hits: Sequence[Scored]) -> Iterator[tuple[int, Scored]]:
    """Each hit with the number of rises before it."""
    part, last = 0, math.inf
    for hit in hits:
        part += hit.score > last
        last = hit.score
        yield part, hit


def fuse(
    legs: Mapping[str, Iterable[Pooled]], weights: Mapping[tuple[str, str], float] | None = None
) -> list[Fused]:
    """One pass of RRF: each leg adds ``weight / (k + rank + 1)`` with rank from 0.

    ``weights`` is by (leg, store id), 1 where it says nothing; a weight of 0 takes no
    part. Best first; ties by store id, then chunk id.
    """
    found: dict[Key, Fused] = {}
    for leg, hits in legs.items():
        for hit in hits:
            weight = 1.0 if weights is None else weights.get((leg, hit.key[0]), 1.0)
            if weight <= 0:
                continue
            entry = found.setdefault(hit.key, Fused(hit.key))
            entry.score += weight / (RRF_K + hit.rank + 1)
            entry.legs[leg] = hit
    return sorted(found.values(), key=lambda entry: (-entry.score, entry.key))
