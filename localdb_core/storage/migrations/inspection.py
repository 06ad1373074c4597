"""Looking at a database file without changing it, and saying why it is refused (L-STO-20)."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Final

from localdb_core.domain.databases import Applied, FileState, Inspection
from localdb_core.domain.errors import (
    InternalError,
    LocaldbError,
    RuntimeStateLocked,
    SchemaMismatch,
    StorageUnavailable,
)
from localdb_core.storage.migrations import records
from localdb_core.storage.migrations.chain import Schema

WAIT_MS = 5000
"""How long a look at a file waits for whoever migrates it."""

_LOCKED: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_BROKEN: Final = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)


def inspect(path: Path, schema: Schema) -> Inspection:
    """What a file is; whatever is wrong with it, this does not fail."""
    found = Inspection(path, FileState.ABSENT, schema.chain.head, schema.chain.baseline)
    try:
        if not path.exists() or path.stat().st_size == 0:
            return found
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except (OSError, sqlite3.Error) as error:
        return _refused(found, FileState.UNREADABLE, _unreadable(path, error))
    try:
        connection.execute(f"PRAGMA busy_timeout = {WAIT_MS}")
        return judge(connection, path, schema)
    except sqlite3.DatabaseError as error:
        return _broken(found, error, schema)
    finally:
        connection.close()


def judge(connection: sqlite3.Connection, path: Path, schema: Schema) -> Inspection:
    """The same through a connection that is open already. Raises sqlite3.DatabaseError."""
    found = Inspection(path, FileState.ABSENT, schema.chain.head, schema.chain.baseline)
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    if not tables:
        return found
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != schema.application_id:
        return _refused(found, FileState.FOREIGN, _foreign(path, schema))
    if "schema_migrations" not in tables:
        return _refused(found, FileState.LEGACY, _legacy(found, schema))
    rows = records.read(connection)
    current = rows[-1].version if rows else None
    return _dispatch(
        replace(found, table_present=True, applied=rows, current=current), rows, schema
    )


def _dispatch(found: Inspection, rows: tuple[Applied, ...], schema: Schema) -> Inspection:
    """By version; the records count only where this program is to work with the file."""
    if found.current is None or found.current < found.baseline:
        return _refused(found, FileState.LEGACY, _legacy(found, schema))
    if wrong := records.fault(rows, schema.chain.steps):
        return _refused(found, FileState.TAMPERED, _tampered(found, schema, wrong))
    if found.current > found.head:
        return _refused(found, FileState.NEWER, _newer(found, schema))
    if found.current < found.head:
        return _refused(found, FileState.BEHIND, _behind(found))
    return replace(found, state=FileState.CURRENT)


def _refused(found: Inspection, state: FileState, refusal: LocaldbError) -> Inspection:
    return replace(found, state=state, refusal=refusal)


def _broken(found: Inspection, error: sqlite3.DatabaseError, schema: Schema) -> Inspection:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _LOCKED:
        busy = f"another process is migrating {found.path}; wait for it and try again"
        return _refused(found, FileState.UNREADABLE, RuntimeStateLocked(busy))
    ours = not code  # raised here about a row, not by SQLite
    if ours or code in _BROKEN or "no such" in str(error):
        return _refused(found, FileState.DAMAGED, damaged(found.path, error, plugin=schema.plugin))
    return _refused(found, FileState.UNREADABLE, _unreadable(found.path, error))


def damaged(path: Path, error: Exception, *, plugin: str = "") -> SchemaMismatch:
    """The refusal of a file that is cut off, overwritten or no database at all."""
    return SchemaMismatch(
        f"{path} is damaged or no database ({error}); put a copy of it back, "
        f"or move it away{_again(plugin)}"
    )


def _again(plugin: str) -> str:
    """What brings back what was in the catalog; of a plugin's file nothing is known."""
    return "" if plugin else " and add your sources again: localdb add FOLDER"


def _unreadable(path: Path, error: Exception) -> StorageUnavailable:
    reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else error
    return StorageUnavailable(f"cannot read {path}: {reason}; check its permissions and the disk")


def _foreign(path: Path, schema: Schema) -> SchemaMismatch:
    way_out = "move it away" if schema.plugin else "set paths.data to another folder"
    return SchemaMismatch(f"{path} was not made by this program; {way_out}")


def _legacy(found: Inspection, schema: Schema) -> SchemaMismatch:
    return SchemaMismatch(
        f"{found.path} has schema version {found.current or 0}, which cannot be migrated to "
        f"{found.head} (the oldest that can is {found.baseline}); "
        f"move it away{_again(schema.plugin)}"
    )


def _behind(found: Inspection) -> SchemaMismatch:
    return SchemaMismatch(
        f"{found.path} has schema version {found.current}, this program needs {found.head}; "
        "run: localdb db migrate"
    )


def _newer(found: Inspection, schema: Schema) -> SchemaMismatch:
    distribution = f"plugin {schema.plugin}" if schema.plugin else "localdb-core"
    option = f"--plugin {schema.plugin} " if schema.plugin else ""
    return SchemaMismatch(
        f"{found.path} has schema version {found.current}, this program knows {found.head}; "
        f"upgrade {distribution}, or step the file back: "
        f"localdb db downgrade {option}--to {found.head}"
    )


def _tampered(found: Inspection, schema: Schema, wrong: str) -> InternalError:
    return InternalError(
        f"{found.path}: {wrong}, so its tables cannot be trusted; "
        f"put a copy of it back, or move it away{_again(schema.plugin)}"
    )
