"""``status``: the stores, the database, and what a person should know."""

from __future__ import annotations

import click

from localdb_core.cli import render, scope
from localdb_core.cli.command import Command
from localdb_core.cli.state import State, pass_state
from localdb_core.domain.reports import DatabaseInfo, StoreRow


@click.command("status", cls=Command, examples=["localdb status", "localdb status --json"])
@pass_state
def status(state: State) -> None:
    """Show the stores with their counts, and the size of the database."""
    report = state.app().status(scope.resolve(state, "status"))
    if state.json:
        render.data(state, report.to_json())
        return
    render.line(state, f"daemon: {report.daemon}")
    render.line(state, f"stores ({len(report.stores)}):")
    for row in report.stores:
        render.line(state, f"  {_store(row)}")
    if not report.stores:
        render.line(state, "  (none)")
    render.line(state)
    _database(state, report.database, chunks=_chunks(report.stores))
    for notice in report.notices:
        render.line(state, notice)


def _store(row: StoreRow) -> str:
    name = f"{row.store.name} [{row.store.backend}]"
    if row.stats is None:
        return f"{name} (stats unavailable)"
    return f"{name} {row.stats.document_count} documents, {row.stats.chunk_count} chunks"


def _chunks(rows: tuple[StoreRow, ...]) -> int:
    return sum(row.stats.chunk_count for row in rows if row.stats is not None)


def _database(state: State, info: DatabaseInfo, *, chunks: int) -> None:
    render.line(state, f"database: {info.path}")
    if info.size is None:
        render.line(state, "  size: unknown")
    else:
        wal = f" (+ {render.size(info.wal_size)} WAL)" if info.wal_size is not None else ""
        render.line(state, f"  size: {render.size(info.size)}{wal}")
    if info.bytes_per_chunk is not None:
        each = render.size(info.bytes_per_chunk)
        render.line(state, f"  ~{each} per chunk ({chunks} chunks total)")
    if info.largest_tables:
        render.line(state, "  largest tables:")
    for table in info.largest_tables[:5]:
        render.line(state, f"    {table.name} — {render.size(table.size)}")
