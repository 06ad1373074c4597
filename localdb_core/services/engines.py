"""Listing and rebuilding the engines behind a search."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from localdb_core.domain.errors import InvalidConfig, LocaldbError
from localdb_core.domain.reports import (
    EmbedderState,
    EngineReport,
    EngineState,
    IndexState,
    RebuildReport,
)
from localdb_core.domain.store import Store
from localdb_core.search.embedders import Embedders
from localdb_core.services.components import Components
from localdb_core.storage.engines import LEGS, Engine, Engines, LegName
from localdb_core.storage.lock import StoreLock
from localdb_core.storage.readers import IndexReaders
from localdb_core.storage.reconcile import needs_mending
from localdb_core.storage.session import WriteSession

OnProgress = Callable[[int, int], None]


@dataclass
class EngineService:
    """What ``localdb engine`` does."""

    components: Components
    engines: Engines
    readers: IndexReaders
    embedders: Embedders

    def rebuild(
        self, leg: LegName, stores: Sequence[Store], *, on_progress: OnProgress
    ) -> list[RebuildReport]:
        """Make an index again from the catalog. Nothing is parsed and nothing embedded.

        Raises IndexInProgress while a store is being written.
        """
        return [self._rebuild(store, leg, on_progress) for store in stores]

    def list(self, stores: Sequence[Store]) -> EngineReport:
        """The configured embedder, and two indexes per store, whatever state they are in."""
        self.components.check()  # --strict-plugins makes an error of it, not a state
        states = [self.index_state(store, leg) for store in stores for leg in LEGS]
        return EngineReport(self._embedder(), tuple(states))

    def _rebuild(self, store: Store, leg: LegName, on_progress: OnProgress) -> RebuildReport:
        started = time.monotonic()
        self.readers.drop(store.id)
        engine = self.engines.engine(store, leg)
        legs = self.engines.usable(store)
        with WriteSession(self.engines, store, mending=False, legs=legs) as session:
            entries = session.rebuild(leg, progress=on_progress)
        duration = int((time.monotonic() - started) * 1000)
        return RebuildReport(store.ref, leg, engine.name, entries, duration)

    def _embedder(self) -> EmbedderState | None:
        wanted = self.components.config.defaults.indexing.embedding
        try:
            if self.components.embedder_spec(wanted.provider) is None:
                return None
            card = self.embedders.get(wanted.provider, wanted.model).card
        except InvalidConfig:
            return EmbedderState(wanted.provider, wanted.model, state=EngineState.MISSING)
        except LocaldbError as error:
            missing = error.code == "model_missing"
            state = EngineState.MISSING if missing else EngineState.BROKEN
            return EmbedderState(wanted.provider, wanted.model, state=state)
        return EmbedderState(
            wanted.provider,
            wanted.model,
            fingerprint=card.fingerprint,
            dimension=card.dimension,
            encoding=card.encoding,
        )

    def index_state(self, store: Store, leg: LegName, *, opened: bool = True) -> IndexState:
        """One index, whatever state it is in.

        With ``opened`` it is opened when nothing speaks against it, and its entries are
        counted; some engines write into their folders even then.
        """
        try:
            engine = self.engines.engine(store, leg)
        except InvalidConfig:
            config = self.components.config.index
            own = store.index_dense if leg == "dense" else store.index_sparse
            name = own or (config.dense if leg == "dense" else config.sparse)
            return IndexState(store.ref, leg, name, state=EngineState.MISSING)
        chunks = self.engines.catalog.stores.stats(store.id).chunk_count
        expected = self._expected(store, leg, chunks)
        if engine.owned is None:
            return IndexState(
                store.ref, leg, engine.name, engine.set_by, entries=expected, chunks=chunks
            )
        state, entries = self._plugin_state(store, engine, expected, opened=opened)
        return IndexState(
            store.ref,
            leg,
            engine.name,
            engine.set_by,
            entries=entries,
            chunks=chunks,
            size_bytes=folder_size(engine.folder(self.engines.catalog.data_dir, store.id)),
            generation=self.engines.catalog.ledger.generation(store.id)[0],
            state=state,
        )

    def _expected(self, store: Store, leg: LegName, chunks: int) -> int:
        if leg == "sparse":
            return chunks
        embedder = self.engines.catalog.stores.embedder(store.id)
        catalog = self.engines.catalog
        return 0 if embedder is None else catalog.vectors.count(store.id, embedder.id)

    def _plugin_state(
        self, store: Store, engine: Engine, expected: int, *, opened: bool
    ) -> tuple[EngineState, int | None]:
        """State and entries of an index."""
        if not expected:
            return EngineState.READY, 0
        reason = needs_mending(self.engines, store, engine.leg)
        if reason is None and not opened:
            return EngineState.READY, expected
        if reason is None:
            try:
                entries = self.readers.count(store, engine)
            except LookupError:
                return EngineState.BROKEN, None
            return EngineState.READY, entries
        if not StoreLock(self.engines.catalog.data_dir, store.id).is_free():
            return EngineState.BUILDING, None
        states = {
            "is missing": EngineState.MISSING,
            "was never completed": EngineState.MISSING,
            "missed changes": EngineState.STALE,
            "holds vectors of another embedder": EngineState.STALE,
            "has changed on disk": EngineState.BROKEN,
        }
        return states.get(reason, EngineState.DIRTY), None


def folder_size(folder: Path) -> int:
    """Bytes of all files below a folder; 0 when there is none."""
    total = 0
    for base, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(base, name)).st_size
            except OSError:
                continue
    return total
