"""The table ``schema_migrations``: one row for each step that a file has behind it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Final

from blake3 import blake3

from localdb_core.domain.clock import utc_now
from localdb_core.domain.databases import Applied
from localdb_core.domain.errors import InternalError
from localdb_core.plugin import Migration

RECORD_TABLE: Final = """
    CREATE TABLE schema_migrations (
        version INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        applied_at TEXT NOT NULL,
        down_sql TEXT,
        down_unsupported_reason TEXT,
        checksum TEXT NOT NULL,
        CHECK ((down_sql IS NULL) <> (down_unsupported_reason IS NULL))
    ) STRICT
    """


def checksum(step: Migration) -> str:
    """Over version, name and both lists of statements (L-STO-21)."""
    text = json.dumps(
        [step.version, step.name, list(step.up), list(step.down)], separators=(",", ":")
    )
    return blake3(text.encode()).hexdigest()


def read(db: sqlite3.Connection) -> tuple[Applied, ...]:
    """Every row, oldest step first. Raises sqlite3.DatabaseError for what is no such row."""
    rows = db.execute(
        "SELECT version, name, applied_at, down_sql, down_unsupported_reason, checksum"
        " FROM schema_migrations ORDER BY version"
    )
    found = tuple(Applied(*row) for row in rows)
    for row in found:
        texts = (row.name, row.applied_at, row.checksum, row.down_sql or "")
        if type(row.version) is not int or not all(isinstance(text, str) for text in texts):
            raise sqlite3.DatabaseError("its table of migrations holds something else")
    return found


def add(db: sqlite3.Connection, steps: Iterable[Migration]) -> None:
    """Record steps as applied now; the caller's transaction holds the steps themselves."""
    db.executemany(
        "INSERT INTO schema_migrations (version, name, applied_at, down_sql,"
        " down_unsupported_reason, checksum) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (
                step.version,
                step.name,
                utc_now(),
                json.dumps(step.down) if step.down else None,
                step.irreversible or None,
                checksum(step),
            )
            for step in steps
        ],
    )


def remove(db: sqlite3.Connection, version: int) -> None:
    """Forget a step that was undone."""
    db.execute("DELETE FROM schema_migrations WHERE version = ?", (version,))


def way_down(row: Applied) -> list[str]:
    """The statements that undo a step, as its row has them. Raises InternalError."""
    try:
        statements = json.loads(row.down_sql or "null")
    except ValueError:
        statements = None
    if not isinstance(statements, list) or not all(isinstance(s, str) for s in statements):
        raise InternalError(f"the way down of schema version {row.version} cannot be read")
    return statements


def fault(rows: tuple[Applied, ...], steps: tuple[Migration, ...]) -> str | None:
    """What is wrong with the rows, as far as these steps can tell; None when nothing is.

    Rows of steps that are newer than the last of ``steps`` must only be complete.
    """
    if not steps or not rows:
        return "there are no records"
    known = {step.version: step for step in steps}
    by_version = {row.version: row for row in rows}
    for version in range(steps[0].version, rows[-1].version + 1):
        row, step = by_version.get(version), known.get(version)
        if row is None:
            return f"the record of schema version {version} is missing"
        if step is not None and not _agree(row, step):
            return f"the record of schema version {version} was changed"
    return None


def _agree(row: Applied, step: Migration) -> bool:
    down = json.dumps(step.down) if step.down else None
    return (row.name, row.checksum, row.down_sql, row.down_unsupported_reason) == (
        step.name,
        checksum(step),
        down,
        step.irreversible or None,
    )
