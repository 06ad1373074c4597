"""Versions: the program's and the plugin API's."""

from __future__ import annotations

TYPE_CHECKING = False  # see localdb_core/__init__.py
if TYPE_CHECKING:
    from typing import Final

__version__: Final = "0.1.0"

API_VERSION: Final = (1, 0)
"""Plugin API: a plugin runs when the major is equal and its minor is not newer."""
