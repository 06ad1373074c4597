"""What the application's longer works answer; ``to_json`` is the shape of the command line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from localdb_core.domain.citation import StoreRef
from localdb_core.domain.errors import LocaldbError
from localdb_core.domain.events import IndexStats
from localdb_core.domain.store import Store, StoreStats

Json = dict[str, Any]  # Any: JSON values


@dataclass(frozen=True, slots=True)
class IndexReport:
    """One store's index run. ``error`` is what ended it early; what was committed stays."""

    store: Store
    job_id: str | None
    stats: IndexStats
    error: LocaldbError | None = None

    @property
    def idle(self) -> bool:
        """Whether there was no source to index."""
        return self.error is None and self.stats.sources_count == 0

    def to_json(self, *, strict: bool = False) -> Json:
        """The object of ``index --json``; ``strict`` counts failed documents as an error."""
        if self.idle:
            return {"status": "ok", "message": "no sources to index"}
        failed = self.error is not None or (strict and self.stats.error_count > 0)
        return {
            "status": "error" if failed else "ok",
            **counters(self.stats),
            "job_id": self.job_id,
        }


def counters(stats: IndexStats) -> Json:
    """The counters of a run as ``index --json`` names them."""
    return {
        "docs_indexed": stats.docs_indexed,
        "docs_skipped": stats.docs_skipped,
        "chunks_written": stats.chunks_written,
        "unsupported": stats.unsupported_format_count,
        "errors": stats.error_count,
        "docs_deleted": stats.docs_deleted,
        "docs_prunable": stats.docs_prunable,
    }


class PlanAction(StrEnum):
    """What an index run would do with one item."""

    ADD = "add"
    REPARSE = "reparse"
    SKIP = "skip"
    PRUNE = "prune"


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One line of ``index --plan``."""

    store: Store
    action: PlanAction
    uri: str
    reason: str

    def to_json(self) -> Json:
        """``{store, action, uri, reason}``; the store by its name."""
        return {
            "store": self.store.name,
            "action": str(self.action),
            "uri": self.uri,
            "reason": self.reason,
        }


def plan_counts(rows: Iterable[PlanRow]) -> dict[str, int]:
    """How many rows each action has, every action named."""
    counts = {str(action): 0 for action in PlanAction}
    for row in rows:
        counts[str(row.action)] += 1
    return counts


class EngineState(StrEnum):
    """How an index or the embedder is."""

    READY = "ready"
    BUILDING = "building"
    DIRTY = "dirty"
    STALE = "stale"
    MISSING = "missing"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """The configured embedder; the facts are None when it could not be loaded."""

    provider: str
    model: str
    fingerprint: str | None = None
    dimension: int | None = None
    encoding: str | None = None
    state: EngineState = EngineState.READY

    def to_json(self) -> Json:
        """The object of ``engine list --json``."""
        return {
            "provider": self.provider,
            "model": self.model,
            "fingerprint": self.fingerprint,
            "dimension": self.dimension,
            "encoding": self.encoding,
            "state": str(self.state),
        }


@dataclass(frozen=True, slots=True)
class IndexState:
    """One leg of one store. ``set_by`` is ``config`` or ``store``; None is unknown."""

    store: StoreRef
    leg: str
    engine: str
    set_by: str = "config"
    entries: int | None = None
    chunks: int = 0
    size_bytes: int | None = None
    generation: int = 0
    state: EngineState = EngineState.READY

    def to_json(self) -> Json:
        """The object of ``engine list --json``."""
        return {
            "store": self.store.to_json(),
            "leg": self.leg,
            "engine": self.engine,
            "set_by": self.set_by,
            "entries": self.entries,
            "chunks": self.chunks,
            "size_bytes": self.size_bytes,
            "generation": self.generation,
            "state": str(self.state),
        }


@dataclass(frozen=True, slots=True)
class EngineReport:
    """The embedder, and two indexes for each store; no embedder is None."""

    embedder: EmbedderState | None
    indexes: tuple[IndexState, ...] = ()

    def to_json(self) -> Json:
        """The object of ``engine list --json``."""
        return {
            "embedder": None if self.embedder is None else self.embedder.to_json(),
            "indexes": [index.to_json() for index in self.indexes],
        }


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """One index made again from the catalog."""

    store: StoreRef
    leg: str
    engine: str
    entries: int
    duration_ms: int = 0

    def to_json(self) -> Json:
        """One object of ``engine rebuild --json``."""
        return {
            "store": self.store.to_json(),
            "leg": self.leg,
            "engine": self.engine,
            "entries": self.entries,
            "duration_ms": self.duration_ms,
        }


@dataclass(frozen=True, slots=True)
class StoreRow:
    """A store in ``status``; ``stats`` is None when they cannot be had."""

    store: Store
    stats: StoreStats | None = None

    def to_json(self) -> Json:
        """The object of ``status --json``."""
        return {
            "name": self.store.name,
            "visibility": self.store.visibility,
            "backend": self.store.backend,
            "document_count": self.stats.document_count if self.stats else None,
            "chunk_count": self.stats.chunk_count if self.stats else None,
        }


@dataclass(frozen=True, slots=True)
class TableSize:
    """How much room one table of the database takes."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class DatabaseInfo:
    """The database file; sizes in bytes, None when unknown."""

    path: str
    exists: bool = True
    size: int | None = None
    wal_size: int | None = None
    bytes_per_chunk: int | None = None
    largest_tables: tuple[TableSize, ...] = ()

    @property
    def total_size(self) -> int | None:
        """File and write-ahead log together."""
        return None if self.size is None else self.size + (self.wal_size or 0)

    def to_json(self) -> Json:
        """The object of ``status --json``."""
        return {
            "path": self.path,
            "exists": self.exists,
            "size_bytes": self.size,
            "wal_size_bytes": self.wal_size,
            "total_size_bytes": self.total_size,
            "bytes_per_chunk": self.bytes_per_chunk,
            "largest_tables": [
                {"name": table.name, "bytes": table.size} for table in self.largest_tables
            ],
        }


EMBEDDED = "not running (embedded mode)"


@dataclass(frozen=True, slots=True)
class StatusReport:
    """What ``status`` shows; ``daemon`` is the text after ``daemon:``."""

    stores: tuple[StoreRow, ...]
    database: DatabaseInfo
    daemon: str = EMBEDDED
    notices: tuple[str, ...] = field(default=())

    def to_json(self) -> Json:
        """The object of ``status --json``."""
        return {
            "daemon": self.daemon,
            "stores": [row.to_json() for row in self.stores],
            "database": self.database.to_json(),
            "notices": list(self.notices),
        }
