"""What a shell offers for names: read without opening, making or loading anything.

Whatever goes wrong here means no offers; a person who pressed Tab has asked nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import click

from localdb_core.cli.state import State

Offers = Callable[[click.Context, click.Parameter, str], list[str]]


def _offers(names: Callable[[State], Iterable[str]]) -> Offers:
    def offer(ctx: click.Context, _: click.Parameter, begun: str) -> list[str]:
        try:
            found = sorted(names(ctx.ensure_object(State)))
        except Exception:  # noqa: BLE001 - see above
            return []
        return [name for name in found if name.startswith(begun)]

    return offer


def _store_names(state: State) -> list[str]:
    return _column(state, "SELECT name FROM stores")


def _source_ids(state: State) -> list[str]:
    return _column(state, "SELECT id FROM sources")


def _column(state: State, query: str) -> list[str]:
    import sqlite3

    with closing(sqlite3.connect(f"{_database(state).as_uri()}?mode=ro", uri=True)) as db:
        return [row[0] for row in db.execute(query)]


def _database(state: State) -> Path:
    from localdb_core.config.load import load_config  # pydantic, and only for names
    from localdb_core.config.paths import Paths, find_config

    path = find_config(state.config_path)
    return Paths.of(path, load_config(path)).database.absolute()


def _plugin_names(_: State) -> set[str]:
    from localdb_core.host.discovery import discover  # reads package metadata

    return {candidate.name for candidate in discover()}


def _switches(state: State) -> list[str]:
    return [f"no:{name}" for name in _plugin_names(state)]


stores = _offers(_store_names)
sources = _offers(_source_ids)
plugins = _offers(_plugin_names)
switches = _offers(_switches)
