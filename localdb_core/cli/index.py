"""``index``: bring stores up to date with their sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from localdb_core.cli import complete, interrupt, render, scope, sourceargs
from localdb_core.cli.command import Command
from localdb_core.cli.progress import indexing
from localdb_core.cli.state import State, pass_state
from localdb_core.domain.events import IndexStats
from localdb_core.domain.reports import IndexReport, PlanRow, counters, plan_counts
from localdb_core.domain.store import Source, Store
from localdb_core.domain.uri import display

_STRICT_FAILED = 2


@click.command(
    "index",
    cls=Command,
    examples=["localdb index", "localdb index --store work --delete", "localdb index --plan"],
)
@click.option(
    "--source", "source_id", metavar="ID", shell_complete=complete.sources, help="Only this source."
)
@click.option("--strict", is_flag=True, help="Fail (exit 2) if a document could not be read.")
@click.option("--delete", is_flag=True, help="Forget documents that are gone at their source.")
@click.option(
    "--force",
    is_flag=True,
    help="With --delete: also if a source shows none of them, or a file is empty; asks.",
)
@click.option("--plan", is_flag=True, help="Say what would be done; do nothing.")
@pass_state
def index(
    state: State, *, source_id: str | None, strict: bool, delete: bool, force: bool, plan: bool
) -> int:
    """Read what is new or changed, and make it searchable.

    Ctrl-C stops after the batch at hand and keeps what is done; the next run goes on
    from there. A second Ctrl-C stops at once.
    """
    if force and not delete:
        raise click.UsageError("--force is for --delete; write both")
    stores = scope.resolve(state, "index")
    source = None
    if source_id is not None:
        owner, source = sourceargs.only(state, stores, source_id)
        stores = [owner]
    if plan:
        _plan(state, stores, source, delete=delete)
        return 0
    confirmed = state.app().unseen(stores, source) if force else []
    if confirmed and not _agreed(state, confirmed):
        return 0
    reports = _run(state, stores, source, delete=delete, confirmed=confirmed, strict=strict)
    for report in reports:
        if report.error is not None:
            raise report.error
    failed = any(report.stats.error_count for report in reports)
    return _STRICT_FAILED if strict and failed else 0


def _agreed(state: State, rows: Sequence[PlanRow]) -> bool:
    """Show every document that would be forgotten though it may only be away for today."""
    for row in rows:
        render.note(state, f"[{row.store.name}] {display(row.uri)} ({row.reason})")
    them = "this document" if len(rows) == 1 else f"these {len(rows)} documents"
    return render.confirm(state, f"Forget {them}?")


def _run(
    state: State,
    stores: Sequence[Store],
    source: Source | None,
    *,
    delete: bool,
    confirmed: Sequence[PlanRow],
    strict: bool,
) -> list[IndexReport]:
    """Index, then show what became of it, also when it was stopped."""
    several = len(stores) > 1
    with interrupt.stoppable(state) as asked:
        with indexing(state, prefixed=several) as show:
            reports = state.app().index(
                stores,
                source=source,
                delete=delete,
                confirmed=confirmed,
                on_event=show,
                cancel=asked,
            )
        if state.json:
            render.data(state, _json(reports, several=several, strict=strict))
        else:
            _lines(state, reports, several=several, deleted=delete)
    return reports


def _lines(state: State, reports: Sequence[IndexReport], *, several: bool, deleted: bool) -> None:
    for report in reports:
        prefix = f"[{report.store.name}] " if several else ""
        if report.idle:
            render.line(state, f"{prefix}No sources to index on store '{report.store.name}'.")
        elif report.error is None:
            said = summary(report.stats, deleted=deleted)
            render.line(state, f"{prefix}Index complete: {said}")
        else:
            render.line(state, f"{prefix}Index stopped: {summary(report.stats, deleted=deleted)}")
            if several:
                render.note(state, f"{prefix}{report.error}")
    if several:
        render.line(state, f"Total: {summary(_total(reports), deleted=deleted)}")


def summary(stats: IndexStats, *, deleted: bool) -> str:
    """The counters as a sentence."""
    said = (
        f"{stats.docs_indexed} indexed, {stats.docs_skipped} skipped, "
        f"{stats.chunks_written} chunks written, "
        f"{stats.unsupported_format_count} unsupported, {stats.error_count} errors"
    )
    if deleted and stats.docs_deleted:
        return f"{said}, {stats.docs_deleted} deleted"
    if stats.docs_prunable:
        return f"{said}, {stats.docs_prunable} no longer at source (kept; use --delete to remove)"
    return said


def _json(
    reports: Sequence[IndexReport], *, several: bool, strict: bool
) -> dict[str, Any]:  # Any: JSON values
    rows = [report.to_json(strict=strict) for report in reports]
    if not several:
        return rows[0]
    stores = [
        {**row, "store": report.store.name} for row, report in zip(rows, reports, strict=True)
    ]
    failed = any(row["status"] == "error" for row in rows)
    total = {"status": "error" if failed else "ok", **counters(_total(reports))}
    return {"stores": stores, "total": total}


def _total(reports: Sequence[IndexReport]) -> IndexStats:
    total = IndexStats()
    for report in reports:
        total.add(report.stats)
    return total


def _plan(state: State, stores: Sequence[Store], source: Source | None, *, delete: bool) -> None:
    rows = state.app().plan(stores, source, delete=delete)
    counts = plan_counts(rows)
    if state.json:
        render.data(state, {"plan": [row.to_json() for row in rows], "counts": counts})
        return
    for row in rows:
        prefix = f"[{row.store.name}] " if len(stores) > 1 else ""
        render.line(state, f"{prefix}{row.action} {display(row.uri)} ({row.reason})")
    render.line(state, ", ".join(f"{count} {action}" for action, count in counts.items()))
