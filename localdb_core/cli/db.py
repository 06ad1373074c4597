"""``db``: the only commands that change the version of a database (L-STO-26)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from localdb_core.cli import interrupt, render
from localdb_core.cli.batch import Batch
from localdb_core.cli.command import Group
from localdb_core.cli.state import State, pass_state
from localdb_core.domain.databases import (
    Applied,
    FileState,
    Inspection,
    MigrationReport,
    StepEvent,
)

if TYPE_CHECKING:
    from localdb_core.services.databases import Database, Unclaimed

_HEADER: Final = ("VERSION", "NAME", "APPLIED_AT", "UNDO")
_EVERY: Final = 2.0
"""Seconds between two lines about the same step."""


@click.group(cls=Group, examples=["localdb db status", "localdb db migrate"])
def db() -> None:
    """Show the version of the database, change it, and pack the file.

    No other command changes a version: a file that another release made is refused, and
    the message says which of these commands to type.
    """


@db.command("status", examples=["localdb db status", "localdb db status --json"])
@pass_state
def status(state: State) -> None:
    """Show the version of each database and how it came to be; changes nothing."""
    databases = state.databases()
    found = databases.catalog().found
    plugins, unclaimed = databases.plugins()
    if state.json:
        rows = [{"plugin": row.schema.plugin, **row.found.to_json()} for row in plugins]
        rows += [_orphan(row) for row in unclaimed]
        render.data(state, {**found.to_json(), "plugins": rows})
        return
    _describe(state, f"database: {found.path}", found)
    for row in plugins:
        _describe(state, f"database of plugin {row.schema.plugin}: {row.path}", row.found)
    for orphan in unclaimed:
        render.line(state, f"database of plugin {orphan.plugin}: {orphan.path}")
        render.line(state, f"  state: unknown; {orphan.problem}")


def _orphan(row: Unclaimed) -> dict[str, Any]:  # Any: JSON values
    return {
        "plugin": row.plugin,
        "path": str(row.path),
        "state": "unknown",
        "problem": row.problem.bare,
    }


def _describe(state: State, title: str, found: Inspection) -> None:
    render.line(state, title)
    render.line(state, f"  state: {_state(found)}")
    if found.state is not FileState.ABSENT:
        version = "unknown" if found.current is None else found.current
        render.line(state, f"  version: {version}")
    render.line(state, f"  this program: {found.head} (migrates from {found.baseline} on)")
    if found.refusal is not None:
        render.line(state, f"  {found.refusal.bare}")
    if found.applied:
        rows = [(str(row.version), row.name, row.applied_at, _undo(row)) for row in found.applied]
        render.table(state, _HEADER, rows)


def _undo(row: Applied) -> str:
    return "yes" if row.downgradable else f"no: {row.down_unsupported_reason}"


def _state(found: Inspection) -> str:
    steps = "step" if found.pending == 1 else "steps"
    return f"{found.state} by {found.pending} {steps}" if found.pending else str(found.state)


@db.command("migrate", examples=["localdb db migrate"])
@pass_state
def migrate(state: State) -> None:
    """Bring the database, and those of plugins, to the version of this program.

    Nobody else may have them open. Every step is done wholly or not at all, so it may be
    stopped with Ctrl-C and run again.
    """
    databases = state.databases()
    plugins, unclaimed = databases.plugins()
    everything = [databases.catalog(), *plugins]
    if not _accepted(state, everything):
        return
    for orphan in unclaimed:
        render.warn(state, f"{orphan.path} is left as it is: {orphan.problem}")
    batch = Batch(state, expected=len(everything))
    with interrupt.stoppable(state) as asked, batch:
        for database in everything:
            report = databases.migrate(database, on_step=_Steps(state), cancel=asked)
            said = _said(report, database.found)
            batch.done(_json(report, said), said)
            _hints(state, report)
    batch.finish()


def _accepted(state: State, databases: Sequence[Database]) -> bool:
    """Ask about what would be lost, if anything would."""
    lost = [f"{loss} in {row.path}" for row in databases for loss in row.losses]
    if not lost:
        return True
    question = f"This destroys {', '.join(lost)}; a copy of the file is kept. Go on?"
    return render.confirm(state, question)


def _said(report: MigrationReport, found: Inspection) -> str:
    owner = f"plugin {report.plugin}: " if report.plugin else ""
    if report.steps:
        way = f"v{report.from_version} -> v{report.to_version}"
        return f"{owner}migrated: {way} ({report.steps} steps applied)"
    if found.state is FileState.ABSENT:
        return f"no database yet at {found.path}"
    return f"{owner}already at head (v{report.to_version})"


def _json(report: MigrationReport, said: str) -> dict[str, Any]:  # Any: JSON values
    owner = {"plugin": report.plugin} if report.plugin else {}
    if not report.steps:
        return {**owner, "message": said}
    return {
        **owner,
        "from_version": report.from_version,
        "to_version": report.to_version,
        "steps": report.steps,
        "legacy_rebuilt": False,  # no version is older than our baseline (D-02)
        "staleness_marked": report.staleness_marked,
        "vacuum_recommended": report.reclaimable > 0,
        "copy": None if report.copy is None else str(report.copy),
    }


def _hints(state: State, report: MigrationReport) -> None:
    if state.json:
        return
    if report.copy is not None:
        render.note(state, f"The database as it was is kept: {report.copy}")
    if report.staleness_marked:
        render.note(state, "Documents are marked to be read again; run: localdb index")
    if report.reclaimable:
        room = render.size(report.reclaimable, binary=True)
        render.note(state, f"{room} can be given back; run: localdb db vacuum")


@db.command("downgrade", examples=["localdb db downgrade", "localdb db downgrade --to 1"])
@click.option("--to", "target", type=int, metavar="N", help="The version to go back to.")
@click.option("--plugin", metavar="NAME", help="The database of this plugin, not the main one.")
@pass_state
def downgrade(state: State, target: int | None, plugin: str | None) -> None:
    """Step the database back, one version or to version N, for an older program.

    The way back is stored in the file, so the older program itself can do this too. A copy
    of the file is kept.
    """
    databases = state.databases()
    database = databases.catalog() if plugin is None else databases.plugin(plugin)
    wanted = databases.downgrade_target(database, target)
    current = database.found.current
    question = f"Step {database.path} back from version {current} to {wanted}? A copy is kept."
    if not render.confirm(state, question):
        return
    with interrupt.stoppable(state) as asked:
        report = databases.downgrade(database, wanted, on_step=_Steps(state), cancel=asked)
    if state.json:
        done = {"from_version": current, "to_version": wanted, "steps": report.steps}
        render.data(state, {"status": "ok", **done, "copy": str(report.copy)})
        return
    render.line(state, f"downgraded: v{current} -> v{wanted} ({report.steps} steps undone)")
    _hints(state, report)


@db.command("vacuum", examples=["localdb db vacuum"])
@pass_state
def vacuum(state: State) -> None:
    """Pack the database file, and give free room back to the disk."""
    databases = state.databases()
    database = databases.catalog()
    if database.found.state is not FileState.ABSENT:
        render.warn(
            state,
            "the whole file is written anew: this takes a while, and up to twice its size "
            "of free disk space",
        )
    with interrupt.stoppable(state) as asked:
        report = databases.vacuum(database, cancel=asked)
    if state.json:
        render.data(state, report.to_json())
        return
    before, after, won = (
        render.size(count, binary=True)
        for count in (report.size_before, report.size_after, report.reclaimed)
    )
    seconds = report.duration_ms / 1000
    render.line(state, f"vacuumed: {before} -> {after}, {won} reclaimed in {seconds:.1f} s")


@dataclass
class _Steps:
    """Tells each step on stderr: its name, now and then how far it is, how long it took."""

    state: State
    _version: int | None = None
    _told: float = 0.0

    def __call__(self, event: StepEvent) -> None:
        if self.state.json:
            return
        label = f"{'to' if event.forward else 'back from'} v{event.version} ({event.name})"
        if event.duration_ms is not None:
            self._say(f"{label}: done in {event.duration_ms / 1000:.1f} s")
        elif event.version != self._version:
            self._version = event.version
            self._say(f"{label} ...")
        elif time.monotonic() - self._told >= _EVERY:
            done = f"{event.done} of {event.total} statements"
            self._say(f"{label}: {done}, {event.elapsed_ms / 1000:.0f} s")

    def _say(self, text: str) -> None:
        self._told = time.monotonic()
        render.note(self.state, text)
