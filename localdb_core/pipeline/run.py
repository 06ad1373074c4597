"""One index run of one store: list, decide, prepare ahead, commit in batches, sweep."""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from localdb_core.domain.errors import (
    InvalidConfig,
    InvalidRequest,
    JobCancelled,
    LocaldbError,
    PluginError,
)
from localdb_core.domain.events import (
    Discovered,
    DocumentFinished,
    DocumentStarted,
    Event,
    IndexStats,
    Outcome,
    SourceFinished,
    SourceStarted,
)
from localdb_core.domain.reports import PlanAction
from localdb_core.domain.store import Source, Store
from localdb_core.domain.uri import display
from localdb_core.pipeline.batch import Batch
from localdb_core.pipeline.ingest import FATAL, Ingest, Result
from localdb_core.pipeline.plan import Decision, decide, sweep, unique
from localdb_core.pipeline.pool import ParserPool
from localdb_core.pipeline.prepare import Preparer
from localdb_core.pipeline.presets import check_preset
from localdb_core.pipeline.setup import Setup
from localdb_core.plugin import Listing, SourceKind
from localdb_core.storage.resources import Known, PreparedDocument
from localdb_core.storage.session import WriteSession

log = logging.getLogger("localdb.index")

PARSERS: Final = max(2, os.cpu_count() or 1)
BIG_FILE: Final = 1 << 20
TICK: Final = 0.1

OnEvent = Callable[[Event], None]


class StoreRun:
    """Indexes the sources of one store, holding its write session.

    ``cancel`` ends the run within a second or two; what is complete is committed,
    then JobCancelled is raised.
    """

    def __init__(
        self,
        setup: Setup,
        session: WriteSession,
        *,
        delete: bool,
        on_event: OnEvent,
        cancel: threading.Event,
    ) -> None:
        self._setup = setup
        self._session = session
        self._store: Store = session.store
        self._delete = delete
        self._on_event = on_event
        self._cancel = cancel
        self._batch = Batch()
        self._embedder_id: int | None = None
        self._of_source = IndexStats()
        self.stats = IndexStats()
        """Counters of what is done so far; right even when the run ends early."""

    def source(self, source: Source) -> None:
        """Index one source. Raises JobCancelled, and what ends a run (disk, model)."""
        self._on_event(SourceStarted(source.id, source.location))
        stats = self._of_source = IndexStats(sources_count=1)
        try:
            if source.store_id != self._store.id:  # L-STO-05
                raise InvalidRequest(f"the source belongs to another store than {self._store.name}")
            kind, observable = self._setup.source_kind(source.kind)
            check_preset(source.preset)
            listing = self._list(kind, source)
            known = self._setup.catalog.resources.known(self._store.id)
            self._read(source, listing, known, stats)
            self._sweep(source, listing, known, stats, observable=observable)
        except _SourceFailed as error:
            self._source_failed(source, stats, error)
            self._commit()
        except FATAL:  # some of them are InvalidConfig too
            raise
        except (InvalidConfig, InvalidRequest, PluginError) as error:  # L-ING-33
            self._source_failed(source, stats, error)
        finally:
            self.stats.add(stats)
        self._on_event(SourceFinished(stats))

    def _list(self, kind: SourceKind, source: Source) -> Listing:
        try:
            return kind.list(source, self._setup.accepts)
        except LocaldbError:
            raise
        except Exception as error:  # the plugin guard of sources
            reason = f"it cannot be listed: {type(error).__name__}: {error}"
            raise _SourceFailed(reason) from error

    def _source_failed(self, source: Source, stats: IndexStats, error: Exception) -> None:
        stats.error_count += 1
        log.warning("%s: %s", display(source.location), error)

    def _read(
        self, source: Source, listing: Listing, known: Mapping[str, Known], stats: IndexStats
    ) -> None:
        if not listing.complete:
            stats.error_count += 1
            log.warning("%s: %s", display(source.location), listing.reason)
        items = unique(listing.items)
        self._on_event(Discovered(len(items) + len(listing.problems)))
        for problem in listing.problems:
            stats.docs_seen += 1
            stats.error_count += 1
            log.warning("%s: %s", display(problem.uri), problem.reason)
            self._on_event(DocumentFinished(problem.uri, Outcome.ERROR))
        work: list[Decision] = []
        for item in items:
            decision = decide(
                item,
                known.get(item.uri),
                policy=self._setup.policy_version,
                versions=self._setup.versions,
                embeds=self._setup.embeds,
            )
            if decision.action is PlanAction.SKIP:
                stats.docs_seen += 1
                stats.docs_skipped += 1
                self._on_event(DocumentFinished(item.uri, Outcome.SKIPPED))
            else:
                work.append(decision)
        if work:
            self._work_through(source, work, known, stats)

    def _work_through(
        self,
        source: Source,
        work: list[Decision],
        known: Mapping[str, Known],
        stats: IndexStats,
    ) -> None:
        # Big files first: one started last would keep a single core busy at the end.
        work.sort(key=lambda d: -(d.item.size or 0) if (d.item.size or 0) > BIG_FILE else 0)
        missing: list[Result] = []
        with self._crew(source, work, known) as results:
            for done in range(len(work)):
                result = self._next(results)
                self._on_event(DocumentStarted(result.item.uri, done, len(work)))
                if result.missing:  # judged at the end: is it the file, or the whole folder?
                    missing.append(result)
                    continue
                self._account(source, result, stats)
                if self._batch.due:
                    self._commit()
        self._commit()
        for result in missing:
            self._account(source, result, stats)

    def _next(self, results: queue.Queue[Result]) -> Result:
        """The next result; keeps the commit deadline and looks at the cancel event."""
        while True:
            if self._cancel.is_set():
                raise JobCancelled("stopped; what was committed stays, run it again to go on")
            try:
                return results.get(timeout=TICK)
            except queue.Empty:
                if self._batch.due:
                    self._commit()

    @contextmanager
    def _crew(
        self, source: Source, work: list[Decision], known: Mapping[str, Known]
    ) -> Iterator[queue.Queue[Result]]:
        """Parser threads and embedding callers, all gone at the end, one way or the other."""
        stop = threading.Event()
        results: queue.Queue[Result] = queue.Queue(maxsize=256)

        def deliver(result: Result) -> None:
            while not stop.is_set():
                try:
                    results.put(result, timeout=TICK)
                except queue.Full:
                    continue
                return

        pool = ParserPool(PARSERS, stop=stop)
        ingest = self._ingest(source, known, pool, deliver, stop)
        pending = iter(work)
        turn = threading.Lock()

        def parse_some() -> None:
            while not stop.is_set():
                with turn:
                    decision = next(pending, None)
                if decision is None:
                    return
                ingest.take(
                    decision, policy=self._setup.policy_version, versions=self._setup.versions
                )

        threads = [threading.Thread(target=parse_some, name=f"parse-{n}") for n in range(PARSERS)]
        for thread in threads:
            thread.start()
        try:
            yield results
        except JobCancelled:
            stop.set()
            self._save_finished(results)
            raise
        finally:
            stop.set()
            for thread in threads:
                thread.join()
            ingest.close()
            pool.close()

    def _ingest(
        self,
        source: Source,
        known: Mapping[str, Known],
        pool: ParserPool,
        deliver: Callable[[Result], None],
        stop: threading.Event,
    ) -> Ingest:
        preparer = Preparer(
            self._store,
            source,
            policy_version=self._setup.policy_version,
            chunkers=self._setup.chunkers,
            handle=self._setup.handle,
        )
        return Ingest(
            self._setup.catalog,
            self._store.id,
            parsers=self._setup.runner(pool),
            preparer=preparer,
            known=known,
            handle=self._setup.handle,
            deliver=deliver,
            stop=stop,
        )

    def _account(self, source: Source, result: Result, stats: IndexStats) -> None:
        """Count one result, say what went wrong, take what is to be committed."""
        if result.fatal is not None:
            raise result.fatal
        if result.outcome is Outcome.ERROR and _vanished(source):
            raise _SourceFailed("it vanished during the run; nothing was removed")
        stats.docs_seen += 1
        chunks = 0
        if result.document is not None:
            self._take(result.document)
            chunks = len(result.document.chunks)
        elif result.outcome is Outcome.SKIPPED:
            stats.docs_skipped += 1
            self._touch(result)
        elif result.outcome is Outcome.UNSUPPORTED:
            stats.unsupported_format_count += 1
        else:
            stats.error_count += 1
        if result.reason:
            log.warning("%s: %s", display(result.item.uri), result.reason)
        self._on_event(DocumentFinished(result.item.uri, result.outcome, chunks))

    def _touch(self, result: Result) -> None:
        """Store what changed about a document whose text did not."""
        resources = self._setup.catalog.resources
        if result.touched is not None:
            resources.update_metadata(result.touched.resource)
        elif result.seen_again:
            item = result.item
            resources.touch(
                self._store.id,
                item.uri,
                size=item.size,
                mtime_ns=item.mtime_ns,
                added_at=item.added_at,
            )

    def _commit(self) -> None:
        documents = list(self._batch.documents.values())
        self._batch = Batch()
        if documents:
            self._bind_embedder(documents)
            self._store_documents(documents)

    def _bind_embedder(self, documents: Sequence[PreparedDocument]) -> None:
        if self._embedder_id is None and any(d.vectors is not None for d in documents):
            handle = self._setup.handle()
            assert handle is not None, "vectors come from an embedder"
            self._embedder_id = self._session.bind_embedder(
                handle.card, provider=handle.provider, model=handle.model
            )

    def _store_documents(self, documents: Sequence[PreparedDocument]) -> None:
        """Commit a batch; a document that cannot be stored costs itself only (L-INV-07)."""
        try:
            self._session.commit(documents, embedder_id=self._embedder_id)
        except LocaldbError:
            self._uncount(documents)
            raise
        except Exception as error:  # noqa: BLE001 - one of the documents pays, not the run
            if len(documents) > 1:
                for document in documents:
                    self._store_documents([document])
                return
            self._uncount(documents)
            self._of_source.error_count += 1
            uri = display(documents[0].resource.uri)
            log.warning("%s: it cannot be stored: %s: %s", uri, type(error).__name__, error)

    def _uncount(self, documents: Sequence[PreparedDocument]) -> None:
        self._of_source.docs_indexed -= len(documents)
        self._of_source.chunks_written -= sum(len(document.chunks) for document in documents)

    def _save_finished(self, results: queue.Queue[Result]) -> None:
        """Commit what is complete when the run is cancelled."""
        while True:
            try:
                result = results.get_nowait()
            except queue.Empty:
                break
            if result.document is not None:
                self._of_source.docs_seen += 1
                self._take(result.document)
        self._commit()

    def _take(self, document: PreparedDocument) -> None:
        self._batch.add(document)
        self._of_source.docs_indexed += 1
        self._of_source.chunks_written += len(document.chunks)

    def _sweep(
        self,
        source: Source,
        listing: Listing,
        known: Mapping[str, Known],
        stats: IndexStats,
        *,
        observable: bool,
    ) -> None:
        # Known before the run: what it added says nothing about what was there (L-ING-53).
        found = sweep(source, listing, known, versions=self._setup.versions, observable=observable)
        if found.kept_because is not None:
            log.warning(
                "%s: %s; %d documents kept",
                display(source.location),
                found.kept_because,
                len(found.gone),
            )
        elif self._delete and found.gone:
            self._session.commit([], remove_uris=found.gone)
            stats.docs_deleted += len(found.gone)
        else:
            stats.docs_prunable += len(found.gone)


class _SourceFailed(Exception):
    """A source cannot be read any further; what is done of it stays."""


def _vanished(source: Source) -> bool:
    return source.root is not None and not os.path.exists(source.root)
