"""From an exception to one line on stderr and an exit status (spec §9)."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import traceback
from collections.abc import Sequence
from typing import Final

import click

from localdb_core.cli import render
from localdb_core.cli.state import State
from localdb_core.domain.errors import (
    InternalError,
    InvalidRequest,
    LocaldbError,
    RuntimeStateLocked,
    StorageUnavailable,
)

INTERRUPTED: Final = 130
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)


def report(error: BaseException, state: State, arguments: Sequence[str]) -> int:
    """Say what happened, in the form asked for; the exit status."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt | click.Abort):
        _say(state, "interrupted")
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return _quiet(state)
    if isinstance(error, click.ClickException):
        return _usage(error, state, arguments)
    known = as_domain(error)
    if state.verbose:
        traceback.print_exception(error, file=state.err)
    _error(state, known.code, str(known))
    return known.exit_status


def as_domain(error: BaseException) -> LocaldbError:
    """The error as one of ours."""
    if isinstance(error, LocaldbError):
        return error
    if isinstance(error, OSError) and error.errno in _FULL:
        return StorageUnavailable(str(error))
    if isinstance(error, sqlite3.OperationalError):
        return _database(error)
    return InternalError(f"{type(error).__name__}: {error}; run it again with --verbose")


def _database(error: sqlite3.OperationalError) -> LocaldbError:
    text = str(error)
    if "locked" in text or "busy" in text:
        return RuntimeStateLocked(f"{text}; another localdb is writing, try again")
    if "full" in text or "readonly" in text or "disk I/O" in text:
        return StorageUnavailable(text)
    return InternalError(f"sqlite3: {text}; run it again with --verbose")


def _usage(error: click.ClickException, state: State, arguments: Sequence[str]) -> int:
    message = error.format_message()
    # The parser may have failed before it came to --json.
    state.json = state.json or "--json" in arguments
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        _say(state, message)
    elif state.json:
        _error(state, InvalidRequest.code, str(InvalidRequest(message)))
    else:
        where = getattr(error, "ctx", None)
        hint = f"\ntry: {where.command_path} --help" if where is not None else ""
        _say(state, f"error: {message}{hint}")
    return 2


def _error(state: State, code: str, message: str) -> None:
    if state.json:
        _say(state, json.dumps({"error": code, "message": message}, indent=2))
    else:
        _say(state, f"error: {message}")


def _say(state: State, text: str) -> None:
    try:
        if not state.out.closed:
            state.out.flush()
    except OSError:  # the results cannot be written; that must not hide why
        _quiet(state)
    render.note(state, text)


def _quiet(state: State) -> int:
    """Results go nowhere from here on; keeps Python from complaining at the end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, state.out.fileno())  # descriptor 1 may be stderr by now
    os.close(null)
    return 0
