"""An application for tests: only the plugins given, everything below one folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from localdb_core.app import DEFAULT_STORE, LocalDB
from localdb_core.host.host import Host
from localdb_core.host.selection import PluginSelection
from localdb_core.testing import memory_plugin

MEMORY: Mapping[str, Any] = {  # Any: config values
    "index": {"dense": "memory-dense", "sparse": "memory-sparse"},
    "defaults": {"indexing": {"embedding": {"provider": "fake", "model": "fake"}}},
}
"""Config that uses the stand-ins of :mod:`localdb_core.testing.memory_plugin`."""


def make_app(
    folder: Path,
    *,
    plugins: Sequence[tuple[str, ModuleType]] = (("memory", memory_plugin),),
    config: Mapping[str, Any] | None = None,  # Any: config values
    discover: bool = False,
) -> LocalDB:
    """An open application whose config and data lie below ``folder``; close it after use.

    Without ``discover`` nothing that happens to be installed takes part. ``config``
    replaces :data:`MEMORY`; the same folder may be opened again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = {
        "version": 1,
        "paths": {"data": str(folder / "data"), "models": str(folder / "models")},
        **(MEMORY if config is None else config),
    }
    path = folder / "config.yaml"
    first = not path.exists()
    path.write_text(yaml.safe_dump(written), encoding="utf-8")
    selection = PluginSelection(no_plugins=not discover)
    app = LocalDB.open(path, host=Host.load(selection, extra=plugins))
    if first:
        app.stores.add(DEFAULT_STORE)
    return app
