"""A cheap seal over an index folder, to notice files that vanished or changed size."""

from __future__ import annotations

import os
from pathlib import Path

_TRANSIENT = ("-wal", "-shm", "-journal", ".lock", "LOCK")


def folder_seal(folder: Path) -> str:
    """Names and sizes of the folder's files; transient ones are left out.

    Sizes, not times: readers may touch files. Empty when there is no folder.
    """
    found: list[str] = []
    for base, _, names in os.walk(folder):
        for name in names:
            if name.endswith(_TRANSIENT):
                continue
            path = os.path.join(base, name)
            try:
                size = os.stat(path).st_size
            except OSError:
                continue
            found.append(f"{os.path.relpath(path, folder)}={size}")
    return ";".join(sorted(found))
