"""LocalDB: the one place where everything is put together."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from localdb_core.config.load import load_config
from localdb_core.config.model import Config
from localdb_core.config.paths import Paths, find_config
from localdb_core.config.plugins import selection_of
from localdb_core.config.scaffold import is_untouched, make_folders, write_config
from localdb_core.domain.events import Event
from localdb_core.domain.reports import IndexReport, PlanRow, StatusReport
from localdb_core.domain.store import Source, Store
from localdb_core.host.host import Host
from localdb_core.host.lazy import build
from localdb_core.host.registry import Registry
from localdb_core.host.selection import PluginSelection
from localdb_core.plugin import AppContext, ToolContext
from localdb_core.search.embedders import Embedders
from localdb_core.search.legs import Legs
from localdb_core.search.ranking import Rankers
from localdb_core.search.service import Search
from localdb_core.services.components import Components
from localdb_core.services.documents import Documents
from localdb_core.services.engines import EngineService
from localdb_core.services.indexing import Indexing, OnStoreEvent
from localdb_core.services.staleness import Staleness
from localdb_core.services.status import StatusService
from localdb_core.services.stores import Sources, Stores
from localdb_core.storage.catalog import Catalog
from localdb_core.storage.engines import Engines
from localdb_core.storage.readers import IndexReaders
from localdb_core.version import __version__

DEFAULT_STORE = "default"


def prepare(config_path: Path | None = None) -> tuple[Paths, Config]:
    """The config and its folders, made if they are missing; no database is touched.

    Raises InvalidConfig, StorageUnavailable.
    """
    path = find_config(config_path, os.environ)
    write_config(path)
    config = load_config(path)
    paths = Paths.of(path, config)
    paths.check_layout()
    make_folders(paths)
    return paths, config


class LocalDB:
    """An open localdb: config, catalog, plugins and what can be done with them.

    with LocalDB.open() as app:
        store = app.stores.add("notes")
        app.sources.add(store, "/home/me/notes")
        app.index([store])
        for citation in app.search.search(SearchRequest("lease")).citations:
            print(citation.uri)

    Plugins are loaded when something first needs one.
    """

    def __init__(
        self,
        config: Config,
        paths: Paths,
        *,
        host: Host | None = None,
        first_store: str | None = None,
    ) -> None:
        self.config = config
        self.paths = paths
        self.selection = PluginSelection() if host is None else host.selection
        self._components = Components(
            config, paths, lambda: Host.load(self.selection) if host is None else host
        )
        self.catalog = Catalog(paths.data, first_store=first_store)
        self._engines = Engines(
            self.catalog,
            self._components,
            context=lambda plugin: self._components.context(plugin),
            build=build,
        )
        self._readers = IndexReaders(self._engines)
        wanted = config.defaults.indexing.embedding
        self._embedders = Embedders(
            lambda p, m: self._components.build_embedder(p, m), (wanted.provider, wanted.model)
        )
        self._legs = Legs(self._engines, self._readers)
        self._rankers = Rankers(
            self._components.ranker,
            self._components.build_ranker,
            candidates=config.search.ranker_candidates,
            budget_ms=config.search.ranker_budget_ms,
        )
        self.stores = Stores(self.catalog, self._readers)
        self.sources = Sources(self.catalog, self._engines)
        self.documents = Documents(self.catalog)
        self.search = self._search(None)

    @classmethod
    def open(
        cls,
        config_path: Path | None = None,
        selection: PluginSelection | None = None,
        *,
        host: Host | None = None,
        seed: bool = False,
    ) -> Self:
        """Read the config and open the catalog; on the very first run make both.

        ``seed`` makes the first store along with a new database even if somebody has
        written the config by hand.

        Raises InvalidConfig, SchemaMismatch, StorageUnavailable.
        """
        paths, config = prepare(config_path)
        # L-CFG-24: only the generated config, or init, brings a store along, and only with
        # a new file: a default store that was removed stays away.
        seeded = seed or is_untouched(paths.config_file)
        first_store = DEFAULT_STORE if seeded else None
        app = cls(config, paths, host=host, first_store=first_store)
        if host is None:
            app.selection = selection or selection_of(config.plugins, os.environ)
        return app

    @property
    def host(self) -> Host:
        """The plugins, loaded now if they were not."""
        return self._components.host

    @property
    def registry(self) -> Registry:
        """Every component on offer."""
        return self.host.registry

    @cached_property
    def engines(self) -> EngineService:
        """Listing and rebuilding indexes."""
        return EngineService(self._components, self._engines, self._readers, self._embedders)

    def index(
        self,
        stores: Sequence[Store],
        *,
        source: Source | None = None,
        delete: bool = False,
        confirmed: Collection[PlanRow] = (),
        on_event: OnStoreEvent | None = None,
        cancel: threading.Event | None = None,
    ) -> list[IndexReport]:
        """Index the sources of these stores; nothing is deleted unless ``delete`` says so.

        ``confirmed``, from :meth:`unseen`, may go too, if still nothing of their source is
        seen and they are all that is missing, or if their file is still without text.
        Warns once per failed document on the logger ``localdb.index``.
        """

        def silent(store: Store, event: Event) -> None:
            return None

        return Indexing(self._components, self._engines, self._embedders).run(
            stores,
            source=source,
            delete=delete,
            on_event=on_event or silent,
            cancel=cancel or threading.Event(),
            confirmed=confirmed,
        )

    def unseen(self, stores: Sequence[Store], source: Source | None = None) -> list[PlanRow]:
        """Documents that ``delete`` leaves because nothing of their source or file is left."""
        return Indexing(self._components, self._engines, self._embedders).unseen(stores, source)

    def plan(
        self, stores: Sequence[Store], source: Source | None = None, *, delete: bool = False
    ) -> list[PlanRow]:
        """What :meth:`index` would do with each item; nothing is written or parsed."""
        indexing = Indexing(self._components, self._engines, self._embedders)
        return indexing.plan(stores, source, delete=delete)

    def status(self, stores: Sequence[Store]) -> StatusReport:
        """Counts, sizes and notices."""
        return StatusService(self._components, self.catalog, self._engines).report(stores)

    def services(self, scope: Sequence[Store] | None = None) -> AppContext:
        """What tools may use, limited to these stores; None is every store."""
        ids = None if scope is None else [store.id for store in scope]
        return AppContext(
            stores=Stores(self.catalog, self._readers, scope),
            documents=self.documents,
            search=self._search(ids),
            version=__version__,
        )

    def _search(self, scope: Sequence[str] | None) -> Search:
        return Search(
            self.catalog,
            self._legs,
            self._embedders,
            self._rankers,
            stale=Staleness(self._components, self.catalog).notices,
            scope=scope,
        )

    def tool_context(self, plugin: str, services: AppContext) -> ToolContext:
        """What a tool of this plugin is built with."""
        return ToolContext(**vars(self._components.context(plugin)), app=services)

    def close(self) -> None:
        """Close indexes, models and the catalog, in this order."""
        self._readers.close()
        self._embedders.close()
        self._rankers.close()
        self.catalog.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
