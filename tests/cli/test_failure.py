"""From exceptions to lines and exit statuses."""

import errno
import io
import json
import sqlite3

import click
import pytest

from localdb_core.cli.failure import report
from localdb_core.cli.state import State
from localdb_core.domain.errors import (
    ERRORS_BY_CODE,
    IndexInProgress,
    ModelMissing,
    PluginError,
    StoreNotFound,
)


def said(error, *, as_json=False, verbose=False, arguments=()):
    state = State(json=as_json, verbose=verbose, out=io.StringIO(), err=io.StringIO())
    status = report(error, state, arguments)
    assert state.out.getvalue() == ""
    return status, state.err.getvalue()


@pytest.mark.req("L-ERR-02")
@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (StoreNotFound("x"), 3, "error: store not found: x\n"),
        (IndexInProgress("x"), 4, "error: index already in progress: x\n"),
        (ModelMissing("x"), 5, "error: model missing: x\n"),
        (click.UsageError("no"), 2, "error: no\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (click.Abort(), 130, "interrupted\n"),
        (BrokenPipeError(), 0, ""),
        (SystemExit(7), 7, ""),
    ],
)
def test_each_error_has_its_line_and_its_status(error, status, text, monkeypatch):
    monkeypatch.setattr("localdb_core.cli.failure._quiet", lambda state: 0)

    assert said(error) == (status, text)


@pytest.mark.req("L-ERR-03")
@pytest.mark.parametrize("kind", sorted(ERRORS_BY_CODE.values(), key=lambda kind: kind.code))
def test_in_json_every_error_carries_its_code_and_the_whole_message(kind):
    status, text = said(kind("reason"), as_json=True)

    assert status == kind.exit_status
    assert json.loads(text) == {"error": kind.code, "message": f"{kind.prefix}reason"}


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "storage_unavailable", 5),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), "storage_unavailable", 5),
        (sqlite3.OperationalError("database is locked"), "runtime_state_locked", 4),
        (sqlite3.OperationalError("database or disk is full"), "storage_unavailable", 5),
        (sqlite3.OperationalError("disk I/O error"), "storage_unavailable", 5),
        (sqlite3.OperationalError("unable to open database file"), "storage_unavailable", 5),
        (sqlite3.OperationalError("no such table: x"), "storage_unavailable", 5),
        (sqlite3.DatabaseError("database disk image is malformed"), "storage_unavailable", 5),
        (OSError(errno.EIO, "Input/output error"), "storage_unavailable", 5),
        (OSError(errno.EMFILE, "Too many open files"), "storage_unavailable", 5),
        (sqlite3.OperationalError("near x: syntax error"), "internal", 1),
        (PluginError("pdf", stage="import", reason="no"), "internal", 1),
        (ZeroDivisionError("x"), "internal", 1),
    ],
)
def test_errors_of_the_system_become_ours(error, code, status):
    got, text = said(error, as_json=True)

    assert (got, json.loads(text)["error"]) == (status, code)


def test_an_internal_error_has_an_id_and_shows_a_traceback_only_when_asked():
    try:
        raise ZeroDivisionError("x")
    except ZeroDivisionError as error:
        _, short = said(error)
        _, long = said(error, verbose=True)

    assert short.startswith("error: ZeroDivisionError: x; run it again with --verbose (id ")
    assert "Traceback" not in short
    assert "Traceback" in long


def test_a_usage_error_is_json_even_if_the_parser_stopped_before_json():
    _, text = said(click.UsageError("no"), arguments=["status", "--bogus", "--json"])

    assert json.loads(text) == {"error": "invalid_request", "message": "invalid request: no"}
