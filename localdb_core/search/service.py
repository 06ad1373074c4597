"""The only search entry: legs → fuse → rank → cut → cite."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from localdb_core.domain.citation import Citation, Score
from localdb_core.domain.errors import InvalidRequest, LocaldbError, ProviderUnavailable
from localdb_core.domain.query import (
    Explanation,
    LegReport,
    RankerReport,
    SearchMode,
    SearchRequest,
    SearchResult,
)
from localdb_core.domain.store import Store
from localdb_core.host.vectors import checked
from localdb_core.plugin import Embedder, Scored
from localdb_core.search.embedders import Embedders
from localdb_core.search.fusion import Fused, fuse, pool
from localdb_core.search.languages import dense_weight
from localdb_core.search.legs import Legs, Question
from localdb_core.search.ranking import Hit, Rankers
from localdb_core.storage.catalog import Catalog
from localdb_core.storage.engines import LegName
from localdb_core.storage.legs import Allowed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_LIMIT: Final = 100

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""What a badly encoded argument leaves behind; neither SQLite nor a tokenizer takes it."""

_LEGS_OF: Final[dict[SearchMode, tuple[LegName, ...]]] = {
    SearchMode.HYBRID: ("dense", "sparse"),
    SearchMode.KEYWORD: ("sparse",),
    SearchMode.DENSE: ("dense",),
}


@dataclass
class _Run:
    """What one search gathers on its way."""

    answers: dict[str, dict[str, list[Scored]]] = field(default_factory=dict)
    reports: list[LegReport] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    weights: dict[tuple[str, str], float] = field(default_factory=dict)
    embedders: set[str] = field(default_factory=set)
    ranker: RankerReport | None = None

    def note(self, text: str) -> None:
        """Keep something a person should know; the same thing once."""
        if text not in self.notices:
            self.notices.append(text)


class Search:
    """Hybrid search over stores, the same on every surface.

    ``scope`` limits what is reachable at all (``--store`` of an MCP session); ``stale`` says
    how a store differs from what the config asks for (L-EMB-41).
    """

    def __init__(
        self,
        catalog: Catalog,
        legs: Legs,
        embedders: Embedders,
        rankers: Rankers,
        *,
        stale: Callable[[Store], Iterable[str]] = lambda store: (),
        scope: Sequence[str] | None = None,
    ) -> None:
        self._catalog = catalog
        self._legs = legs
        self._embedders = embedders
        self._rankers = rankers
        self._stale = stale
        self._scope = None if scope is None else frozenset(scope)

    def search(self, request: SearchRequest) -> SearchResult:
        """Citations best first. Raises StoreNotFound, InvalidRequest, InvalidConfig.

        Raises the embedder's own error only for ``dense`` mode; otherwise the search
        says in its notices that it went on without.
        """
        if not request.query.strip():
            raise InvalidRequest("the query is empty")
        if request.limit < 1:
            raise InvalidRequest("limit must be at least 1")
        stores = self._stores(request)
        ranker = self._rankers.choose(request.ranker)
        request = replace(request, query=_SURROGATE.sub("\ufffd", request.query))
        run = _Run()
        for store in stores:
            for notice in self._stale(store):
                run.note(notice)
            self._ask(store, request, run)
        fused = fuse({leg: pool(answers) for leg, answers in run.answers.items()}, run.weights)
        limit = min(request.limit, MAX_LIMIT)
        if ranker is None:
            kept = self._hits(fused[:limit])
        else:
            hits = self._hits(fused[: max(limit, self._rankers.sees(ranker))])
            hits, run.ranker = self._rankers.order(ranker, request.query, hits, run.note)
            kept = hits[:limit]
        named: dict[str, Store] = {store.id: store for store in stores}
        return SearchResult(
            citations=tuple(_cite(hit, named[hit.fused.key[0]]) for hit in kept),
            total_candidates=len(fused),
            notices=tuple(run.notices),
            explanation=_explain(kept, run),
        )

    def _stores(self, request: SearchRequest) -> list[Store]:
        if request.stores is None:
            found = self._catalog.stores.list()
        else:
            found = [self._catalog.stores.resolve(name) for name in request.stores]
        unique = {store.id: store for store in found}
        return [s for s in unique.values() if self._scope is None or s.id in self._scope]

    def _ask(self, store: Store, request: SearchRequest, run: _Run) -> None:
        allowed = Allowed.by(request.filters, request.fence)
        question = Question(text=request.query, allowed=allowed)
        for leg in _LEGS_OF[request.mode]:
            if leg == "dense":
                vector = self._vector(store, request, run)
                if vector is None:
                    continue
                question = Question(text=request.query, allowed=allowed, vector=vector)
            answer = self._legs.ask(store, leg, question, run.note)
            run.answers.setdefault(leg, {})[store.id] = answer.hits
            run.reports.append(answer.report)

    def _vector(
        self, store: Store, request: SearchRequest, run: _Run
    ) -> NDArray[np.float32] | None:
        """The query as the store's own embedder sees it; None (and said) without one."""
        stored = self._catalog.stores.embedder(store.id)
        if stored is None:
            if self._catalog.stores.stats(store.id).chunk_count:
                found = (
                    "is left out" if request.mode is SearchMode.DENSE else "is searched by words"
                )
                run.note(f"store {store.name!r} has no vectors; it {found}")
            return None
        try:
            embedder = self._embedders.of_store(stored)
            vector = _query_vector(embedder, request.query)
        except LocaldbError as error:
            if request.mode is SearchMode.DENSE:
                raise
            run.note(f"searching by words only: {error}")
            return None
        run.embedders.add(f"{stored.provider} {stored.model}")
        run.weights[("dense", store.id)] = (
            1.0 if request.mode is SearchMode.DENSE else dense_weight(self._catalog, store, stored)
        )
        return vector

    def _hits(self, entries: Sequence[Fused]) -> list[Hit]:
        """The entries with what they stand for; one replaced since is left out."""
        wanted: dict[str, list[str]] = {}
        for entry in entries:
            wanted.setdefault(entry.key[0], []).append(entry.key[1])
        rows = {
            store_id: self._catalog.resources.hits(store_id, ids)
            for store_id, ids in wanted.items()
        }
        return [
            Hit(entry, *rows[entry.key[0]][entry.key[1]])
            for entry in entries
            if entry.key[1] in rows[entry.key[0]]
        ]


def _cite(hit: Hit, store: Store) -> Citation:
    entry = hit.fused
    score = Score(entry.score, dense=_score(entry, "dense"), bm25=_score(entry, "sparse"))
    return Citation(store.ref, hit.resource, hit.chunk, score)


def _score(entry: Fused, leg: str) -> float | None:
    return entry.legs[leg].score if leg in entry.legs else None


def _query_vector(embedder: Embedder, query: str) -> NDArray[np.float32]:
    """The query's vector, checked. Raises LocaldbError, whatever the plugin raised."""
    try:
        vector: NDArray[np.float32] = checked(embedder.embed([query], "query"), 1, embedder)[0]
    except LocaldbError:
        raise
    except Exception as error:  # the plugin guard of embedders
        raise ProviderUnavailable(
            f"embedder {embedder.card.name} failed: {type(error).__name__}: {error}"
        ) from error
    return vector


def _explain(kept: Sequence[Hit], run: _Run) -> Explanation:
    return Explanation(
        embedder=", ".join(sorted(run.embedders)) or None,
        legs=tuple(run.reports),
        hits=tuple(_explained(hit) for hit in kept),
        ranker=run.ranker,
    )


def _explained(hit: Hit) -> dict[str, Any]:  # Any: JSON values
    legs = {
        leg: {"rank": found.rank + 1, "score": found.score}
        for leg, found in sorted(hit.fused.legs.items())
    }
    shown = {"chunk_id": hit.chunk.id, "fused": hit.fused.score, "legs": legs}
    if hit.ranked is not None:
        shown["ranker"] = {"rank": hit.ranked, "score": hit.rank_score}
    return shown
