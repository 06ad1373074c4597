"""What people write to name a source, and how a source is shown."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click

from localdb_core.cli import scope
from localdb_core.cli.state import State
from localdb_core.domain.duration import parse_duration
from localdb_core.domain.errors import InvalidRequest, SourceNotFound
from localdb_core.domain.store import Source, Store

KINDS: Final = ("path", "url", "feed")
"""Kinds with rules of their own; plugins may bring others."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A source to add."""

    location: str
    kind: str
    preset: str = "prose"
    refresh: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)  # Any: JSON values


def wanted(
    *,
    locations: Sequence[str],
    kind: str | None,
    refresh: str | None,
    preset: str,
    max_entries: int | None,
    no_fetch_full_content: bool,
) -> list[Wanted]:
    """One source per argument.

    Raises UsageError for options that do not fit (L-CLI-42), InvalidRequest for a
    ``refresh`` that is no duration.
    """
    parse_duration(refresh or "")
    if max_entries is not None and max_entries < 1:
        raise click.UsageError("--max-entries must be greater than zero")
    feed_options = max_entries is not None or no_fetch_full_content
    rows = []
    for location in locations:
        used = kind or ("url" if _is_web(location) else "path")
        if feed_options and used != "feed":
            raise click.UsageError(
                "--max-entries and --no-fetch-full-content are for feeds; add --kind feed"
            )
        if refresh and used == "path":
            raise click.UsageError("--refresh is for url and feed sources, not for a path")
        if used in ("url", "feed") and not _is_web(location):
            raise click.UsageError(f"a {used} source begins with http:// or https://: {location}")
        settings: dict[str, Any] = {}  # Any: JSON values
        if used == "feed":
            settings = {
                "max_entries": max_entries,
                "fetch_full_content": not no_fetch_full_content,
            }
        rows.append(Wanted(location, used, preset, refresh or None, settings))
    return rows


def check_kinds(state: State, rows: Sequence[Wanted]) -> None:
    """Refuse a kind that is neither localdb's own nor an installed plugin's."""
    foreign = {row.kind for row in rows} - {*KINDS}
    if not foreign:
        return
    offered = {owned.value.kind for owned in state.host().registry.sources}
    for kind in sorted(foreign - offered):
        known = ", ".join(sorted({*KINDS, *offered}))
        raise click.UsageError(f"no installed plugin lists {kind} sources; --kind takes {known}")


def row(store: Store, source: Source) -> dict[str, Any]:  # Any: JSON values
    """The object of ``source list --json``."""
    shown: dict[str, Any] = {
        "id": source.id,
        "store": {"name": store.name},
        "store_id": store.id,
        "kind": source.kind,
        "root": source.root,
        "url": source.url,
        "preset": source.preset,
    }
    if source.kind in ("url", "feed"):
        shown["refresh"] = source.refresh
    if source.kind == "feed":
        shown["max_entries"] = source.settings.get("max_entries")
        shown["fetch_full_content"] = source.settings.get("fetch_full_content", True)
    return shown


def line(source: Source) -> str:
    """The line of ``source list``, without its store."""
    said = f"{source.id} [{source.kind}] {source.typed}"
    if source.typed != source.location:
        said += f" (in {source.location})"
    if source.kind == "path" and source.include:
        said += f" (only {', '.join(source.include)})"
    if source.kind == "feed":
        most = source.settings.get("max_entries") or "unbounded"
        full = "on" if source.settings.get("fetch_full_content", True) else "off"
        said += f" (max_entries={most}, full_content={full})"
    return said


def matching(
    state: State, stores: Sequence[Store], arguments: Sequence[str]
) -> list[tuple[Store, Source]]:
    """The sources in these stores that the arguments name, once each.

    Raises:
        SourceNotFound: an argument names none.
    """
    everything = [(store, row) for store in stores for row in state.app().sources.list(store)]
    found: dict[str, tuple[Store, Source]] = {}
    for argument in arguments:
        hits = [pair for pair in everything if _names(argument, pair[1])]
        if not hits:
            raise SourceNotFound(argument)
        found.update({pair[1].id: pair for pair in hits})
    return list(found.values())


def only(state: State, stores: Sequence[Store], argument: str) -> tuple[Store, Source]:
    """The one source that the argument names.

    Raises:
        SourceNotFound: it names none.
        InvalidRequest: it names several.
    """
    found = matching(state, stores, [argument])
    if len(found) > 1:
        names = ", ".join(store.name for store, _ in found)
        raise InvalidRequest(f"{argument} is in several stores ({names}); choose with --store")
    return found[0]


def _names(argument: str, source: Source) -> bool:
    if scope.looks_like_id(argument):
        return argument == source.id
    if source.root is None or argument in (source.location, source.url):
        return argument in (source.location, source.url)
    place = _absolute(argument)
    root = _absolute(source.root)
    if len(source.include) == 1:  # added as a single file
        return place == root / source.include[0]
    return place == root


def _absolute(text: str) -> Path:
    return Path(os.path.abspath(Path(text).expanduser()))


def _is_web(location: str) -> bool:
    return location.lower().startswith(("http://", "https://"))
