"""Stepping a database file up or down, alone with it, one transaction for each step.

    with alone_with(path) as db:
        step_up(db, CATALOG, on_step=show, cancel=event)

A kill at any moment leaves the file at the version of the last whole step.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from localdb_core.domain.databases import Applied, Inspection, StepEvent
from localdb_core.domain.errors import InternalError, InvalidRequest, RuntimeStateLocked
from localdb_core.plugin import Migration
from localdb_core.storage.connections import BUSY_TIMEOUT_MS, connect, translated
from localdb_core.storage.migrations import records
from localdb_core.storage.migrations.chain import Schema

OnStep = Callable[[StepEvent], None]

_INSTRUCTIONS: Final = 100_000
"""SQLite instructions between two looks at the cancel event; some milliseconds."""

_FORBIDDEN: Final = frozenset(
    {sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT, sqlite3.SQLITE_ATTACH}
    | {sqlite3.SQLITE_DETACH}
)
"""What would break the step's transaction, or reach another file."""


@contextlib.contextmanager
def alone_with(path: Path, *, timeout_ms: int = BUSY_TIMEOUT_MS) -> Iterator[sqlite3.Connection]:
    """A connection that nobody else can have beside it, until the block ends.

    Every open localdb holds a shared lock on its database, so one that indexes or serves
    is found here, and one that starts meanwhile waits. Raises RuntimeStateLocked.
    """
    with contextlib.closing(connect(path, readonly=False)) as db, translated(path):
        db.execute(f"PRAGMA busy_timeout = {timeout_ms}")
        db.execute("PRAGMA foreign_keys = OFF")  # tables may be rebuilt
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        try:
            db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            raise RuntimeStateLocked(
                f"another localdb has {path} open; stop it (localdb index, localdb mcp, the "
                "program that started it) and run the command again"
            ) from error
        db.execute("COMMIT")
        yield db


def step_up(
    db: sqlite3.Connection, schema: Schema, *, on_step: OnStep, cancel: threading.Event
) -> int:
    """Apply every step that the file has before it; how many there were.

    Raises:
        InternalError: a step failed; it was rolled back, those before it stay.
        KeyboardInterrupt: ``cancel`` was set; the same holds.
    """
    steps = schema.chain.after(records.read(db)[-1].version)
    for step in steps:
        with _transaction(db, step.version, cancel):
            _run(db, step, step.up, forward=True, on_step=on_step)
            if step.kind == "rebuild" and db.execute("PRAGMA foreign_key_check").fetchone():
                raise InternalError(f"schema version {step.version} leaves rows without owners")
            records.add(db, [step])
    return len(steps)


def step_down(
    db: sqlite3.Connection, target: int, *, on_step: OnStep, cancel: threading.Event
) -> int:
    """Undo steps by what their rows say, down to ``target``; how many there were.

    Raises as :func:`step_up`.
    """
    rows = [row for row in records.read(db) if row.version > target]
    for row in reversed(rows):
        with _transaction(db, row.version, cancel):
            _run(db, row, records.way_down(row), forward=False, on_step=on_step)
            records.remove(db, row.version)
    return len(rows)


def check_target(found: Inspection, target: int | None) -> int:
    """Where a downgrade goes: one step down unless said otherwise.

    Raises:
        InvalidRequest: there is no way to that version.
    """
    if found.current is None:
        raise InvalidRequest(f"there is no database at {found.path} yet")
    wanted = found.current - 1 if target is None else target
    if wanted < found.baseline:
        raise InvalidRequest(f"version {found.baseline} is the oldest one can go back to")
    if wanted >= found.current:
        raise InvalidRequest(
            f"the database has schema version {found.current}, going back to {wanted} is no step "
            "down; see: localdb db status"
        )
    for row in reversed(found.applied):
        if row.version > wanted and not row.downgradable:
            raise InvalidRequest(
                f"schema version {row.version} ({row.name}) cannot be undone: "
                f"{row.down_unsupported_reason}"
            )
    return wanted


def keep_copy(db: sqlite3.Connection, path: Path, version: int) -> Path:
    """A copy of the whole file beside it, named after its version; complete or not there.

    Raises StorageUnavailable when there is no room.
    """
    target = _unused(path.with_name(f"{path.name}.v{version}.bak"))
    fresh = target.with_name(f"{target.name}.new")
    try:
        with translated(path):
            fresh.unlink(missing_ok=True)
            db.execute("VACUUM INTO ?", (str(fresh),))
        with open(fresh, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(fresh, target)
    finally:
        fresh.unlink(missing_ok=True)
    return target


def _unused(wanted: Path) -> Path:
    number, found = 1, wanted
    while found.exists():
        number += 1
        found = wanted.with_name(f"{wanted.name}.{number}")
    return found


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection, version: int, cancel: threading.Event) -> Iterator[None]:
    """One step: all of it or nothing, and stopped when ``cancel`` is set."""
    if cancel.is_set():
        raise KeyboardInterrupt
    db.execute("BEGIN EXCLUSIVE")
    db.set_progress_handler(lambda: int(cancel.is_set()), _INSTRUCTIONS)
    try:
        yield
    except BaseException as error:
        db.set_progress_handler(None, 0)
        if db.in_transaction:
            db.execute("ROLLBACK")
        if cancel.is_set():
            raise KeyboardInterrupt from error
        if isinstance(error, sqlite3.DatabaseError) and not _of_the_surroundings(error):
            raise InternalError(
                f"the step of schema version {version} failed and was rolled back: {error}"
            ) from error
        raise
    db.set_progress_handler(None, 0)
    db.execute("COMMIT")


def _of_the_surroundings(error: sqlite3.DatabaseError) -> bool:
    """A full disk, a lock, a damaged file: translated elsewhere."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    ours = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_AUTH)
    return code not in (*ours, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_MISUSE)


def _run(
    db: sqlite3.Connection,
    step: Migration | Applied,
    statements: Sequence[str],
    *,
    forward: bool,
    on_step: OnStep,
) -> None:
    started = time.monotonic()
    total = len(statements)
    db.set_authorizer(_authorize)
    try:
        for done, statement in enumerate(statements):
            on_step(StepEvent(step.version, step.name, forward, done, total))
            db.execute(statement)
    finally:
        db.set_authorizer(None)
    took = int((time.monotonic() - started) * 1000)
    on_step(StepEvent(step.version, step.name, forward, total, total, took))


def _authorize(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_DENY if action in _FORBIDDEN else sqlite3.SQLITE_OK
