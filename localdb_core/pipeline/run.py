"""One index run of one store: list, decide, prepare ahead, commit in batches, sweep."""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from localdb_core.domain.errors import InvalidConfig, InvalidRequest, JobCancelled, PluginError
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
from localdb_core.pipeline.chunk import OwnedChunker
from localdb_core.pipeline.ingest import Ingest, Result
from localdb_core.pipeline.parse import ParserRunner
from localdb_core.pipeline.plan import Decision, decide, sweep, unique
from localdb_core.pipeline.pool import ParserPool
from localdb_core.pipeline.prepare import EmbedderHandle, Preparer
from localdb_core.pipeline.presets import check_preset
from localdb_core.plugin import Accepts, Listing, SourceKind
from localdb_core.storage.catalog import Catalog
from localdb_core.storage.resources import Known, PreparedDocument
from localdb_core.storage.session import WriteSession

log = logging.getLogger("localdb.index")

BATCH_CHUNKS: Final = 1000
BATCH_SECONDS: Final = 5.0
"""A killed run loses at most this much work, whichever comes first (E-2)."""

PARSERS: Final = max(2, os.cpu_count() or 1)
BIG_FILE: Final = 1 << 20
TICK: Final = 0.1

OnEvent = Callable[[Event], None]


@dataclass(frozen=True)
class Setup:
    """What a run needs from the application.

    Attributes:
        policy, policy_version: the indexing policy in force.
        versions: version of every installed parser by full id.
        accepts: what the parser chain claims.
        source_kind: gives the component for a kind, and whether it can observe everything.
        runner: makes the parser runner on a pool.
        handle: the embedder, built at the first call; None when there is none.
    """

    catalog: Catalog
    policy: Mapping[str, object]
    policy_version: str
    versions: Mapping[str, str]
    accepts: Accepts
    chunkers: tuple[OwnedChunker, ...]
    source_kind: Callable[[str], tuple[SourceKind, bool]]
    runner: Callable[[ParserPool], ParserRunner]
    handle: Callable[[], EmbedderHandle | None]


@dataclass
class _Batch:
    """Documents waiting for the next commit."""

    documents: dict[str, PreparedDocument] = field(default_factory=dict)
    since: float = 0.0
    chunks: int = 0

    def add(self, document: PreparedDocument) -> None:
        if not self.documents:
            self.since = time.monotonic()
        self.documents[document.resource.uri] = document
        self.chunks += len(document.chunks)

    @property
    def due(self) -> bool:
        if not self.documents:
            return False
        return self.chunks >= BATCH_CHUNKS or time.monotonic() - self.since >= BATCH_SECONDS


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
        self._batch = _Batch()
        self._embedder_id: int | None = None
        self.stats = IndexStats()
        """Counters of what is done so far; right even when the run ends early."""

    def source(self, source: Source) -> None:
        """Index one source. Raises JobCancelled, and what ends a run (disk, model)."""
        self._on_event(SourceStarted(source.id, source.location))
        stats = IndexStats(sources_count=1)
        try:
            kind, observable = self._setup.source_kind(source.kind)
            check_preset(source.preset)
            listing = kind.list(source, self._setup.accepts)
            self._read(source, listing, stats)
            self._sweep(source, listing, stats, observable=observable)
        except _SourceFailed as error:
            self._source_failed(source, stats, error)
            self._commit()
        except (InvalidConfig, InvalidRequest, PluginError) as error:  # L-ING-33
            self._source_failed(source, stats, error)
        finally:
            self.stats.add(stats)
        self._on_event(SourceFinished(stats))

    def _source_failed(self, source: Source, stats: IndexStats, error: Exception) -> None:
        stats.error_count += 1
        log.warning("%s: %s", display(source.location), error)

    def _read(self, source: Source, listing: Listing, stats: IndexStats) -> None:
        if not listing.complete:
            stats.error_count += 1
            log.warning("%s: %s", display(source.location), listing.reason)
        known = self._setup.catalog.resources.known(self._store.id)
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
        with self._crew(source, work, known) as results:
            for done in range(len(work)):
                result = self._next(results)
                self._on_event(DocumentStarted(result.item.uri, done, len(work)))
                self._account(source, result, stats)
                if self._batch.due:
                    self._commit()
        self._commit()

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
            self._batch.add(result.document)
            chunks = len(result.document.chunks)
            stats.docs_indexed += 1
            stats.chunks_written += chunks
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
        self._batch = _Batch()
        if not documents:
            return
        if self._embedder_id is None and any(d.vectors is not None for d in documents):
            handle = self._setup.handle()
            assert handle is not None, "vectors come from an embedder"
            self._embedder_id = self._session.bind_embedder(
                handle.card, provider=handle.provider, model=handle.model
            )
        self._session.commit(documents, embedder_id=self._embedder_id)

    def _save_finished(self, results: queue.Queue[Result]) -> None:
        """Commit what is complete when the run is cancelled."""
        while True:
            try:
                result = results.get_nowait()
            except queue.Empty:
                break
            if result.document is not None:
                self._batch.add(result.document)
        self._commit()

    def _sweep(
        self, source: Source, listing: Listing, stats: IndexStats, *, observable: bool
    ) -> None:
        known = self._setup.catalog.resources.known(self._store.id)
        found = sweep(source, listing, known, observable=observable)
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
    return source.root is not None and not Path(source.root).exists()
