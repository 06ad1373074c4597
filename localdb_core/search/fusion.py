"""Reciprocal rank fusion over pooled legs, with deterministic ties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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


def pool(answers: Mapping[str, Sequence[Scored]], *, keep_order: bool = False) -> list[Pooled]:
    """Join one leg's answers, by store id, into one ranking.

    Ordered by score (best first), store id, chunk id. ``keep_order`` trusts the
    order within each store (a leg that ranks all-word matches before any-word ones)
    and merges the stores by position first, then as above.
    """
    flat = [
        (position if keep_order else 0, -hit.score, store, hit.chunk_id)
        for store, hits in answers.items()
        for position, hit in enumerate(hits)
    ]
    return [
        Pooled((store, chunk), -negative, rank)
        for rank, (_, negative, store, chunk) in enumerate(sorted(flat))
    ]


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
