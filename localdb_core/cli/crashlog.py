"""Faults of ours, kept with their tracebacks in ``<logs>/errors.log``.

A person sees one line with an id; the id finds the rest here. Nothing of the command
line is kept: it may hold what somebody searched for.
"""

from __future__ import annotations

import traceback
from contextlib import suppress
from pathlib import Path
from typing import Final

from localdb_core.domain.clock import utc_now
from localdb_core.domain.errors import InternalError
from localdb_core.version import __version__

NAME: Final = "errors.log"
LARGEST: Final = 1_000_000
"""Bytes after which the file becomes ``errors.log.old``, which replaces an older one."""


def keep(folder: Path | None, known: InternalError, error: BaseException) -> None:
    """Add a fault; None is a run that did not get as far as having a folder for it."""
    if folder is None:
        return
    path = folder / NAME
    trace = "".join(traceback.format_exception(error))
    entry = f"{utc_now()} localdb {__version__} id {known.correlation_id}\n{trace}\n"
    with suppress(OSError):  # the fault itself is worth more than its record
        if path.exists() and path.stat().st_size > LARGEST:
            path.replace(path.with_name(f"{NAME}.old"))
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(entry)
