"""Whether the steps of a database lead to one schema, whichever way they are taken."""

from __future__ import annotations

import re
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from localdb_core.domain.databases import StepEvent
from localdb_core.storage.connections import open_writer
from localdb_core.storage.migrations import records, runner
from localdb_core.storage.migrations.chain import Schema

Shape = dict[tuple[str, str], str]
"""Kind and name of each table, index, trigger and view, and its SQL without needless blanks."""


def shape(path: Path) -> Shape:
    """The schema of a file, comparable."""
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master").fetchall()
    return {
        (kind, name): re.sub(r"\s*([(),])\s*", r"\1", " ".join(sql.split()))
        for kind, name, sql in rows
    }


def there_and_back(schema: Schema, path: Path) -> tuple[Shape, Shape]:
    """The shape of a new file, and that after going down as far as possible and up again."""
    open_writer(path, schema).close()
    fresh = shape(path)
    with runner.alone_with(path, timeout_ms=0) as db:
        blocked = [row.version for row in records.read(db) if not row.downgradable]
        lowest = max([schema.chain.baseline, *blocked])
        runner.step_down(db, lowest, on_step=_silent, cancel=threading.Event())
        runner.step_up(db, schema, on_step=_silent, cancel=threading.Event())
    return fresh, shape(path)


def _silent(event: StepEvent) -> None:
    """Show nothing."""
