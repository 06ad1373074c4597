"""Each store: its two indexes, its embedder, its sources."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from localdb_core.config.model import Embedding
from localdb_core.domain.errors import InvalidConfig, LocaldbError, ModelMissing
from localdb_core.domain.health import Check
from localdb_core.domain.reports import EngineState
from localdb_core.domain.store import Source, Store
from localdb_core.host.host import Host
from localdb_core.host.lazy import build
from localdb_core.plugin import Embedder
from localdb_core.search.embedders import Embedders
from localdb_core.services.components import Components
from localdb_core.services.doctor.collect import collected, of_error
from localdb_core.services.doctor.setup import Setup
from localdb_core.services.engines import EngineService
from localdb_core.storage.catalog import Catalog
from localdb_core.storage.engines import LEGS, Engines, LegName
from localdb_core.storage.readers import IndexReaders

_SAID: Final = {
    EngineState.BUILDING: "is being written by another process",
    EngineState.DIRTY: "was being written when a run was interrupted",
    EngineState.STALE: "is behind the catalog",
    EngineState.MISSING: "is not there",
    EngineState.BROKEN: "cannot be read",
}


def checks(host: Host, found: Setup) -> Iterator[Check]:
    """Nothing when there is no database, or none that can be read."""
    if found.config is None or found.paths is None or not os.path.exists(found.paths.database):
        return
    components = Components(found.config, found.paths, lambda: host)
    with closing(Catalog(found.paths.data, readonly=True)) as catalog:
        engines = Engines(
            catalog,
            components,
            context=lambda plugin: components.context(plugin),
            build=build,
        )
        with closing(IndexReaders(engines)) as readers:
            service = EngineService(components, engines, readers, Embedders(_no_model))
            look = _Look(catalog, service, found.config.defaults.indexing.embedding)
            for store in catalog.stores.list():
                yield from look.at(store)


def _no_model(provider: str, model: str) -> Embedder:
    """Nothing here may load a model (L-EMB-24)."""
    raise ModelMissing(f"{provider} {model} is not loaded by doctor")


@dataclass
class _Look:
    """Looks at one store after the other."""

    catalog: Catalog
    engines: EngineService
    embedding: Embedding

    def at(self, store: Store) -> Iterator[Check]:
        """Every check of one store; a broken index does not hide its sources."""
        name = f"store {store.name}"
        for leg in LEGS:
            yield from collected(f"{name}, {leg} index", self._index, store, leg)
        yield from collected(f"{name}, embedder", self._embedder, store)
        yield from collected(f"{name}, sources", self._sources, store)

    def _index(self, store: Store, leg: LegName) -> Iterator[Check]:
        yield self._state(f"store {store.name}, {leg} index", store, leg)

    def _state(self, name: str, store: Store, leg: LegName) -> Check:
        try:
            self.engines.components.engine(store, leg)
        except InvalidConfig as error:
            return of_error(name, error)
        state = self.engines.index_state(store, leg, opened=False)
        if state.state is EngineState.READY:
            return Check.ok(name, f"{state.engine}, {state.entries} entries")
        said = f"{state.engine} {_SAID[state.state]}"
        if state.state is EngineState.BUILDING:
            return Check.ok(name, said)
        remedy = f"localdb engine rebuild {leg} --store {store.name}"
        said += "; the built-in index answers"
        if state.state is EngineState.BROKEN:
            return Check.fail(name, said, remedy)
        return Check.warn(name, said, remedy)

    def _embedder(self, store: Store) -> Iterator[Check]:
        stored = self.catalog.stores.embedder(store.id)
        if stored is None:
            return
        name = f"store {store.name}, embedder"
        said = f"its vectors are of {stored.provider} {stored.model}"
        try:
            known = self.engines.components.embedder_spec(stored.provider)
        except LocaldbError as error:
            yield of_error(name, error)
            return
        if known is None:
            yield Check.warn(
                name,
                f"{said}, which is not installed: it is searched by words only",
                f"pip install localdb-{stored.provider}",
            )
        elif (stored.provider, stored.model) != (self.embedding.provider, self.embedding.model):
            yield Check.fail(
                name,
                f"{said}, the config says {self.embedding.provider} {self.embedding.model}: "
                "it can be searched, not indexed",
                "set defaults.indexing.embedding back, or index into a new store: "
                "localdb store add NAME",
            )
        else:
            yield Check.ok(name, said)

    def _sources(self, store: Store) -> Iterator[Check]:
        name = f"store {store.name}, sources"
        sources = self.catalog.sources.list(store.id)
        kinds = {owned.value.kind for owned in self.engines.components.host.registry.sources}
        faults = [fault for source in sources if (fault := _fault(name, source, kinds))]
        yield from faults
        if not faults:
            yield Check.ok(name, f"{len(sources)}, all there" if sources else "none yet")


def _fault(name: str, source: Source, kinds: set[str]) -> Check | None:
    """What is wrong with one source."""
    if source.kind not in kinds:
        remedy = "pip install localdb-web" if source.kind in ("url", "feed") else ""
        return Check.warn(name, f"no plugin reads the {source.kind} {source.location}", remedy)
    if source.root is None:
        return None
    gone = f"put it back, or: localdb source remove {source.id}"
    try:
        with os.scandir(source.root) as entries:
            next(entries, None)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Check.warn(name, f"{source.root} cannot be read: {reason}", gone)
    if not Path(source.root).is_absolute():
        return Check.warn(
            name,
            f"{source.root} depends on the folder in which localdb is started",
            f"localdb source remove {source.id}, then add it with its whole path",
        )
    return None
