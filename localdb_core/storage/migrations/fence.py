"""Keeps the statements of a step inside their transaction and their file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_FORBIDDEN: Final = frozenset(
    {sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT, sqlite3.SQLITE_ATTACH}
    | {sqlite3.SQLITE_DETACH}
)

_FAULTS: Final = frozenset(
    {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_AUTH}
    | {sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_MISUSE}
)
"""The step itself is wrong, or wrong for this file."""


@contextmanager
def fenced(db: sqlite3.Connection) -> Iterator[None]:
    """In the block, beginning, committing and attaching are refused as «not authorized».

    A step's statements come from plugins, and the way down from the file itself.
    """
    db.set_authorizer(_authorize)
    try:
        yield
    finally:
        db.set_authorizer(None)


def is_fault(error: sqlite3.DatabaseError) -> bool:
    """Whether a step itself is to blame, not a full disk, a lock or a damaged file."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    return code in _FAULTS


def _authorize(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_DENY if action in _FORBIDDEN else sqlite3.SQLITE_OK
