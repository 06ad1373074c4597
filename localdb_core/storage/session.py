"""WriteSession: the only writer of a store's indexes (E-2).

One batch goes through four steps, so that a crash at any of them loses nothing:
the dirty flag is set; new entries go into the indexes; one catalog transaction
replaces the documents and lists the old chunk ids as pending deletions; those are
deleted from the indexes, the list and the flag are cleared, the generation grows.
The old version stays searchable until the catalog transaction.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from localdb_core.domain.errors import InternalError, LocaldbError, PluginError
from localdb_core.domain.ids import ChunkId
from localdb_core.domain.store import Store
from localdb_core.plugin import EmbedderCard, Index
from localdb_core.storage.connections import is_disk_full
from localdb_core.storage.engines import LEGS, Engine, Engines, LegName
from localdb_core.storage.entries import fresh_entries
from localdb_core.storage.ledger import IndexState
from localdb_core.storage.lock import StoreLock
from localdb_core.storage.reconcile import (
    Filled,
    discard,
    disk_full,
    main_language,
    mend,
    needs_mending,
    refill,
    state_of,
)
from localdb_core.storage.resources import (
    PreparedDocument,
    batched,
    delete_resources,
    insert_document,
    rids_of_uri,
)
from localdb_core.storage.seal import seal
from localdb_core.storage.vectors import shape_of

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

INDEX_BATCH = 1000

CRASH_AT = "LOCALDB_TEST_CRASH_AT"
"""Names a step after which the process kills itself; for the tests of this module."""


class WriteSession:
    """Holds a store's writer lock; mends its indexes on entry when they need it.

    with WriteSession(engines, store) as session:
        session.commit(documents)

    Indexes are opened at the first write. An index that fails is left out for the
    rest of the session and reported once: the catalog goes on, and searches are
    answered by its own leg until ``engine rebuild``. ``legs`` are those to be mended: a
    leg whose engine cannot be had is left for later where only the other one matters.
    """

    def __init__(
        self,
        engines: Engines,
        store: Store,
        *,
        note: Callable[[str], None] | None = None,
        mending: bool = True,
        legs: Sequence[LegName] = LEGS,
    ) -> None:
        self._engines = engines
        self._catalog = engines.catalog
        self.store = store
        self._mending = mending
        self._legs = legs
        self._lock = StoreLock(engines.catalog.data_dir, store.id, name=store.name)
        self._note = note or log.warning
        self._open: dict[LegName, tuple[Engine, Index]] = {}
        self._failed: set[LegName] = set()
        self._mended: set[LegName] = set()
        self._language: str | None = None

    def __enter__(self) -> Self:
        self._lock.acquire()
        try:
            if self._mending:
                self.mend()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close_indexes()
        finally:
            self._lock.release()

    def mend(self) -> None:
        """Bring every index that is not known to be right back in step with the catalog."""
        self.store = self._catalog.stores.get(self.store.id)
        reasons = [needs_mending(self._engines, self.store, leg) for leg in self._legs]
        if not any(reasons) and not self.store.index_dirty:
            return
        states: dict[str, IndexState] = {}
        for leg in self._legs:
            discard(self._engines, self.store, leg)
            if (state := self._in_step(leg)) is not None:
                states[leg] = state
        self._catalog.ledger.settle(self.store.id, states, clean=True)

    def force_mend(self, leg: LegName) -> None:
        """Check one index even though nothing in the books speaks against it.

        For a reader to whom the index itself gave a reason. Does nothing when
        entering the session has just mended it.
        """
        if leg in self._mended or self._engines.engine(self.store, leg).owned is None:
            return
        states: dict[str, IndexState] = {}
        for other in self._legs:
            if other != leg and (state := self._in_step(other)) is not None:
                states[other] = state
        mended = mend(self._engines, self.store, leg, reason="cannot answer", note=self._note)
        if mended is not None:
            states[leg] = mended
        self._catalog.ledger.settle(self.store.id, states, clean=True)

    def rebuild(self, leg: LegName, *, progress: Filled | None = None) -> int:
        """Throw one index away and fill it from the catalog; returns its entries.

        The other leg is mended if it needs it, so that the store is clean afterwards.
        """
        engine = self._engines.engine(self.store, leg)
        if engine.owned is None:
            return self._rebuild_own(leg)
        language = main_language(self._catalog, self.store.id)
        try:
            entries = refill(
                self._engines, self.store, engine, language=language, progress=progress
            )
        except LocaldbError:
            raise
        except Exception as error:  # the plugin guard of index calls
            if is_disk_full(error):
                raise disk_full() from error
            reason = f"{type(error).__name__}: {error}"
            raise PluginError(
                engine.owned.plugin, stage="rebuild", reason=reason, component=engine.full_id
            ) from error
        states: dict[str, IndexState] = {
            leg: state_of(self._engines, self.store, engine, language=language)
        }
        for other in self._legs:
            if other != leg and (state := self._in_step(other)) is not None:
                states[other] = state
        self._catalog.ledger.settle(self.store.id, states, clean=True)
        return entries

    def _rebuild_own(self, leg: LegName) -> int:
        """A catalog leg is never out of step; the keyword leg can be written anew."""
        if leg == "sparse":
            self._catalog.keyword.rebuild()
            return self._catalog.stores.stats(self.store.id).chunk_count
        embedder = self._catalog.stores.embedder(self.store.id)
        return 0 if embedder is None else self._catalog.vectors.count(self.store.id, embedder.id)

    def _in_step(self, leg: LegName) -> IndexState | None:
        """The state to record for a leg, mended first when something speaks against it."""
        reason = needs_mending(self._engines, self.store, leg)
        if reason is None:
            return self._current_state(leg)
        self._mended.add(leg)
        return mend(self._engines, self.store, leg, reason=reason, note=self._note)

    def _current_state(self, leg: LegName) -> IndexState | None:
        engine = self._engines.engine(self.store, leg)
        return self._catalog.ledger.state(self.store.id, leg, engine.full_id)

    def bind_embedder(self, card: EmbedderCard, *, provider: str, model: str) -> int:
        """Bind the store to this embedder; returns its id in the catalog."""
        return self._catalog.stores.bind_embedder(
            self.store.id, card, provider=provider, model=model
        ).id

    def commit(
        self,
        documents: Sequence[PreparedDocument],
        *,
        embedder_id: int | None = None,
        remove_uris: Iterable[str] = (),
    ) -> None:
        """Replace these documents and remove those URIs, as one step.

        Raises StorageUnavailable when the disk is full; what was committed before stays.
        """
        self._refuse_foreign(documents)
        removed = list(remove_uris)
        if not documents and not removed:
            return
        self._remember_language(documents)
        self._catalog.ledger.set_dirty(self.store.id)
        _crash_point("dirty")
        self._upsert(documents)
        _crash_point("upsert")
        try:
            self._replace(documents, removed, embedder_id)
        except LocaldbError:  # the file itself is in trouble; the flag tells the next session
            raise
        except Exception:
            self._withdraw(documents)
            raise
        _crash_point("catalog")
        self._sweep()
        _crash_point("sweep")

    def _refuse_foreign(self, documents: Sequence[PreparedDocument]) -> None:
        """Nothing of another store is written through this one (L-STO-05)."""
        for document in documents:
            if document.resource.store_id != self.store.id:
                raise InternalError(
                    f"{document.resource.uri} was prepared for store {document.resource.store_id},"
                    f" not for {self.store.id}"
                )

    def _replace(
        self, documents: Sequence[PreparedDocument], removed: list[str], embedder_id: int | None
    ) -> None:
        with self._catalog.connections.write() as db:
            uris = [document.resource.uri for document in documents] + removed
            rids = rids_of_uri(db, self.store.id, uris)
            delete_resources(db, self.store.id, rids)
            encoding = "float32" if embedder_id is None else shape_of(db, embedder_id)[1]
            for document in documents:
                insert_document(db, document, embedder_id, encoding)
            db.executemany(  # an unchanged chunk keeps its id and must stay in the indexes
                "DELETE FROM pending_deletes WHERE store_id = ? AND chunk_id = ?",
                [(self.store.id, chunk.id) for d in documents for chunk in d.chunks],
            )

    def _withdraw(self, documents: Sequence[PreparedDocument]) -> None:
        """Take documents that the catalog refused out of the indexes again."""
        ids = [chunk.id for document in documents for chunk in document.chunks]
        kept = self._catalog.resources.existing(self.store.id, ids)
        self._catalog.ledger.add_pending(self.store.id, [i for i in ids if i not in kept])
        self._sweep()

    def sweep_source(self, source_id: str) -> None:
        """Remove a source with its documents, then its entries from the indexes."""
        self._catalog.ledger.set_dirty(self.store.id)
        self._catalog.sources.remove(source_id)
        self._sweep()

    def _upsert(self, documents: Sequence[PreparedDocument]) -> None:
        for leg in LEGS:
            index = self._index(leg)
            if index is None:
                continue
            entries = fresh_entries(leg, documents)
            with self._guarded(leg):
                for part in batched(entries, INDEX_BATCH):
                    index.upsert(part)
                index.flush()

    def _sweep(self) -> None:
        pending = [ChunkId(chunk) for chunk in self._catalog.ledger.pending(self.store.id)]
        states: dict[str, IndexState] = {}
        for leg in LEGS:
            index = self._index(leg)
            if index is None:
                continue
            with self._guarded(leg):
                if pending:
                    index.delete(pending)
                    index.flush()
                engine = self._open[leg][0]
                before = self._current_state(leg)
                states[leg] = IndexState(
                    engine=engine.full_id,
                    generation=0,  # the ledger fills it in
                    language=self._language_of(leg, engine),
                    fingerprint=self._fingerprint(leg),
                    seal=seal(
                        engine.folder(self._catalog.data_dir, self.store.id),
                        before="" if before is None else before.seal,
                    ),
                )
        self._catalog.ledger.settle(self.store.id, states, clean=True)

    def _index(self, leg: LegName) -> Index | None:
        """The open index of a leg; None for a catalog leg, a failed one, or no embedder."""
        if leg in self._failed:
            return None
        if leg in self._open:
            return self._open[leg][1]
        engine = self._engines.engine(self.store, leg)
        if engine.owned is None:
            return None
        if leg == "dense" and self._catalog.stores.embedder(self.store.id) is None:
            return None
        opened: Index | None = None
        with self._guarded(leg):
            opened = self._engines.open(self.store, engine, language=self._language_of(leg, engine))
            self._open[leg] = (engine, opened)
        return opened

    def _language_of(self, leg: LegName, engine: Engine) -> str | None:
        """The language the index was built for, which stays until it is rebuilt."""
        state = self._catalog.ledger.state(self.store.id, leg, engine.full_id)
        return self._language if state is None else state.language

    def _remember_language(self, documents: Sequence[PreparedDocument]) -> None:
        if self._language is None:
            tags = [document.resource.language for document in documents]
            self._language = main_language(self._catalog, self.store.id, extra=tags)

    def _fingerprint(self, leg: LegName) -> str | None:
        embedder = self._catalog.stores.embedder(self.store.id) if leg == "dense" else None
        return None if embedder is None else embedder.fingerprint

    @contextlib.contextmanager
    def _guarded(self, leg: LegName) -> Iterator[None]:
        """Give the leg up when its index fails; a full disk ends the session instead."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the plugin guard of index calls
            if is_disk_full(error):
                raise disk_full() from error
            known = isinstance(error, LocaldbError)
            self.give_up(leg, str(error) if known else f"{type(error).__name__}: {error}")

    def give_up(self, leg: LegName, reason: str) -> None:
        """Leave an index that failed out of the rest of the session."""
        engine = self._engines.engine(self.store, leg)
        self._failed.add(leg)
        self._catalog.ledger.forget(self.store.id, leg, engine.full_id)
        opened = self._open.pop(leg, None)
        if opened is not None:
            _close_quietly(opened[1])
        self._note(
            f"the {leg} index {engine.name} of store {self.store.name!r} failed ({reason}); "
            "documents are stored and searched without it; "
            f"mend it with: localdb engine rebuild {leg}"
        )

    def close_indexes(self) -> None:
        """Close what was opened; the lock stays."""
        for _, index in self._open.values():
            _close_quietly(index)
        self._open.clear()


def _close_quietly(index: Index) -> None:
    try:
        index.close()
    except Exception as error:  # noqa: BLE001 - a plugin's close must not hide what went before
        log.debug("closing an index failed: %s", error)


def _crash_point(step: str) -> None:
    if os.environ.get(CRASH_AT) == step:
        os.kill(os.getpid(), 9)
