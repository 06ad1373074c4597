"""The catalog file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from localdb_core.domain.errors import LocaldbError
from localdb_core.domain.health import Check
from localdb_core.services.doctor.collect import of_error
from localdb_core.services.doctor.setup import Setup
from localdb_core.storage import schema
from localdb_core.storage.migrations.inspection import judge
from localdb_core.storage.reading import look_into

LARGE_LOG: Final = 256 << 20
"""Bytes of write-ahead log that no healthy run leaves behind."""


def checks(found: Setup) -> Iterator[Check]:
    """Version, integrity, tables and write-ahead log."""
    if found.paths is None:
        return
    path = found.paths.database
    if not os.path.exists(path) or path.stat().st_size == 0:
        yield Check.ok("database", f"{path} is not there yet; the first command makes it")
        return
    try:
        yield _inside(path)
    except LocaldbError as error:
        yield of_error("database", error)
    except sqlite3.Error as error:
        yield _damaged(path, str(error))
    yield from _log(path)


def _inside(path: Path) -> Check:
    with closing(look_into(path)) as db:
        refusal = judge(db, path, schema.CATALOG).refusal
        if refusal is not None:
            raise refusal
        (verdict, *_) = (row[0] for row in db.execute("PRAGMA quick_check(1)"))
        if verdict != "ok":
            return _damaged(path, str(verdict))
        there = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
        (version,) = db.execute("SELECT max(version) FROM schema_migrations").fetchone()
    missing = sorted(_expected() - there)
    if missing:
        return _damaged(path, f"without {', '.join(missing)}")
    return Check.ok("database", f"{path} is sound, schema version {version}")


def _expected() -> set[str]:
    """Every table and index that a new database has."""
    with closing(sqlite3.connect(":memory:")) as db:
        for statement in schema.CATALOG.statements:
            db.execute(statement)
        return {row[0] for row in db.execute("SELECT name FROM sqlite_master")}


def _damaged(path: Path, what: str) -> Check:
    return Check.fail(
        "database",
        f"{path} is damaged: {what}",
        f"put a copy back, or move {path} away and add your sources again",
    )


def _log(path: Path) -> Iterator[Check]:
    log = path.with_name(f"{path.name}-wal")
    size = log.stat().st_size if log.exists() else 0
    if size > LARGE_LOG:
        yield Check.warn(
            "write-ahead log",
            f"{log} has {size >> 20} MB",
            "end every other localdb, then: localdb status",
        )
