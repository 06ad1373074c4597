"""What state a database file is in, and what a migration did to it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from localdb_core.domain.errors import LocaldbError

Json = dict[str, Any]  # Any: JSON values


class FileState(StrEnum):
    """What may be done with a database file."""

    ABSENT = "uninitialized"
    CURRENT = "at head"
    BEHIND = "behind head"
    NEWER = "newer than this program"
    LEGACY = "older than the baseline"
    FOREIGN = "not made by this program"
    TAMPERED = "its records were changed"
    DAMAGED = "damaged"
    UNREADABLE = "cannot be read"


@dataclass(frozen=True, slots=True)
class Applied:
    """One row of ``schema_migrations``: a step that a file has behind it.

    Attributes:
        down_sql: the statements that undo it, a JSON list of strings; None when there are
            none and ``down_unsupported_reason`` says why.
    """

    version: int
    name: str
    applied_at: str
    down_sql: str | None
    down_unsupported_reason: str | None
    checksum: str

    @property
    def downgradable(self) -> bool:
        """Whether there is a way back."""
        return self.down_sql is not None

    def to_json(self) -> Json:
        """One object of ``db status --json``."""
        return {
            "version": self.version,
            "name": self.name,
            "applied_at": self.applied_at,
            "downgradable": self.downgradable,
            "down_unsupported_reason": self.down_unsupported_reason,
        }


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found in a database file, without changing a byte of it.

    Attributes:
        current: its schema version; None when it has none.
        head: the version this program works with.
        baseline: the oldest version that this program can migrate.
        table_present: whether it has a table of migrations at all.
        refusal: why it must not be opened, ready to be raised; None when it may be.
    """

    path: Path
    state: FileState
    head: int
    baseline: int
    current: int | None = None
    applied: tuple[Applied, ...] = ()
    table_present: bool = False
    refusal: LocaldbError | None = None

    @property
    def pending(self) -> int:
        """How many steps it is behind the head."""
        return self.head - self.current if self.current and self.state is FileState.BEHIND else 0

    def to_json(self) -> Json:
        """The object of ``db status --json``."""
        return {
            "path": str(self.path),
            "state": str(self.state),
            "problem": None if self.refusal is None else self.refusal.bare,
            "current_version": self.current,
            "head_version": self.head,
            "baseline_version": self.baseline,
            "pending": self.pending,
            "legacy": self.state is FileState.LEGACY,
            "too_new": self.state is FileState.NEWER,
            "uninitialized": self.state is FileState.ABSENT,
            "table_present": self.table_present,
            "migrations": [row.to_json() for row in self.applied],
        }


@dataclass(frozen=True, slots=True)
class StepEvent:
    """One step of a migration, told as it begins, before each statement, about every second
    of a long one, and when it is done.

    Attributes:
        version: the version that the step leads to, or back from.
        forward: whether it is a step up.
        done: how many of its ``total`` statements have run.
        elapsed_ms: time since it began.
        duration_ms: how long it took; None until it is committed.
    """

    version: int
    name: str
    forward: bool
    done: int
    total: int
    elapsed_ms: int = 0
    duration_ms: int | None = None


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """What a migration or a downgrade did to one file; no steps when there was nothing to do.

    Attributes:
        steps: how many were applied or undone.
        plugin: whose database it is; empty for the catalog.
        staleness_marked: whether documents were marked to be read again.
        reclaimable: bytes that a vacuum would give back, when it is worth it; else 0.
        copy: where the file as it was is kept, when something was to be lost.
    """

    from_version: int
    to_version: int
    steps: int
    plugin: str = ""
    staleness_marked: bool = False
    reclaimable: int = 0
    copy: Path | None = None


@dataclass(frozen=True, slots=True)
class VacuumReport:
    """How much room a vacuum won; sizes of the file and its log in bytes."""

    size_before: int
    size_after: int
    duration_ms: int

    @property
    def reclaimed(self) -> int:
        """Bytes won; never negative."""
        return max(0, self.size_before - self.size_after)

    def to_json(self) -> Json:
        """The object of ``db vacuum --json``."""
        return {
            "status": "ok",
            "size_before_bytes": self.size_before,
            "size_after_bytes": self.size_after,
            "bytes_reclaimed": self.reclaimed,
            "duration_ms": self.duration_ms,
        }
