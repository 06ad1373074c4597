"""localdb: search over your own documents, with citations that can be checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localdb_core.version import API_VERSION, __version__

if TYPE_CHECKING:
    from localdb_core.app import LocalDB

__all__ = ["API_VERSION", "LocalDB", "__version__"]


def __getattr__(name: str) -> Any:  # Any: the module protocol
    if name == "LocalDB":  # lazy: the application pulls in every service
        from localdb_core.app import LocalDB

        return LocalDB
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
