"""Progress of an index run: a closed set of events (spec §3.6)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """What became of one item."""

    INDEXED = "indexed"
    SKIPPED = "skipped"
    UNSUPPORTED = "unsupported"
    ERROR = "error"


@dataclass(slots=True)
class IndexStats:
    """Counters of a run or of one source; the sums of L-ING-30."""

    docs_seen: int = 0
    docs_indexed: int = 0
    docs_skipped: int = 0
    docs_deleted: int = 0
    docs_prunable: int = 0
    chunks_written: int = 0
    unsupported_format_count: int = 0
    error_count: int = 0
    sources_count: int = 0

    def add(self, other: IndexStats) -> None:
        """Add another counter set to this one."""
        for name, value in asdict(other).items():
            setattr(self, name, getattr(self, name) + value)

    def to_json(self) -> dict[str, int]:
        """All counters by name."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SourceStarted:
    """A source's turn has come."""

    source_id: str
    location: str

    def to_json(self) -> dict[str, Any]:
        """The wire form."""
        return {"type": "source_started", "source_id": self.source_id, "location": self.location}


@dataclass(frozen=True, slots=True)
class Discovered:
    """How many items the source offers."""

    total: int

    def to_json(self) -> dict[str, Any]:
        """The wire form."""
        return {"type": "discovered", "total": self.total}


@dataclass(frozen=True, slots=True)
class DocumentStarted:
    """Work on one item begins; ``index`` counts from 0."""

    uri: str
    index: int
    total: int

    def to_json(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "type": "document_started",
            "uri": self.uri,
            "index": self.index,
            "total": self.total,
        }


@dataclass(frozen=True, slots=True)
class DocumentFinished:
    """One item is done, for better or worse."""

    uri: str
    outcome: Outcome
    chunks: int = 0

    def to_json(self) -> dict[str, Any]:
        """The wire form."""
        outcome: dict[str, Any] = {"outcome": str(self.outcome)}
        if self.outcome is Outcome.INDEXED:
            outcome["chunks"] = self.chunks
        return {"type": "document_finished", "uri": self.uri, "outcome": outcome}


@dataclass(frozen=True, slots=True)
class SourceFinished:
    """A source is done; its counters."""

    stats: IndexStats = field(default_factory=IndexStats)

    def to_json(self) -> dict[str, Any]:
        """The wire form."""
        result = self.stats.to_json()
        result.pop("sources_count")
        return {"type": "source_finished", "result": result}


Event = SourceStarted | Discovered | DocumentStarted | DocumentFinished | SourceFinished
