"""Stores and sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from localdb_core.domain.citation import StoreRef
from localdb_core.domain.errors import InvalidRequest
from localdb_core.domain.ids import SourceId, StoreId

BACKEND = "sqlite"
TYPED = "typed"
"""Setting of a path source: its root as it was typed, when that was relative."""
INGESTOR_KINDS = {"path": "file", "url": "url", "feed": "feed"}


def check_store_name(name: str) -> str:
    """The name, if it obeys L-DOM-10. Raises InvalidRequest saying why not."""
    if not name:
        raise InvalidRequest("a store name must not be empty")
    if name in (".", ".."):
        raise InvalidRequest(f"a store cannot be called {name!r}")
    if "/" in name or "\\" in name:
        raise InvalidRequest(f"a store name must not contain '/' or '\\': {name!r}")
    return name


@dataclass(frozen=True, slots=True)
class Store:
    """A named collection of sources and their documents.

    ``index_dense`` and ``index_sparse`` are the store's own choice of index;
    None means what the config says.
    """

    id: StoreId
    name: str
    visibility: str = "private"
    backend: str = BACKEND
    policy_version: str = ""
    created_at: str = ""
    index_dirty: bool = False
    index_generation: int = 0
    index_dense: str | None = None
    index_sparse: str | None = None

    @property
    def ref(self) -> StoreRef:
        """Id and name, as citations carry them."""
        return StoreRef(self.id, self.name)


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Counts of one store."""

    document_count: int
    chunk_count: int


@dataclass(frozen=True, slots=True)
class Source:
    """Where documents of a store come from.

    ``root`` is set for ``path`` and absolute, ``url`` for ``url`` and ``feed``. An
    empty ``include`` means the default allowlist, worked out at each run (L-ING-12).
    """

    id: SourceId
    store_id: StoreId
    kind: str
    root: str | None = None
    url: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    preset: str = "prose"
    refresh: str | None = None
    created_at: str = ""
    settings: dict[str, Any] = field(default_factory=dict)  # Any: JSON values

    @property
    def location(self) -> str:
        """What a person calls it: the root or the URL."""
        return self.root or self.url or ""

    @property
    def typed(self) -> str:
        """What was typed when it was added; differs for a relative folder (L-ING-14)."""
        return str(self.settings.get(TYPED) or self.location)

    @property
    def ingestor_kind(self) -> str:
        """The name its resources carry (a ``path`` source makes ``file`` resources)."""
        return INGESTOR_KINDS.get(self.kind, self.kind)
