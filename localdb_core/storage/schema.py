"""Which version a catalog file has, and refusing those we must not touch (L-STO-20)."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from blake3 import blake3

from localdb_core.domain.clock import utc_now
from localdb_core.domain.errors import SchemaMismatch, StorageUnavailable
from localdb_core.domain.ids import new_ulid
from localdb_core.storage import ddl


def refuse_unusable(path: Path) -> None:
    """Raise SchemaMismatch unless the file is absent, empty, or ours at head version.

    Opens read-only, so a refused file is left exactly as it was.
    """
    if not path.exists() or path.stat().st_size == 0:
        return
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise StorageUnavailable(f"cannot open {path}: {error}") from error
    try:
        connection.execute("PRAGMA busy_timeout = 5000")
        _check(connection, path)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_NOTADB:
            raise SchemaMismatch(f"{path} is not a database; move it away") from error
        raise StorageUnavailable(f"cannot read {path}: {error}") from error
    finally:
        connection.close()


def _check(connection: sqlite3.Connection, path: Path) -> None:
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    if not tables:
        return
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != ddl.APPLICATION_ID or "schema_migrations" not in tables:
        raise SchemaMismatch(
            f"{path} was not made by this program; set paths.data to another folder"
        )
    (version,) = connection.execute("SELECT max(version) FROM schema_migrations").fetchone()
    if version is None or version < ddl.BASELINE_VERSION:
        raise SchemaMismatch(f"{path} records no schema version; it is damaged")
    if version > ddl.HEAD_VERSION:
        raise SchemaMismatch(
            f"{path} has schema version {version}, this program knows {ddl.HEAD_VERSION}; "
            "upgrade localdb-core"
        )


def create_if_new(connection: sqlite3.Connection, *, first_store: str | None = None) -> None:
    """Create the head schema in an empty file; two processes may race for it.

    ``first_store`` is created in the same transaction, so nobody sees the one without
    the other, and a store that was removed later never comes back.
    """
    if _has_tables(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _has_tables(connection):
            connection.execute(f"PRAGMA application_id = {ddl.APPLICATION_ID}")
            for statement in ddl.STATEMENTS:
                connection.execute(statement)
            _record_baseline(connection)
            if first_store is not None:
                connection.execute(
                    "INSERT INTO stores (id, name, created_at) VALUES (?, ?, ?)",
                    (new_ulid(), first_store, utc_now()),
                )
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _has_tables(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _record_baseline(connection: sqlite3.Connection) -> None:
    connection.execute(
        "INSERT INTO schema_migrations VALUES (?, ?, ?, NULL, ?, ?)",
        (
            ddl.BASELINE_VERSION,
            ddl.BASELINE_NAME,
            utc_now(),
            ddl.BASELINE_REASON,
            checksum(ddl.BASELINE_VERSION, ddl.BASELINE_NAME, ddl.STATEMENTS, ()),
        ),
    )


def checksum(version: int, name: str, up: tuple[str, ...], down: tuple[str, ...]) -> str:
    """Checksum of one migration over version, name and both statement lists (L-STO-21)."""
    text = json.dumps([version, name, list(up), list(down)], separators=(",", ":"))
    return blake3(text.encode()).hexdigest()
