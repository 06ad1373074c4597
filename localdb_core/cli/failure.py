"""From an exception to one line on stderr and an exit status (spec §9)."""

from __future__ import annotations

import errno
import os
import sqlite3
import traceback
from collections.abc import Sequence
from typing import Final

import click

from localdb_core.cli import crashlog, render
from localdb_core.cli.state import State
from localdb_core.domain.errors import (
    InternalError,
    InvalidRequest,
    LocaldbError,
    RuntimeStateLocked,
    StorageUnavailable,
)

INTERRUPTED: Final = 130
_ROOM: Final = "free some space and try again"
_RIGHTS: Final = "check who may read and write there"
_DEVICE: Final = "check the disk, and see: localdb doctor"
_FILES: Final = "close some programs, or raise the limit of open files"
_REMEDIES: Final = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EROFS: _RIGHTS,
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EIO: _DEVICE,
    errno.ESTALE: _DEVICE,
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
}


def report(error: BaseException, state: State, arguments: Sequence[str]) -> int:
    """Say what happened, in the form asked for; the exit status."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    # The parser may have failed before it came to --json.
    state.json = state.json or (isinstance(error, click.ClickException) and "--json" in arguments)
    if isinstance(error, BrokenPipeError):
        return _quiet(state)
    _flush(state)
    if isinstance(error, KeyboardInterrupt | click.Abort):
        render.note(state, "interrupted")
        return INTERRUPTED
    if isinstance(error, click.ClickException):
        return _usage(error, state)
    known = as_domain(error)
    if isinstance(known, InternalError):
        crashlog.keep(state.logs, known, error)
    if state.verbose:
        render.note(state, "".join(traceback.format_exception(error)).rstrip(), level="debug")
    render.error(state, known.code, str(known))
    return known.exit_status


def as_domain(error: BaseException) -> LocaldbError:
    """The error as one of ours."""
    if isinstance(error, LocaldbError):
        return error
    if isinstance(error, OSError) and error.errno in _REMEDIES:
        return StorageUnavailable(f"{error}; {_REMEDIES[error.errno]}")
    if isinstance(error, sqlite3.Error):
        return _database(error)
    return InternalError(f"{type(error).__name__}: {error}; run it again with --verbose")


def _database(error: sqlite3.Error) -> LocaldbError:
    text = str(error)
    if "locked" in text or "busy" in text:
        return RuntimeStateLocked(f"{text}; another localdb is writing, try again")
    if any(sign in text for sign in ("full", "readonly", "disk I/O", "unable to open")):
        return StorageUnavailable(f"{text}; {_ROOM}, and see: localdb doctor")
    if any(sign in text for sign in ("no such table", "malformed", "not a database")):
        return StorageUnavailable(f"the database is damaged: {text}; see: localdb doctor")
    return InternalError(f"sqlite3: {text}; run it again with --verbose")


def _usage(error: click.ClickException, state: State) -> int:
    message = error.format_message()
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and not state.json:
        render.note(state, message)
    elif isinstance(error, click.exceptions.NoArgsIsHelpError):
        render.error(
            state,
            InvalidRequest.code,
            str(InvalidRequest("say which command; see: localdb --help")),
        )
    elif state.json:
        render.error(state, InvalidRequest.code, str(InvalidRequest(message)))
    else:
        where = getattr(error, "ctx", None)
        hint = f"\ntry: {where.command_path} --help" if where is not None else ""
        render.error(state, InvalidRequest.code, f"{message}{hint}")
    return InvalidRequest.exit_status


def _flush(state: State) -> None:
    """Results first; if they cannot be written, that must not hide why."""
    try:
        if not state.out.closed:
            state.out.flush()
    except OSError:
        _quiet(state)


def _quiet(state: State) -> int:
    """Results go nowhere from here on; keeps Python from complaining at the end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, state.out.fileno())  # descriptor 1 may be stderr by now
    os.close(null)
    return 0
