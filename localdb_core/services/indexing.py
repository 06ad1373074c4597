"""Index runs and their plans."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from localdb_core.domain.errors import (
    InternalError,
    InvalidConfig,
    JobCancelled,
    LocaldbError,
    StaleIndex,
    UnusableEmbedder,
)
from localdb_core.domain.events import Event, IndexStats
from localdb_core.domain.ids import policy_version
from localdb_core.domain.reports import IndexReport, PlanAction, PlanRow
from localdb_core.domain.store import Source, Store
from localdb_core.host.lazy import build
from localdb_core.pipeline.chunk import OwnedChunker
from localdb_core.pipeline.parse import ParserRunner
from localdb_core.pipeline.plan import decide, sweep, unique
from localdb_core.pipeline.pool import ParserPool
from localdb_core.pipeline.prepare import EmbedderHandle
from localdb_core.pipeline.presets import TokenMeasure
from localdb_core.pipeline.run import StoreRun
from localdb_core.pipeline.setup import Setup
from localdb_core.search.embedders import Embedders
from localdb_core.services.components import Components
from localdb_core.storage.engines import LEGS, Engines
from localdb_core.storage.session import WriteSession

log = logging.getLogger("localdb.index")

OnStoreEvent = Callable[[Store, Event], None]


class _Once:
    """The embedder of a run, made by whichever thread comes first, and the same for all."""

    def __init__(self, make: Callable[[], EmbedderHandle | None]) -> None:
        self._make = make
        self._made: list[EmbedderHandle | None] = []
        self._lock = threading.Lock()

    def __call__(self) -> EmbedderHandle | None:
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


@dataclass
class Indexing:
    """Runs indexing for stores, one after the other."""

    components: Components
    engines: Engines
    embedders: Embedders
    _said: bool = False

    def run(
        self,
        stores: Sequence[Store],
        *,
        source: Source | None,
        delete: bool,
        on_event: OnStoreEvent,
        cancel: threading.Event,
    ) -> list[IndexReport]:
        """Index each store; a store's failure is in its report and does not stop the others.

        After a cancel the remaining stores are left out.
        """
        reports: list[IndexReport] = []
        for store in stores:
            report = self._store(store, source, delete, on_event, cancel)
            reports.append(report)
            if isinstance(report.error, JobCancelled):
                break
        return reports

    def _store(
        self,
        store: Store,
        source: Source | None,
        delete: bool,
        on_event: OnStoreEvent,
        cancel: threading.Event,
    ) -> IndexReport:
        catalog = self.engines.catalog
        sources = [source] if source is not None else catalog.sources.list(store.id)
        if not sources:
            return IndexReport(store, None, IndexStats())
        job_id = catalog.jobs.start(store.id, None if source is None else source.id)
        stats = IndexStats()
        error: LocaldbError | None = None
        try:
            setup = self._setup(store)
            with WriteSession(self.engines, store) as session:
                if session.store.policy_version != setup.policy_version:
                    catalog.stores.set_policy(store.id, setup.policy, setup.policy_version)
                run = StoreRun(
                    setup,
                    session,
                    delete=delete,
                    on_event=lambda event: on_event(store, event),
                    cancel=cancel,
                )
                stats = run.stats
                for item in sources:
                    run.source(item)
        except LocaldbError as failure:
            error = failure
        except BaseException as failure:
            reason = f"{type(failure).__name__}: {failure}"
            catalog.jobs.finish(job_id, stats, InternalError(reason))
            raise
        catalog.jobs.finish(job_id, stats, error)
        return IndexReport(store, job_id, stats, error)

    def plan(self, stores: Sequence[Store], source: Source | None) -> list[PlanRow]:
        """What a run would do with each item, without reading any."""
        rows: list[PlanRow] = []
        for store in stores:
            known = self.engines.catalog.resources.known(store.id)
            policy, versions = policy_version(self.components.policy()), self._versions()
            sources = (
                [source] if source is not None else self.engines.catalog.sources.list(store.id)
            )
            for item_source in sources:
                kind, observable = self.components.source_kind(item_source.kind)
                listing = kind.list(item_source, self.components.chain.accepts)
                for item in unique(listing.items):
                    decision = decide(
                        item,
                        known.get(item.uri),
                        policy=policy,
                        versions=versions,
                        embeds=self._embeds(),
                    )
                    rows.append(PlanRow(store, decision.action, item.uri, decision.reason))
                gone = sweep(item_source, listing, known, versions=versions, observable=observable)
                rows += [
                    PlanRow(
                        store,
                        PlanAction.SKIP if gone.kept_because else PlanAction.PRUNE,
                        uri,
                        f"kept: {gone.kept_because}"
                        if gone.kept_because
                        else "no longer at source",
                    )
                    for uri in gone.gone
                ]
        return rows

    def _setup(self, store: Store) -> Setup:
        components = self.components
        for leg in LEGS:  # a written engine that is missing ends the run before it starts
            self.engines.engine(store, leg)
        self._refuse_other_embedder(store)
        policy = components.policy()
        chain = components.chain
        return Setup(
            catalog=self.engines.catalog,
            policy=policy,
            policy_version=policy_version(policy),
            versions=self._versions(),
            accepts=chain.accepts,
            chunkers=self._chunkers(),
            source_kind=components.source_kind,
            runner=lambda pool: self._runner(pool),
            handle=_Once(lambda: self._handle(store)),
            embeds=self._embeds(),
        )

    def _embeds(self) -> bool:
        wanted = self.components.config.defaults.indexing.embedding
        return self.components.embedder_spec(wanted.provider) is not None

    def _runner(self, pool: ParserPool) -> ParserRunner:
        return ParserRunner(
            self.components.chain, pool, context=self.components.context, build=build
        )

    def _versions(self) -> dict[str, str]:
        return {o.full_id: o.value.version for o in self.components.host.registry.parsers}

    def _chunkers(self) -> tuple[OwnedChunker, ...]:
        return tuple(
            (owned.value, build(owned, self.components.context(owned.plugin)))
            for owned in self.components.host.registry.chunkers
        )

    def _handle(self, store: Store) -> EmbedderHandle | None:
        """The configured embedder; None, said once, when no embedder plugin is there (S-13)."""
        wanted = self.components.config.defaults.indexing.embedding
        owned = self.components.embedder_spec(wanted.provider)
        if owned is None:
            if not self._said:
                log.warning(
                    "no embedder is installed: documents are searched by their words only; "
                    "for search by meaning: pip install localdb-%s",
                    wanted.provider,
                )
            self._said = True
            return None
        try:
            embedder = self.embedders.get(wanted.provider, wanted.model)
        except InvalidConfig as error:  # the run's trouble: every document would say the same
            raise UnusableEmbedder(error.bare) from error
        self._refuse_fingerprint(store, embedder.card.fingerprint)
        return EmbedderHandle(
            embedder,
            provider=wanted.provider,
            model=wanted.model,
            callers=owned.value.callers,
            measure=TokenMeasure(embedder),
        )

    def _refuse_other_embedder(self, store: Store) -> None:
        """Refuse at once when the config names another embedder than the store's (L-EMB-30)."""
        stored = self.engines.catalog.stores.embedder(store.id)
        wanted = self.components.config.defaults.indexing.embedding
        if stored is None or (stored.provider, stored.model) == (wanted.provider, wanted.model):
            return
        if self.components.embedder_spec(wanted.provider) is not None:
            embedder = self.embedders.get(wanted.provider, wanted.model)
            self._refuse_fingerprint(store, embedder.card.fingerprint)

    def _refuse_fingerprint(self, store: Store, fingerprint: str) -> None:
        stored = self.engines.catalog.stores.embedder(store.id)
        if stored is None or stored.fingerprint == fingerprint:
            return
        wanted = self.components.config.defaults.indexing.embedding
        raise StaleIndex(
            f"store {store.name!r} was embedded with {stored.provider} {stored.model} "
            f"({stored.fingerprint[:12]}), the config says {wanted.provider} {wanted.model} "
            f"({fingerprint[:12]}); set it back, or index into a new store: localdb store add NAME"
        )
