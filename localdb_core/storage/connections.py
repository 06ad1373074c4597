"""Opening the catalog: version check, pragmas, one writer and a few readers."""

from __future__ import annotations

import contextlib
import errno
import queue
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from localdb_core.domain.errors import (
    RuntimeStateLocked,
    StorageUnavailable,
)
from localdb_core.storage import schema
from localdb_core.storage.migrations.chain import Schema
from localdb_core.storage.migrations.inspection import damaged

BUSY_TIMEOUT_MS = 5000
MAX_READERS = 4


def connect(path: Path, *, readonly: bool) -> sqlite3.Connection:
    """A connection without implicit transactions that waits for locks."""
    uri = f"{path.absolute().as_uri()}?mode={'ro' if readonly else 'rwc'}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    # The timeout comes first: switching to WAL needs the lock too (L-STO-01).
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    connection.row_factory = sqlite3.Row
    return connection


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's own errors into ours, with the way out."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _translate(error, path) from error


def _translate(error: sqlite3.DatabaseError, path: Path) -> Exception:
    text = str(error)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return RuntimeStateLocked(f"another process holds {path} for too long; try again")
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return StorageUnavailable(f"{path}: {text}; free some space and run the command again")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StorageUnavailable(f"{path} cannot be written: {text}")
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return damaged(path, error)
    # A virtual table that SQLite was built without is missing, too, and is no damage.
    if "no such table" in text and "dbstat" not in text:
        return StorageUnavailable(f"{path} is damaged ({text}); see: localdb doctor")
    return error


def open_writer(
    path: Path, wanted: Schema, *, first_store: str | None = None
) -> sqlite3.Connection:
    """A connection to write through, to a file at head version; made if there is none.

    Raises SchemaMismatch, StorageUnavailable, RuntimeStateLocked, InternalError.
    """
    schema.refuse_unusable(path, wanted)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageUnavailable(f"cannot create {path.parent}: {error.strerror}") from error
    with contextlib.ExitStack() as undo, translated(path):
        writer = undo.enter_context(contextlib.closing(connect(path, readonly=False)))
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("PRAGMA foreign_keys = ON")
        writer.execute("PRAGMA synchronous = NORMAL")
        schema.create_if_new(writer, path, wanted, first_store=first_store)
        undo.pop_all()
    return writer


class Connections:
    """The catalog file: ``write()`` gives the writer in a transaction, ``read()`` a reader.

    Writers of one process take turns; readers never wait for them (WAL). Close it
    when done. ``first_store`` is created along with a new file. Raises SchemaMismatch
    for a file this program must not touch.
    """

    def __init__(self, path: Path, *, first_store: str | None = None) -> None:
        self.path = path
        self._writer = open_writer(path, schema.CATALOG, first_store=first_store)
        self._writing = threading.RLock()
        self._idle: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._permits = threading.Semaphore(MAX_READERS)

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """The writer inside one immediate transaction; rolled back if the block raises."""
        with self._writing, translated(self.path):
            if self._writer.in_transaction:  # nested: the outer block commits
                yield self._writer
                return
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                self._roll_back()
                raise
            self._writer.execute("COMMIT")

    def _roll_back(self) -> None:
        if self._writer.in_transaction:  # SQLite may have done it by itself
            self._writer.execute("ROLLBACK")

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A read-only connection; one snapshot per statement."""
        with self._permits, translated(self.path):
            connection = self._reader()
            try:
                yield connection
            finally:
                self._idle.put(connection)

    def _reader(self) -> sqlite3.Connection:
        with contextlib.suppress(queue.Empty):
            return self._idle.get_nowait()
        connection = connect(self.path, readonly=True)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def close(self) -> None:
        """Close every connection; the last one out folds the WAL back in."""
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                break
        with contextlib.suppress(sqlite3.Error):
            self._writer.execute("PRAGMA optimize")
        self._writer.close()


def is_disk_full(error: BaseException) -> bool:
    """Whether an error means that the disk, or the quota, is exhausted.

    Index engines wrap the operating system's error in their own; the words are all
    that is left of it then.
    """
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    text = str(error).lower()
    return "no space left" in text or "disk is full" in text
