"""Open indexes for searching, reopened when the catalog's generation moves on."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from localdb_core.domain.store import Store
from localdb_core.plugin import Index, LegQuery, Scored
from localdb_core.storage.engines import Engine, Engines
from localdb_core.storage.reconcile import needs_mending
from localdb_core.storage.seal import Look, look


class IndexUnusable(LookupError):
    """The index must not answer; the reason is for people."""


@dataclass(slots=True)
class _Opened:
    generation: int
    look: Look
    index: Index

    def stands_for(self, generation: int, look: Look) -> bool:
        """Whether the catalog and the files on disk are still those it was opened for.

        An engine that maps its files dies with the process when one of them shrinks.
        """
        return (self.generation, self.look) == (generation, look)


class IndexReaders:
    """Answers leg queries from index plugins, or says why it will not.

    Thread-safe. Never answers from an index that is dirty, behind, missing, changed
    on disk or short of entries: a wrong or empty answer would look like a right one.
    """

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self._opened: dict[tuple[str, str, str], _Opened] = {}
        self._lock = threading.Lock()

    def query(self, store: Store, engine: Engine, query: LegQuery) -> list[Scored]:
        """Best first. Raises IndexUnusable."""
        index = self._reader(store, engine)
        try:
            return [Scored(hit.chunk_id, float(hit.score)) for hit in index.query(query)]
        except Exception as error:
            self.drop(store.id)
            raise IndexUnusable(f"failed: {type(error).__name__}: {error}") from error

    def count(self, store: Store, engine: Engine) -> int:
        """How many entries the index holds. Raises IndexUnusable."""
        index = self._reader(store, engine)
        try:
            return index.count()
        except Exception as error:  # the plugin guard of index calls
            raise IndexUnusable(f"failed: {type(error).__name__}: {error}") from error

    def _reader(self, store: Store, engine: Engine) -> Index:
        key = (store.id, engine.leg, engine.full_id)
        with self._lock:
            generation, dirty = self._engines.catalog.ledger.generation(store.id)
            opened = self._opened.get(key)
            now = look(engine.folder(self._engines.catalog.data_dir, store.id))
            if opened is not None and not dirty and opened.stands_for(generation, now):
                return opened.index
            reason = needs_mending(self._engines, store, engine.leg)
            if reason is not None:
                raise IndexUnusable(reason)
            if opened is not None:
                del self._opened[key]
                opened.index.close()
            index = self._open(store, engine)
            self._opened[key] = _Opened(generation, now, index)
            return index

    def _open(self, store: Store, engine: Engine) -> Index:
        state = self._engines.catalog.ledger.state(store.id, engine.leg, engine.full_id)
        language = None if state is None else state.language
        try:
            index = self._engines.open(store, engine, language=language, readonly=True)
            held, wanted = index.count(), self._expected(store, engine)
        except Exception as error:
            raise IndexUnusable(f"cannot be opened: {error}") from error
        if held < wanted:
            index.close()
            raise IndexUnusable(f"holds {held} of {wanted} entries")
        return index

    def _expected(self, store: Store, engine: Engine) -> int:
        catalog = self._engines.catalog
        if engine.leg == "sparse":
            return catalog.stores.stats(store.id).chunk_count
        embedder = catalog.stores.embedder(store.id)
        return 0 if embedder is None else catalog.vectors.count(store.id, embedder.id)

    def drop(self, store_id: str) -> None:
        """Close what is open for a store."""
        with self._lock:
            for key in [key for key in self._opened if key[0] == store_id]:
                self._opened.pop(key).index.close()

    def close(self) -> None:
        """Close everything."""
        with self._lock:
            for opened in self._opened.values():
                opened.index.close()
            self._opened.clear()
