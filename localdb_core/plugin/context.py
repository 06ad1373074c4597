"""What a component is told about its surroundings when it is built or called."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from localdb_core.domain.chunk import Chunk
from localdb_core.domain.errors import JobCancelled, PluginError
from localdb_core.domain.query import SearchRequest, SearchResult
from localdb_core.domain.resource import Resource
from localdb_core.domain.store import Store, StoreStats
from localdb_core.plugin.secrets import Secret
from localdb_core.plugin.specs import EmbedderCard

if TYPE_CHECKING:
    import sqlite3


class Progress(Protocol):
    """Called by long work: how much is done, of how much (None when unknown)."""

    def __call__(self, done: int, total: int | None = None, /) -> None:
        """Report; costs next to nothing, may be called for every page."""
        ...


def no_progress(done: int, total: int | None = None, /) -> None:
    """A Progress that says nothing."""


@dataclass(frozen=True)
class PluginContext:
    """What every component's ``target`` is called with.

    Attributes:
        plugin: the plugin's name.
        config: its validated config section (the model named in ``PluginInfo.config``),
            or None when it names no model.
        data_dir: a folder of its own; create it when you need it.
        cache_dir: the same for things that can be made again.
        log: goes to stderr, tagged with the plugin's name.
        connect: how :meth:`database` is opened; None without ``PluginInfo.migrations``.
    """

    plugin: str
    config: Any = None  # Any: the plugin's own pydantic model
    data_dir: Path = Path()
    cache_dir: Path = Path()
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("localdb.plugin"))
    connect: Callable[[], sqlite3.Connection] | None = None

    def database(self) -> sqlite3.Connection:
        """A new connection to the plugin's own SQLite file, at the head of its migrations.

        The file is made when there is none; a file of another version is refused, and
        ``localdb db migrate`` is what mends that. Foreign keys are on and there are no
        implicit transactions; close it after use, since nobody can migrate while it is open.

        Raises:
            SchemaMismatch: the file is of another version, or damaged.
            PluginError: ``PluginInfo.migrations`` is missing or its package is at fault, or
                this is a worker process, which has no database.
            StorageUnavailable, RuntimeStateLocked, InternalError: as for the catalog.
        """
        if self.connect is None:
            raise PluginError(
                self.plugin, stage="database", reason="there is none here: no PLUGIN.migrations"
            )
        return self.connect()


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """The entry of the config's ``providers[]`` that an embedder is to use.

    Attributes:
        name: what the user calls it.
        kind: the embedder it configures.
        base_url: where the service is, if not at its usual place.
        api_key: a reference, read when it is asked for.
    """

    name: str
    kind: str
    base_url: str | None = None
    api_key: Secret | None = None


@dataclass(frozen=True)
class EmbedderContext(PluginContext):
    """What an embedder's ``target`` is called with.

    Attributes:
        model: the configured model name, or the path of a local folder.
        models_dir: where downloaded models live.
        provider: the first of the config's ``providers[]`` that has the configured
            provider's name, else the first of its kind; None when there is none (D-13).
    """

    model: str = ""
    models_dir: Path = Path()
    provider: ProviderSettings | None = None


@dataclass(frozen=True)
class IndexContext(PluginContext):
    """What an index's ``target`` is called with.

    Attributes:
        folder: this store's folder, ``<data>/index/<plugin>/<store id>/``; may not exist yet.
        store_id: the store it serves.
        language: BCP 47 tag of most of the store's text, or None.
        card: the embedder's card; None for a sparse leg.
        readonly: opened to answer queries; must not write into ``folder``.
    """

    folder: Path = Path()
    store_id: str = ""
    language: str | None = None
    card: EmbedderCard | None = None
    readonly: bool = False


@dataclass(frozen=True)
class CheckContext(PluginContext):
    """What ``localdb_checks`` is told.

    Attributes:
        model: the configured model, if this plugin's embedder is the configured one.
        models_dir: where downloaded models live.
    """

    model: str = ""
    models_dir: Path = Path()


class StoreService(Protocol):
    """Stores in scope."""

    def list(self) -> Sequence[Store]:
        """Every store in scope, ordered by name."""
        ...

    def resolve(self, name_or_id: str) -> Store:
        """The store with this id, else with this name. Raises StoreNotFound."""
        ...

    def stats(self, store: Store) -> StoreStats:
        """Counts of one store."""
        ...


class DocumentService(Protocol):
    """Reading what is indexed."""

    def find(self, resource_id: str, stores: Sequence[Store]) -> tuple[Store, Resource] | None:
        """The first of these stores that holds the resource, and the resource."""
        ...

    def text(self, store: Store, resource_id: str) -> str:
        """The document's text, block texts joined by a blank line."""
        ...

    def chunks(
        self, store: Store, resource_id: str, *, offset: int = 0, limit: int | None = None
    ) -> list[Chunk]:
        """Chunks in storage order, all of them or one page."""
        ...

    def position(
        self,
        store: Store,
        resource_id: str,
        *,
        chunk_id: str | None = None,
        block_seq: int | None = None,
    ) -> int | None:
        """Where in storage order a chunk stands, or the first at or after a block."""
        ...

    def chunk_count(self, store: Store, resource_id: str) -> int:
        """How many chunks the resource has."""
        ...

    def page(
        self, store: Store, *, source_id: str | None, offset: int, limit: int
    ) -> tuple[list[Resource], int]:
        """Resources ordered by URI, one page, and how many there are in all."""
        ...


class SearchService(Protocol):
    """Searching."""

    def search(self, request: SearchRequest) -> SearchResult:
        """Hybrid search over the stores in scope. Raises StoreNotFound, InvalidRequest."""
        ...


@dataclass(frozen=True)
class AppContext:
    """The services of a running application, limited to the caller's store scope."""

    stores: StoreService
    documents: DocumentService
    search: SearchService
    version: str = ""


class CancelToken:
    """Whether whoever asked still wants the answer; any thread may look.

    for batch in batches:
        cancel.check()
        work_on(batch)
    """

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def cancelled(self) -> bool:
        """Nobody waits for the answer any more."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise JobCancelled if nobody waits any more."""
        if self._event.is_set():
            raise JobCancelled("the call was cancelled")

    def wait(self, seconds: float) -> bool:
        """Sleep, but not longer than anybody waits; whether the call was cancelled."""
        return self._event.wait(seconds)

    def cancel(self) -> None:
        """Say that nobody waits any more."""
        self._event.set()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call while it is being answered; by itself it is never cancelled and silent."""

    cancel: CancelToken = field(default_factory=CancelToken)
    progress: Progress = no_progress


@dataclass(frozen=True)
class ToolContext(PluginContext):
    """What the ``target`` of a tool or resource is called with, once per server.

    Attributes:
        app: the services; they already respect the caller's ``--store`` scope.
        call: the call that the thread which asks is answering.
    """

    app: AppContext | None = None
    call: Callable[[], ToolCall] = ToolCall

    @property
    def cancel(self) -> CancelToken:
        """Of the call at hand; take it before you hand work to a thread of your own."""
        return self.call().cancel

    @property
    def progress(self) -> Progress:
        """Of the call at hand, as :attr:`cancel`. Raises JobCancelled once it is cancelled."""
        return self.call().progress
