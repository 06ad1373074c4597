"""The catalog's schema: refusing files that we must not touch, making new ones."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from localdb_core.domain.clock import utc_now
from localdb_core.domain.errors import PluginError
from localdb_core.domain.ids import new_ulid
from localdb_core.storage import ddl
from localdb_core.storage.migrations import records
from localdb_core.storage.migrations.chain import Chain, Schema
from localdb_core.storage.migrations.fence import fenced, is_fault
from localdb_core.storage.migrations.inspection import inspect, judge

CATALOG: Final = Schema(
    ddl.APPLICATION_ID, Chain.load("localdb_core.storage.migrations"), ddl.STATEMENTS
)


def refuse_unusable(path: Path, schema: Schema) -> None:
    """Raise unless the file is absent, empty, or ours and at head (L-STO-20).

    Opens read-only, so a refused file is left exactly as it was. Raises SchemaMismatch;
    InternalError when its records were changed; StorageUnavailable, RuntimeStateLocked.
    """
    refusal = inspect(path, schema).refusal
    if refusal is not None:
        raise refusal


def create_if_new(
    connection: sqlite3.Connection, path: Path, schema: Schema, *, first_store: str | None = None
) -> None:
    """Create the head schema in an empty file; two processes may race for it.

    ``first_store`` is created in the same transaction, so nobody sees the one without
    the other, and a store that was removed later never comes back. The file is judged
    once more: it may have been migrated since :func:`refuse_unusable` looked at it, and
    from here on this connection keeps migrations away.
    """
    if not _has_tables(connection):
        _create(connection, schema, first_store)
    refusal = judge(connection, path, schema).refusal
    if refusal is not None:
        raise refusal


def _create(connection: sqlite3.Connection, schema: Schema, first_store: str | None) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _has_tables(connection):
            connection.execute(f"PRAGMA application_id = {schema.application_id}")
            with fenced(connection):
                for statement in schema.statements:
                    connection.execute(statement)
            records.add(connection, schema.chain.steps)
            if first_store is not None:
                connection.execute(
                    "INSERT INTO stores (id, name, created_at) VALUES (?, ?, ?)",
                    (new_ulid(), first_store, utc_now()),
                )
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if schema.plugin and isinstance(error, sqlite3.DatabaseError) and is_fault(error):
            raise PluginError(schema.plugin, stage="migrations", reason=str(error)) from error
        raise
    connection.execute("COMMIT")


def _has_tables(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
