"""What became of each plugin, as values, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Literal

from localdb_core.host.kinds import Kind

State = Literal["found", "active", "degraded", "failed", "incompatible", "disabled", "ambiguous"]
Stage = Literal["gate", "import", "describe", "register", "collect"]


MANY: Final = 3
"""More components of a kind than this are counted, not named, in the table."""


@dataclass(frozen=True, slots=True)
class Provided:
    """One component of a plugin; ``shadowed`` when others win all it claims."""

    kind: Kind
    name: str
    shadowed: bool = False

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}{' (shadowed)' if self.shadowed else ''}"


@dataclass(frozen=True, slots=True)
class PluginStatus:
    """One plugin's fate.

    Attributes:
        state: ``found`` only when nothing was loaded (``--no-load``).
        stage: where it was stopped or damaged; None when nothing is wrong.
        error: one line, None when nothing is wrong.
        load_ms: CPU time of import, registration and hooks.
        traceback: from the plugin's first frame on, for ``plugin info``.
        location: the folder its distribution was found in.
        advice: what its author should change, though it works; for ``plugin check``.
    """

    name: str
    distribution: str
    version: str
    state: State
    stage: Stage | None = None
    provides: tuple[Provided, ...] = ()
    error: str | None = None
    load_ms: float | None = None
    traceback: str | None = None
    location: str = ""
    advice: tuple[str, ...] = ()

    @property
    def broken(self) -> bool:
        """Something is wrong with the plugin itself, not with the user's choice."""
        return self.state in ("failed", "degraded", "incompatible")

    def to_json(self) -> dict[str, Any]:
        """The object of ``plugin list --json`` (L-CLI-38)."""
        return {
            "name": self.name,
            "distribution": self.distribution,
            "version": self.version,
            "state": self.state,
            "stage": self.stage,
            "provides": [str(provided) for provided in self.provides],
            "error": self.error,
            "load_ms": None if self.load_ms is None else round(self.load_ms, 1),
        }


def statuses_json(statuses: Sequence[PluginStatus], conflicts: int) -> dict[str, Any]:
    """What ``plugin list --json`` prints."""
    return {"plugins": [status.to_json() for status in statuses], "conflicts": conflicts}


def statuses_table(statuses: Sequence[PluginStatus]) -> str:
    """Columns for people, one plugin a line."""
    rows = [("NAME", "VERSION", "STATE", "PROVIDES", "LOAD"), *map(_row, statuses)]
    # a failure is prose: it runs on instead of widening its column for everybody
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    provided = max(len(row[3]) for row in rows if row[4])
    lines = (
        "  ".join(
            [
                *(cell.ljust(width) for cell, width in zip(row, widths, strict=False)),
                row[3].ljust(provided),
                row[4],
            ]
        ).rstrip()
        for row in rows
    )
    return "\n".join(lines)


def _row(status: PluginStatus) -> tuple[str, str, str, str, str]:
    provides = _summary(status.provides)
    load = "" if status.load_ms is None else f"{status.load_ms:.1f} ms"
    if status.error is not None:
        where = f"{status.stage}: " if status.state in ("failed", "degraded") else ""
        provides = "; ".join(filter(None, (provides, where + status.error)))
        load = ""
    return status.name, status.version, status.state, provides, load


def _summary(provides: Sequence[Provided]) -> str:
    """``parser: pdf``, several names in a row, and only a number when there are many."""
    groups: list[str] = []
    for kind, members in groupby(provides, key=lambda provided: provided.kind):
        names = [str(member).partition(": ")[2] for member in members]
        plain = len(names) <= MANY
        groups.append(f"{kind}: {', '.join(names)}" if plain else f"{len(names)} {kind}s")
    return "; ".join(groups)
