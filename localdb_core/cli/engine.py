"""``engine list`` and ``engine rebuild``: the indexes behind a search."""

from __future__ import annotations

from typing import Final, Literal

import click

from localdb_core.cli import render, scope
from localdb_core.cli.command import Group
from localdb_core.cli.progress import counting
from localdb_core.cli.state import State, pass_state
from localdb_core.domain.reports import EmbedderState, IndexState

_HEADER: Final = ("STORE", "LEG", "ENGINE", "ENTRIES", "SIZE", "STATE")


@click.group(cls=Group, examples=["localdb engine list", "localdb engine rebuild dense"])
def engine() -> None:
    """Show and rebuild the indexes behind a search."""


@engine.command("list", examples=["localdb engine list", "localdb engine list --json"])
@pass_state
def list_engines(state: State) -> None:
    """Show the embedder, and two indexes for each store."""
    report = state.app().engines.list(scope.resolve(state, "engine list"))
    if state.json:
        render.data(state, report.to_json())
        return
    render.line(state, f"embedder: {_embedder(report.embedder)}")
    if report.indexes:
        render.table(state, _HEADER, [_cells(index) for index in report.indexes])


@engine.command(
    "rebuild", examples=["localdb engine rebuild dense", "localdb engine rebuild sparse -s work"]
)
@click.argument("leg", type=click.Choice(["dense", "sparse"]))
@pass_state
def rebuild(state: State, leg: Literal["dense", "sparse"]) -> None:
    """Make an index again from the catalog; nothing is parsed or embedded."""
    stores = scope.resolve(state, "engine rebuild")
    with counting(state, f"rebuilding the {leg} index") as count:
        reports = state.app().engines.rebuild(leg, stores, on_progress=count)
    if state.json:
        render.data(state, {"status": "ok", "results": [r.to_json() for r in reports]})
        return
    for report in reports:
        render.line(
            state,
            f"Rebuilt {report.leg} index of '{report.store.name}' ({report.engine}): "
            f"{report.entries} entries",
        )


def _embedder(found: EmbedderState | None) -> str:
    if found is None:
        return "none"
    facts = f" ({found.dimension} dim, {found.encoding})" if found.dimension is not None else ""
    return f"{found.provider} {found.model}{facts} {found.state}"


def _cells(index: IndexState) -> tuple[str, ...]:
    return (
        index.store.name,
        index.leg,
        index.engine,
        "-" if index.entries is None else str(index.entries),
        "-" if index.size_bytes is None else render.size(index.size_bytes),
        str(index.state),
    )
