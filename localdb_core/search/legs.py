"""Asking one leg of one store, with the catalog's own leg as the way out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from localdb_core.domain.errors import IndexInProgress, LocaldbError
from localdb_core.domain.query import LegReport
from localdb_core.domain.store import Store
from localdb_core.plugin import LegQuery, Scored
from localdb_core.storage.engines import OWN_LEGS, Engine, Engines, LegName
from localdb_core.storage.legs import Allowed
from localdb_core.storage.readers import IndexReaders, IndexUnusable
from localdb_core.storage.session import WriteSession

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEG_LIMIT: Final = 50
"""Hits per store and leg (L-SRCH-01)."""

MEND_LIMIT: Final = 5000
"""Chunks up to which a search mends a damaged index before it answers: about 5 s."""

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Question:
    """What every leg of a search is asked."""

    text: str
    allowed: Allowed
    vector: NDArray[np.float32] | None = None


@dataclass(slots=True)
class LegAnswer:
    """Hits of one leg of one store, and who gave them."""

    hits: list[Scored]
    report: LegReport


@dataclass
class Legs:
    """Queries legs; an index that cannot be trusted is mended or stood in for."""

    engines: Engines
    readers: IndexReaders
    _mending: threading.Lock = field(default_factory=threading.Lock)
    _mended: dict[tuple[str, str], int] = field(default_factory=dict)

    def ask(self, store: Store, leg: LegName, question: Question, note: Note) -> LegAnswer:
        """The best hits of one leg, foreign and stale ids left out (L-SRCH-09)."""
        engine = self.engines.engine(store, leg)
        answered, reason = engine.name, None
        if engine.owned is None or question.allowed.sql:
            answered = OWN_LEGS[leg]
            if engine.owned is not None:
                reason = f"a narrowed search is not for {engine.name}"
            hits = self._own(store, leg, question)
        else:
            try:
                hits = self._plugin(store, engine, question, note)
            except IndexUnusable as error:
                answered, reason = OWN_LEGS[leg], str(error)
                hits = self._own(store, leg, question)
                note(
                    f"the {leg} index {engine.name} of store {store.name!r} {error}; "
                    f"{answered} answers instead"
                )
        return LegAnswer(
            self._known(store, hits), LegReport(store.name, leg, answered, len(hits), reason)
        )

    def _plugin(self, store: Store, engine: Engine, question: Question, note: Note) -> list[Scored]:
        query = LegQuery(
            limit=LEG_LIMIT,
            text=question.text if engine.leg == "sparse" else "",
            vector=question.vector if engine.leg == "dense" else None,
        )
        try:
            return self.readers.query(store, engine, query)
        except IndexUnusable as error:
            self._mend(store, engine, error, note)
        return self.readers.query(store, engine, query)

    def _mend(self, store: Store, engine: Engine, broken: IndexUnusable, note: Note) -> None:
        """Bring the index back in step; raises IndexUnusable when that is for others to do.

        Once for each state of the store: an index that fails all the same is not filled
        again by every search (L-SRCH-24).
        """
        hint = f"mend it with: localdb engine rebuild {engine.leg}"
        stats = self.engines.catalog.stores.stats(store.id)
        if stats.chunk_count > MEND_LIMIT:
            raise IndexUnusable(f"{broken} ({hint})") from broken
        ledger, key = self.engines.catalog.ledger, (store.id, engine.full_id)
        with self._mending:
            before = ledger.generation(store.id)[0]
            if self._mended.get(key) == before:
                raise IndexUnusable(f"{broken}, also after it was mended ({hint})") from broken
            self.readers.drop(store.id)
            try:
                legs = self.engines.usable(store)
                with WriteSession(self.engines, store, note=note, legs=legs) as session:
                    session.force_mend(engine.leg)
            except IndexInProgress:
                raise IndexUnusable("is being written by an index run") from broken
            except (LocaldbError, OSError) as error:
                self._remember(key, before)
                raise IndexUnusable(f"{broken} and cannot be mended ({error})") from error
            self._remember(key, before)

    def _remember(self, key: tuple[str, str], before: int) -> None:
        """Note for which state the index was mended; mending made a new one by itself."""
        now = self.engines.catalog.ledger.generation(key[0])[0]
        for other, generation in self._mended.items():
            if other[0] == key[0] and generation == before:
                self._mended[other] = now
        self._mended[key] = now

    def _own(self, store: Store, leg: LegName, question: Question) -> list[Scored]:
        catalog = self.engines.catalog
        if leg == "sparse":
            return catalog.keyword.query(
                store.id, question.text, limit=LEG_LIMIT, allowed=question.allowed
            )
        embedder = catalog.stores.embedder(store.id)
        if embedder is None or question.vector is None:
            return []
        generation, _ = catalog.ledger.generation(store.id)
        return catalog.exact.query(
            store.id,
            question.vector,
            embedder_id=embedder.id,
            limit=LEG_LIMIT,
            generation=generation,
            allowed=question.allowed,
        )

    def _known(self, store: Store, hits: Sequence[Scored]) -> list[Scored]:
        existing = self.engines.catalog.resources.existing(store.id, [hit.chunk_id for hit in hits])
        return [hit for hit in hits if hit.chunk_id in existing]
