"""One index run of one store: list, decide, prepare ahead, commit in batches, sweep."""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
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
from localdb_core.pipeline.parse import ParserRunner
from localdb_core.pipeline.plan import ZERO_SEEN, Decision, Sweep, stamp
from localdb_core.pipeline.pool import ParserPool
from localdb_core.pipeline.prepare import Preparer
from localdb_core.pipeline.setup import Setup
from localdb_core.pipeline.survey import SourceFailed, View
from localdb_core.storage.resources import PreparedDocument
from localdb_core.storage.session import WriteSession

log = logging.getLogger("localdb.index")

PARSERS: Final = max(2, os.cpu_count() or 1)
BIG_FILE: Final = 1 << 20
TICK: Final = 0.1

OnEvent = Callable[[Event], None]


class StoreRun:
    """Indexes the sources of one store, holding its write session.

    ``cancel`` ends the run within a second or two; what is complete is committed,
    then JobCancelled is raised. ``confirmed`` are URIs that somebody agreed to forget even
    though none of their source's documents was seen, or their file is empty.
    """

    def __init__(
        self,
        setup: Setup,
        session: WriteSession,
        *,
        delete: bool,
        on_event: OnEvent,
        cancel: threading.Event,
        confirmed: Collection[str] = (),
    ) -> None:
        self._setup = setup
        self._session = session
        self._store: Store = session.store
        self._delete = delete
        self._confirmed = frozenset(confirmed)
        self._on_event = on_event
        self._cancel = cancel
        self._survey = setup.survey(session.store)
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
            view = self._survey.look(source)
            self._read(source, view, stats)
            self._sweep(source, view.sweep, stats)
        except SourceFailed as error:
            self._source_failed(source, stats, error)
            self._commit()
        except FATAL:  # some of them are InvalidConfig too
            raise
        except (InvalidConfig, InvalidRequest, PluginError) as error:  # L-ING-33
            self._source_failed(source, stats, error)
        finally:
            self.stats.add(stats)
        self._on_event(SourceFinished(stats))

    def _source_failed(self, source: Source, stats: IndexStats, error: Exception) -> None:
        stats.error_count += 1
        log.warning("%s: %s", display(source.location), error)

    def _read(self, source: Source, view: View, stats: IndexStats) -> None:
        listing = view.listing
        if not listing.complete:
            stats.error_count += 1
            log.warning("%s: %s", display(source.location), listing.reason)
        self._on_event(Discovered(len(view.decisions) + len(listing.problems)))
        for problem in listing.problems:
            stats.docs_seen += 1
            stats.error_count += 1
            log.warning("%s: %s", display(problem.uri), problem.reason)
            self._on_event(DocumentFinished(problem.uri, Outcome.ERROR))
        skipped = [d for d in view.decisions if d.action is PlanAction.SKIP]
        self._stamp(source, [decision for decision in skipped if decision.redo])
        for decision in skipped:
            stats.docs_seen += 1
            stats.docs_skipped += 1
            self._on_event(DocumentFinished(decision.item.uri, Outcome.SKIPPED))
        work = [d for d in view.decisions if d.action is not PlanAction.SKIP]
        if work:
            self._work_through(source, work, stats)

    def _stamp(self, source: Source, decisions: Sequence[Decision]) -> None:
        if decisions:
            stamps = [stamp(d, source=source, now=self._setup.now) for d in decisions]
            self._setup.catalog.resources.stamp(self._store.id, stamps)

    def _work_through(
        self,
        source: Source,
        work: list[Decision],
        stats: IndexStats,
    ) -> None:
        # Big files first: one started last would keep a single core busy at the end.
        work.sort(key=lambda d: -(d.item.size or 0) if (d.item.size or 0) > BIG_FILE else 0)
        missing: list[Result] = []
        with self._crew(source, work) as (results, silent):
            for done in range(len(work)):
                result = self._next(results, silent)
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

    def _next(self, results: queue.Queue[Result], silent: Callable[[], list[str]]) -> Result:
        """The next result; meanwhile commits in time, obeys a cancel, tells of silent parsers."""
        while True:
            if self._cancel.is_set():
                raise JobCancelled("stopped; what was committed stays, run it again to go on")
            for line in silent():
                log.warning("%s", line)
            try:
                return results.get(timeout=TICK)
            except queue.Empty:
                if self._batch.due:
                    self._commit()

    @contextmanager
    def _crew(
        self, source: Source, work: list[Decision]
    ) -> Iterator[tuple[queue.Queue[Result], Callable[[], list[str]]]]:
        """Parser threads and embedding callers, all gone at the end, one way or the other.

        Gives their results, and what to say of parsers that report nothing.
        """
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
        parsers = self._setup.runner(pool)
        ingest = self._ingest(source, parsers, deliver, stop)
        pending = iter(work)
        turn = threading.Lock()

        def parse_some() -> None:
            while not stop.is_set():
                with turn:
                    decision = next(pending, None)
                if decision is None:
                    return
                ingest.take(decision)

        threads = [threading.Thread(target=parse_some, name=f"parse-{n}") for n in range(PARSERS)]
        for thread in threads:
            thread.start()
        try:
            yield results, parsers.watch.silent
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
        parsers: ParserRunner,
        deliver: Callable[[Result], None],
        stop: threading.Event,
    ) -> Ingest:
        preparer = Preparer(
            self._store,
            source,
            now=self._setup.now,
            chunkers=self._setup.chunkers,
            handle=self._setup.handle,
        )
        return Ingest(
            self._setup.catalog,
            self._store.id,
            parsers=parsers,
            preparer=preparer,
            handle=self._setup.handle,
            max_file_mib=self._setup.max_file_mib,
            deliver=deliver,
            stop=stop,
        )

    def _account(self, source: Source, result: Result, stats: IndexStats) -> None:
        """Count one result, say what went wrong, take what is to be committed."""
        if result.fatal is not None:
            raise result.fatal
        if result.outcome is Outcome.ERROR and _vanished(source):
            raise SourceFailed("it vanished during the run; nothing was removed")
        stats.docs_seen += 1
        chunks, reason = 0, result.reason
        if result.document is not None:
            self._take(result.document)
            chunks = len(result.document.chunks)
        elif result.emptied and self._delete and result.item.uri in self._confirmed:
            self._session.commit([], remove_uris=[result.item.uri])
            stats.docs_deleted += 1
            reason = ""  # which says that it is kept
        elif result.outcome is Outcome.SKIPPED:
            stats.docs_skipped += 1
            self._touch(source, result)
        elif result.outcome is Outcome.UNSUPPORTED:
            stats.unsupported_format_count += 1
        else:
            stats.error_count += 1
        if reason:
            log.warning("%s: %s", display(result.item.uri), reason)
        self._on_event(DocumentFinished(result.item.uri, result.outcome, chunks))

    def _touch(self, source: Source, result: Result) -> None:
        """Store what changed about a document whose text did not."""
        if result.touched is not None:
            self._setup.catalog.resources.update_metadata(result.touched)
        elif result.seen_again is not None:
            self._stamp(source, [result.seen_again])

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

    def _sweep(self, source: Source, found: Sweep, stats: IndexStats) -> None:
        # Told before the run: what it added says nothing about what was there (L-ING-53).
        kept = found.kept_because
        if kept == ZERO_SEEN and self._confirmed.issuperset(found.gone):
            kept = None  # somebody has looked at exactly this list (L-BYD-14)
        if kept is not None:
            log.warning(
                "%s: %s; %d documents kept",
                display(source.location),
                kept,
                len(found.gone),
            )
        elif self._delete and found.gone:
            self._session.commit([], remove_uris=found.gone)
            stats.docs_deleted += len(found.gone)
        else:
            stats.docs_prunable += len(found.gone)


def _vanished(source: Source) -> bool:
    return source.root is not None and not os.path.exists(source.root)
