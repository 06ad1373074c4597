"""The databases that plugins keep for themselves, one SQLite file each."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from localdb_core.host.guard import guard
from localdb_core.storage.connections import open_writer
from localdb_core.storage.migrations.chain import Chain, Schema

APPLICATION_ID: Final = 0x6C6F6370
"""``locp`` in ASCII."""

FILE_NAME: Final = "database.db"
"""In the plugin's data folder, ``<data>/plugins/<plugin>/``."""


def plugin_schema(plugin: str, package: str) -> Schema:
    """The tables of a plugin, as its package of migrations makes them.

    Raises PluginError, stage ``migrations``.
    """
    with guard(plugin, "migrations"):
        return Schema.replaying(APPLICATION_ID, Chain.load(package), plugin=plugin)


def open_plugin_database(plugin: str, package: str, data_dir: Path) -> sqlite3.Connection:
    """What :meth:`localdb_core.plugin.PluginContext.database` answers."""
    return open_writer(data_dir / FILE_NAME, plugin_schema(plugin, package))


def plugin_files(data: Path) -> list[tuple[str, Path]]:
    """Which plugins have a database below the data folder, by name."""
    return sorted((path.parent.name, path) for path in data.glob(f"plugins/*/{FILE_NAME}"))
