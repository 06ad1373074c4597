"""Index runs and their plans."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

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
from localdb_core.domain.reports import IndexReport, PlanRow
from localdb_core.domain.store import Source, Store
from localdb_core.host.lazy import build
from localdb_core.pipeline.chunk import OwnedChunker
from localdb_core.pipeline.parse import ParserRunner
from localdb_core.pipeline.plan import EMPTIED, ZERO_SEEN, Current
from localdb_core.pipeline.pool import ParserPool
from localdb_core.pipeline.prepare import EmbedderHandle
from localdb_core.pipeline.presets import TokenMeasure, presets_with
from localdb_core.pipeline.preview import kept, planned
from localdb_core.pipeline.recipe import Cutting, chain_digest
from localdb_core.pipeline.run import StoreRun
from localdb_core.pipeline.setup import Setup
from localdb_core.plugin import EmbedderCard
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
        confirmed: Collection[PlanRow] = (),
    ) -> list[IndexReport]:
        """Index each store; a store's failure is in its report and does not stop the others.

        After a cancel the remaining stores are left out.
        """
        reports: list[IndexReport] = []
        for store in stores:
            report = self._store(store, source, delete, on_event, cancel, confirmed)
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
        confirmed: Collection[PlanRow],
    ) -> IndexReport:
        catalog = self.engines.catalog
        sources = [source] if source is not None else catalog.sources.list(store.id)
        if not sources:
            return IndexReport(store, None, IndexStats())
        job_id = catalog.jobs.start(store.id, None if source is None else source.id)
        stats = IndexStats()
        error: LocaldbError | None = None
        try:
            self._refuse_other_embedder(store)
            setup = self._setup(store, chunkers=self._chunkers())
            version = setup.now.policy_version
            with WriteSession(self.engines, store) as session:
                if session.store.policy_version != version:
                    catalog.stores.set_policy(store.id, setup.policy, version)
                run = StoreRun(
                    setup,
                    session,
                    delete=delete,
                    on_event=lambda event: on_event(store, event),
                    cancel=cancel,
                    confirmed=[row.uri for row in confirmed if row.store.id == store.id],
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

    def plan(
        self, stores: Sequence[Store], source: Source | None, *, delete: bool
    ) -> list[PlanRow]:
        """What a run would do with each item; nothing is written, parsed or embedded.

        Raises InvalidConfig where the run would.
        """
        rows: list[PlanRow] = []
        for store in stores:
            setup = self._setup(store, chunkers=())
            self._doubt_embedder(store)
            sources = self.engines.catalog.sources.list(store.id)
            survey = setup.survey(store)
            for item in sources if source is None else [source]:
                rows += planned(store, item, survey, setup, delete=delete)
        return rows

    def unseen(self, stores: Sequence[Store], source: Source | None) -> list[PlanRow]:
        """Documents kept only because nothing of their source, or of their file, is left."""
        rows = self.plan(stores, source, delete=True)
        return [row for row in rows if row.reason in (kept(ZERO_SEEN), EMPTIED)]

    def _setup(self, store: Store, *, chunkers: tuple[OwnedChunker, ...]) -> Setup:
        components = self.components
        for leg in LEGS:  # a written engine that is missing ends the run before it starts
            self.engines.engine(store, leg)
        policy = components.policy()
        return Setup(
            catalog=self.engines.catalog,
            policy=policy,
            now=self._current(store, policy_version(policy)),
            accepts=components.chain.accepts,
            chunkers=chunkers,
            source_kind=components.source_kind,
            runner=lambda pool: self._runner(pool),
            handle=_Once(lambda: self._handle(store)),
            max_file_mib=components.config.defaults.indexing.max_file_mib,
        )

    def _current(self, store: Store, policy: str) -> Current:
        components = self.components
        registry, chain = components.host.registry, components.chain
        overrides = components.config.defaults.indexing.chunking.preset_overrides
        stored, embeds = self.engines.catalog.stores.embedder(store.id), self._embeds()
        return Current(
            policy_version=policy,
            chain=chain,
            digest=chain_digest(chain),
            versions={owned.full_id: owned.value.version for owned in registry.parsers},
            cutting=Cutting(components.chunkers, presets_with(overrides)),
            measure=stored.fingerprint if embeds and stored is not None else None,
            embeds=embeds,
        )

    def _embeds(self) -> bool:
        wanted = self.components.config.defaults.indexing.embedding
        return self.components.embedder_spec(wanted.provider) is not None

    def _runner(self, pool: ParserPool) -> ParserRunner:
        return ParserRunner(
            self.components.chain, pool, context=self.components.context, build=build
        )

    def _chunkers(self) -> tuple[OwnedChunker, ...]:
        return tuple(
            (owned.value, build(owned, self.components.context(owned.plugin)))
            for owned in self.components.chunkers
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
        return EmbedderHandle(
            embedder,
            self._card(store, embedder.card),
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
            self._card(store, embedder.card)

    def _doubt_embedder(self, store: Store) -> None:
        """Say what a plan cannot tell without loading a model."""
        stored = self.engines.catalog.stores.embedder(store.id)
        wanted = self.components.config.defaults.indexing.embedding
        if stored is None or self.components.goes_on(stored.provider, stored.model):
            return
        log.warning(
            "store %r was embedded with %s %s, the config says %s %s: index will refuse that, "
            "unless both make the same vectors",
            store.name,
            stored.provider,
            stored.model,
            wanted.provider,
            wanted.model,
        )

    def _card(self, store: Store, card: EmbedderCard) -> EmbedderCard:
        """The card the store keeps the vectors under. Raises StaleIndex for another model."""
        stored = self.engines.catalog.stores.embedder(store.id)
        if stored is None or stored.fingerprint == card.fingerprint:
            return card
        wanted = self.components.config.defaults.indexing.embedding
        shape = (stored.dimension, stored.encoding)
        if (card.dimension, card.encoding) == shape and self.components.goes_on(
            stored.provider, stored.model, another=True
        ):
            return replace(card, fingerprint=stored.fingerprint)
        raise StaleIndex(
            f"store {store.name!r} was embedded with {stored.provider} {stored.model} "
            f"({stored.fingerprint[:12]}), the config says {wanted.provider} {wanted.model} "
            f"({card.fingerprint[:12]}); set it back, or index into a new store: "
            "localdb store add NAME"
        )
