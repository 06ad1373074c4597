"""A seal over an index folder: whether its files still are what was written there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from blake3 import blake3

_TRANSIENT = ("-wal", "-shm", "-journal", ".lock", "LOCK")

Look = dict[str, tuple[int, int]]
"""Size in bytes and modification time in nanoseconds by relative name."""


def look(folder: Path) -> Look:
    """What a listing tells; transient files are left out. Empty when there is no folder."""
    found: Look = {}
    for path in _files(folder):
        try:
            status = os.stat(path)
        except OSError:
            continue
        found[os.path.relpath(path, folder)] = (status.st_size, status.st_mtime_ns)
    return found


def seal(folder: Path, *, before: str = "") -> str:
    """Name, size, time and BLAKE3 of every file, as text for the ledger.

    ``before`` is an earlier seal of the folder: a file that looks as it did then is not
    read again.
    """
    known = _parsed(before)
    sealed: dict[str, list[int | str]] = {}
    for name, (size, changed) in look(folder).items():
        old_size, old_changed, digest = known.get(name, (-1, -1, ""))
        if (size, changed) != (old_size, old_changed):
            digest = _digest(folder / name)
        sealed[name] = [size, changed, digest]
    return json.dumps(sealed, separators=(",", ":"), sort_keys=True)


def holds(folder: Path, sealed: str) -> bool:
    """Whether the folder has the sealed files and they hold what they held.

    A file is read only where its time has changed, as it has in a copied folder. Damage
    that leaves name, size and time alone is not seen.
    """
    known, seen = _parsed(sealed), look(folder)
    if known.keys() != seen.keys():
        return False
    return all(
        size == known[name][0]
        and (changed == known[name][1] or _digest(folder / name) == known[name][2])
        for name, (size, changed) in seen.items()
    )


def _files(folder: Path) -> Iterator[str]:
    for base, _, names in os.walk(folder):
        for name in names:
            if not name.endswith(_TRANSIENT):
                yield os.path.join(base, name)


def _digest(path: Path) -> str:
    """Of one file; empty, and so like no other, when it cannot be read."""
    digest = blake3()
    try:
        with path.open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
    except OSError:
        return ""
    return digest.hexdigest()


def _parsed(sealed: str) -> dict[str, tuple[int, int, str]]:
    """Empty for text that is no seal."""
    try:
        return {name: (one[0], one[1], one[2]) for name, one in json.loads(sealed).items()}
    except (ValueError, AttributeError, TypeError, IndexError, KeyError):
        return {}
