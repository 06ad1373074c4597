"""Looking into a catalog without leaving a trace, for ``doctor``."""

from __future__ import annotations

import contextlib
import queue
import sqlite3
import threading
from pathlib import Path
from typing import NoReturn

from localdb_core.domain.errors import StorageUnavailable
from localdb_core.storage.connections import BUSY_TIMEOUT_MS, MAX_READERS, Connections


def look_into(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing and, unless another process writes, makes nothing.

    Without the promise that the file stays as it is, SQLite makes two files beside a
    database even to read it. While its log holds something that promise would be wrong.
    """
    quiet = not _has_content(path.with_name(f"{path.name}-wal"))
    uri = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if quiet else ''}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    connection.execute("PRAGMA query_only = ON")
    connection.row_factory = sqlite3.Row
    return connection


class ReadingConnections(Connections):
    """Readers only; the schema is not judged, because a damaged file is a subject, too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._permits = threading.Semaphore(MAX_READERS)

    def write(self) -> NoReturn:
        """Refused. Raises StorageUnavailable."""
        raise StorageUnavailable(f"{self.path} is open for reading only")

    def _reader(self) -> sqlite3.Connection:
        with contextlib.suppress(queue.Empty):
            return self._idle.get_nowait()
        return look_into(self.path)

    def close(self) -> None:
        """Close every reader."""
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False
