"""The interpreter and what it was built with."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Final

from localdb_core.domain.health import Check
from localdb_core.version import __version__

_OLDEST: Final = (3, 11)
_OTHER_PYTHON: Final = "install localdb with another Python, such as that of python.org"


def checks() -> Iterator[Check]:
    """Versions, and the parts of SQLite that localdb is built on."""
    version = sys.version_info[:3]
    said = f"localdb {__version__} on Python {'.'.join(map(str, version))} in {sys.prefix}"
    if version >= _OLDEST:
        yield Check.ok("program", said)
    else:
        yield Check.fail("program", f"{said}, which is too old", "install Python 3.11 or newer")
    yield _sqlite()


def _sqlite() -> Check:
    try:
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.Error as error:
        message = f"SQLite {sqlite3.sqlite_version} has no FTS5 ({error})"
        return Check.fail("sqlite", message, _OTHER_PYTHON)
    return Check.ok("sqlite", f"SQLite {sqlite3.sqlite_version} with FTS5")
