"""What a search is asked for, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Self

from localdb_core.domain.citation import Citation

NO_RANKER: Final = "none"
"""The name that stands for no ranker at all."""


class SearchMode(StrEnum):
    """Which legs answer."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    DENSE = "dense"


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions every hit must meet; all None means no filter.

    ``fetched_after`` and ``fetched_before`` are RFC 3339 in UTC and inclusive.
    ``metadata`` holds Dublin Core names with the value each must have, one of its
    values for a repeated field; ASCII letters in any case.
    """

    mime: str | None = None
    uri_prefix: str | None = None
    fetched_after: str | None = None
    fetched_before: str | None = None
    source_id: str | None = None
    resource_id: str | None = None
    policy_version: str | None = None
    metadata: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return self != Filters()


@dataclass(frozen=True, slots=True)
class Fence:
    """An exact set of resources a search may see.

    fence = Fence.only(["9f…", "b2…"])
    app.search(SearchRequest("lease", fence=fence))

    A fenced search is answered by the catalog's own legs, before ranking, so
    scores and totals never depend on what the caller may not see. An empty
    fence finds nothing.
    """

    resources: frozenset[str]

    @classmethod
    def only(cls, resources: Iterable[str]) -> Self:
        """Only these resource ids."""
        return cls(frozenset(resources))


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search. ``stores`` holds ids or names; None means all stores.

    ``ranker`` names an installed ranker; None is the configured one, :data:`NO_RANKER` none.
    """

    query: str
    stores: tuple[str, ...] | None = None
    limit: int = 10
    mode: SearchMode = SearchMode.HYBRID
    filters: Filters = field(default_factory=Filters)
    fence: Fence | None = None
    ranker: str | None = None


@dataclass(frozen=True, slots=True)
class LegReport:
    """Which engine answered one leg of one store, and how many hits it gave."""

    store: str
    leg: str
    engine: str
    hits: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class RankerReport:
    """The ranker of a search and how many hits it saw; ``note`` says why it was left out."""

    name: str
    seen: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Rank (from 1) and score of each leg and the ranker for each hit, and who answered."""

    embedder: str | None
    legs: tuple[LegReport, ...]
    hits: tuple[dict[str, Any], ...]  # Any: JSON values, one object per citation
    ranker: RankerReport | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values for ``--explain --json``."""
        return {
            "embedder": self.embedder,
            "hits": list(self.hits),
            "legs": [
                {"engine": r.engine, "hits": r.hits, "leg": r.leg, "note": r.note, "store": r.store}
                for r in self.legs
            ],
            "ranker": None
            if self.ranker is None
            else {"name": self.ranker.name, "note": self.ranker.note, "seen": self.ranker.seen},
        }


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Citations best first; ``total_candidates`` counts what was fused before the cut."""

    citations: tuple[Citation, ...]
    total_candidates: int
    notices: tuple[str, ...] = ()
    explanation: Explanation | None = None

    def to_json(self) -> dict[str, Any]:
        """``{citations, total_candidates}``, as on every surface."""
        return {
            "citations": [citation.to_json() for citation in self.citations],
            "total_candidates": self.total_candidates,
        }
