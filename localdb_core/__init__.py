"""localdb: search over your own documents, with citations that can be checked."""

from __future__ import annotations

from localdb_core.version import API_VERSION, __version__

TYPE_CHECKING = False  # typing takes milliseconds, and this runs before Ctrl-C is handled
if TYPE_CHECKING:
    from typing import Any

    from localdb_core.app import LocalDB

__all__ = ["API_VERSION", "LocalDB", "__version__"]


def __getattr__(name: str) -> Any:  # Any: the module protocol
    if name == "LocalDB":  # lazy: the application pulls in every service
        from localdb_core.app import LocalDB

        return LocalDB
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
