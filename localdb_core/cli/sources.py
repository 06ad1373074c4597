"""``source add`` (also ``add``), ``source list``, ``source remove``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Any

import click

from localdb_core.cli import interrupt, render, scope, sourceargs
from localdb_core.cli.batch import Batch
from localdb_core.cli.command import Command, Group
from localdb_core.cli.progress import indexing
from localdb_core.cli.state import State, pass_state
from localdb_core.domain.errors import LocaldbError
from localdb_core.domain.store import Source, Store

_EXAMPLES = ("localdb add ~/notes", "localdb add report.pdf ~/papers --store work")


@click.group(cls=Group, examples=["localdb source add ~/notes", "localdb source list"])
def source() -> None:
    """Add, list and remove sources: where documents come from."""


def _add_options(function: Callable[..., None]) -> Callable[..., None]:
    for decorate in reversed(
        (
            click.argument("locations", metavar="ARG...", nargs=-1, required=True),
            click.option("--kind", metavar="KIND",
                         help="path, url, feed, or one that a plugin brings; else guessed."),
            click.option("--refresh", metavar="DURATION", help="Fetch again after, as in 24h."),
            click.option("--preset", default="prose", show_default=True,
                         type=click.Choice(["prose", "code", "messages"]),
                         help="How texts are cut."),
            click.option("--max-entries", type=int, metavar="N", help="Newest entries of a feed."),
            click.option("--no-fetch-full-content", is_flag=True,
                         help="Keep what the feed itself says."),
            pass_state,
        )
    ):  # fmt: skip
        function = decorate(function)
    return function


@dataclass(frozen=True, slots=True)
class _Added:
    store: Store
    source: Source


@source.command("add", examples=[f"localdb source {e.removeprefix('localdb ')}" for e in _EXAMPLES])
@_add_options
def add_source(state: State, **options: Any) -> None:  # Any: click's values
    """Add folders, files or addresses to a store, then index them."""
    _add(state, "source add", sourceargs.wanted(**options))


@click.command("add", cls=Command, examples=_EXAMPLES)
@_add_options
def add(state: State, **options: Any) -> None:  # Any: click's values
    """Add folders, files or addresses to a store, then index them.

    The same as ``localdb source add``.
    """
    _add(state, "add", sourceargs.wanted(**options))


def _add(state: State, command: str, wanted: list[sourceargs.Wanted]) -> None:
    """Register everything first, so that a typing error shows before hours of indexing."""
    sourceargs.check_kinds(state, wanted)
    stores = scope.resolve(state, command)
    batch = Batch(state, expected=len(wanted) * len(stores))
    added: list[_Added] = []

    with batch:
        for store in stores:
            for want in wanted:
                made = _register(state, store, want)
                added.append(_Added(store, made))
                batch.done(
                    {"id": made.id, "store": {"name": store.name}, "kind": made.kind},
                    f"Added source {made.id} to store '{store.name}'",
                )

    with interrupt.stoppable(state) as asked:
        for item in added:
            if asked.is_set():
                break
            _index(state, item, prefixed=len(stores) > 1, asked=asked)
    batch.finish()


def _register(state: State, store: Store, want: sourceargs.Wanted) -> Source:
    return state.app().sources.add(
        store,
        want.location,
        kind=want.kind,
        preset=want.preset,
        refresh=want.refresh,
        settings=want.settings,
    )


def _index(state: State, item: _Added, *, prefixed: bool, asked: Event) -> None:
    """Index one new source; trouble is said and costs nothing else (L-CLI-15)."""
    if not state.json:
        render.note(state, f"Auto-indexing source {item.source.id} ...")
    try:
        with indexing(state, prefixed=prefixed) as show:
            reports = state.app().index(
                [item.store], source=item.source, delete=False, on_event=show, cancel=asked
            )
    except LocaldbError as error:
        render.warn(state, f"source {item.source.id} is added but not indexed: {error}")
        return
    for report in reports:
        if report.error is not None and not asked.is_set():
            render.warn(state, f"indexing source {item.source.id} ended early: {report.error}")


@source.command("list", examples=["localdb source list", "localdb source list --store work"])
@pass_state
def list_sources(state: State) -> None:
    """List the sources in the order in which they were added."""
    stores = scope.resolve(state, "source list")
    rows = [(store, row) for store in stores for row in state.app().sources.list(store)]
    if state.json:
        render.data(state, {"sources": [sourceargs.row(store, row) for store, row in rows]})
        return
    column = scope.column(stores)
    for store, row in rows:
        render.line(state, column(store) + sourceargs.line(row))
    if not rows and len(stores) == 1:
        render.line(state, f"No sources on store '{stores[0].name}'.")
    elif not rows:
        render.line(state, "No sources in scope.")


@source.command(
    "remove",
    examples=[
        "localdb source remove 01JQ0W9Z8X7Y6V5T4S3R2Q1P0N",
        "localdb source remove ~/notes -s a",
    ],
)
@click.argument("arguments", metavar="ARG...", nargs=-1, required=True)
@pass_state
def remove(state: State, arguments: tuple[str, ...]) -> None:
    """Remove sources, by id or by the place they were added from.

    What was indexed from them goes too; your files stay.
    """
    if not state.stores and not all(map(scope.looks_like_id, arguments)):
        raise click.UsageError("to remove a source by its place, say where: --store NAME")
    stores = scope.resolve(state, "source remove")
    found = sourceargs.matching(state, stores, arguments)
    named = ", ".join(f"{row.id} ({row.location})" for _, row in found)
    if not render.confirm(state, f"Remove {named} and everything indexed from there?"):
        return
    batch = Batch(state, expected=len(found))
    with batch:
        for store, row in found:
            state.app().sources.remove(row)
            where = f" from store '{store.name}'" if len(found) > 1 else ""
            batch.done({"id": row.id}, f"Removed source: {row.id}{where}")
    batch.finish()
