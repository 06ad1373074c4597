"""pluggy markers of the project."""

from __future__ import annotations

from typing import Final

import pluggy

from localdb_core.version import API_VERSION as API_VERSION

PROJECT: Final = "localdb"
ENTRY_POINT_GROUP: Final = "localdb.plugins"

hookspec: Final = pluggy.HookspecMarker(PROJECT)
hookimpl: Final = pluggy.HookimplMarker(PROJECT)
"""Marks a function of a plugin module as an implementation of a localdb hook."""
