"""Stepping a database file up or down, alone with it, one transaction for each step.

    with alone_with(path, timeout_ms=2000) as db:
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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from localdb_core.domain.databases import Inspection, StepEvent
from localdb_core.domain.errors import InternalError, InvalidRequest, RuntimeStateLocked
from localdb_core.storage.connections import connect, translated
from localdb_core.storage.migrations import records
from localdb_core.storage.migrations.chain import Schema
from localdb_core.storage.migrations.fence import fenced, is_fault

OnStep = Callable[[StepEvent], None]

_INSTRUCTIONS: Final = 100_000
"""SQLite instructions between two looks at the cancel event; some milliseconds."""

_SILENCE: Final = 1.0
"""Seconds without a word inside of one statement."""


@contextlib.contextmanager
def alone_with(path: Path, *, timeout_ms: int) -> Iterator[sqlite3.Connection]:
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
        teller = _Teller(step.version, step.name, True, len(step.up), on_step)
        with _transaction(db, teller, cancel):
            _run(db, step.up, teller)
            if step.kind == "rebuild" and db.execute("PRAGMA foreign_key_check").fetchone():
                raise InternalError(f"schema version {step.version} leaves rows without owners")
            records.add(db, [step])
        teller.finished()
    return len(steps)


def step_down(
    db: sqlite3.Connection, target: int, *, on_step: OnStep, cancel: threading.Event
) -> int:
    """Undo steps by what their rows say, down to ``target``; how many there were.

    Raises as :func:`step_up`.
    """
    rows = [row for row in records.read(db) if row.version > target]
    for row in reversed(rows):
        statements = records.way_down(row)
        teller = _Teller(row.version, row.name, False, len(statements), on_step)
        with _transaction(db, teller, cancel):
            _run(db, statements, teller)
            records.remove(db, row.version)
        teller.finished()
    return len(rows)


def reclaimable(db: sqlite3.Connection) -> int:
    """Bytes that a vacuum would give back; 0 when it is less than a tenth of the file."""
    pages, free, size = (
        db.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int(free * size) if free * 10 > pages else 0


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


@contextlib.contextmanager
def stoppable(
    db: sqlite3.Connection, cancel: threading.Event, *, tick: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Statements in the block are given up when ``cancel`` is set; ``tick`` is called often.

    Raises KeyboardInterrupt when that happens.
    """

    def look() -> int:
        tick()
        return int(cancel.is_set())

    if cancel.is_set():
        raise KeyboardInterrupt
    db.set_progress_handler(look, _INSTRUCTIONS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if cancel.is_set():
            raise KeyboardInterrupt from error
        raise
    finally:
        db.set_progress_handler(None, 0)


def vacuum(path: Path, cancel: threading.Event) -> None:
    """Write a file anew without its gaps; others may read it meanwhile, but not write.

    Raises StorageUnavailable, RuntimeStateLocked, and KeyboardInterrupt when ``cancel`` is
    set; the file is as it was then.
    """
    with contextlib.closing(connect(path, readonly=False)) as db, translated(path):
        with stoppable(db, cancel):
            db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def keep_copy(db: sqlite3.Connection, path: Path, version: int, *, cancel: threading.Event) -> Path:
    """A copy of the whole file beside it, named after its version; complete or not there.

    Raises as :func:`vacuum`.
    """
    target = _unused(path.with_name(f"{path.name}.v{version}.bak"))
    fresh = target.with_name(f"{target.name}.new")
    try:
        with translated(path), stoppable(db, cancel):
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


@dataclass
class _Teller:
    """Tells how far one step is, from its own loop and from inside of a long statement."""

    version: int
    name: str
    forward: bool
    total: int
    on_step: OnStep
    done: int = 0
    _began: float = field(default_factory=time.monotonic)
    _told: float = 0.0

    def tell(self) -> None:
        self._told = time.monotonic()
        self.on_step(self._event())

    def tick(self) -> None:
        """Called very often."""
        if time.monotonic() - self._told >= _SILENCE:
            self.tell()

    def finished(self) -> None:
        event = self._event()
        self.on_step(replace(event, done=self.total, duration_ms=event.elapsed_ms))

    def _event(self) -> StepEvent:
        elapsed = int((time.monotonic() - self._began) * 1000)
        return StepEvent(self.version, self.name, self.forward, self.done, self.total, elapsed)


@contextlib.contextmanager
def _transaction(
    db: sqlite3.Connection, teller: _Teller, cancel: threading.Event
) -> Iterator[None]:
    """One step: all of it or nothing."""
    db.execute("BEGIN EXCLUSIVE")
    try:
        with stoppable(db, cancel, tick=teller.tick):
            yield
    except BaseException as error:
        if db.in_transaction:
            db.execute("ROLLBACK")
        if isinstance(error, sqlite3.DatabaseError) and is_fault(error):
            raise InternalError(
                f"the step of schema version {teller.version} ({teller.name}) failed and was "
                f"rolled back: {error}"
            ) from error
        raise
    db.execute("COMMIT")


def _run(db: sqlite3.Connection, statements: Sequence[str], teller: _Teller) -> None:
    with fenced(db):
        for done, statement in enumerate(statements):
            teller.done = done
            teller.tell()
            db.execute(statement)
