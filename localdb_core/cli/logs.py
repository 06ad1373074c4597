"""Where log lines go: warnings and above to stderr, one line each (spec §2.5)."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from localdb_core.domain.uri import printable

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

VARIABLES: Final = ("LOCALDB_LOG", "RUST_LOG")
_OURS: Final = ("localdb", "localdb_core")
_LEVELS: Final = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "off": logging.CRITICAL + 1,
}


_LOG: Final = logging.getLogger(__name__)


def set_up(
    *, verbose: bool, as_json: bool = False, environ: Mapping[str, str] | None = None
) -> None:
    """Show our own log; other libraries' only when everything is asked for.

    ``as_json`` makes an object of every line: see :func:`as_object`.
    """
    level = logging.DEBUG if verbose else _level(os.environ if environ is None else environ)
    handler = _Stderr()
    handler.setFormatter(_Line(tracebacks=level <= logging.DEBUG, as_json=as_json))
    for name in _OURS:
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.propagate = False
        logger.handlers[:] = [handler]
    # Without a handler Python would print the warnings of every PDF library.
    root = logging.getLogger()
    root.handlers[:] = [handler if level <= logging.DEBUG else logging.NullHandler()]


def as_object(level: str, message: str, **more: str) -> str:
    """A line of stderr under ``--json``: ``{"level": "warning", "message": "…"}``."""
    return json.dumps({"level": level, "message": message, **more})


def keep_tracebacks() -> None:
    """Send to the log what Python prints by itself about threads, finalizers and warnings."""
    logging.raiseExceptions = False  # a log line that cannot be written is not worth two
    logging.captureWarnings(True)
    threading.excepthook = _thread_failed
    sys.unraisablehook = _unraisable


def _thread_failed(failed: threading.ExceptHookArgs) -> None:
    error = failed.exc_value
    if error is None or isinstance(error, SystemExit):
        return
    _LOG.warning(
        "work in the background failed: %s: %s; run it again with --verbose",
        type(error).__name__,
        error,
        exc_info=error,
    )


def _unraisable(failed: UnraisableHookArgs) -> None:
    """Something went wrong while an object was thrown away; nobody waits for it."""
    _LOG.debug("%s: %r", failed.err_msg or "ignored", failed.object, exc_info=failed.exc_value)


def _level(environ: Mapping[str, str]) -> int:
    for name in VARIABLES:
        # RUST_LOG may hold more than one word; only a plain level is understood.
        level = _LEVELS.get(environ.get(name, "").strip().lower())
        if level is not None:
            return level
    return logging.WARNING


class _Stderr(logging.Handler):
    """Writes to whatever stderr is now: a progress bar puts itself in between."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(self.format(record) + "\n")
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):
            pass  # nobody can be told


class _Line(logging.Formatter):
    """``warning: message``; with the logger's name below warnings."""

    def __init__(self, *, tracebacks: bool, as_json: bool) -> None:
        super().__init__()
        self._tracebacks = tracebacks
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the traceback if the record has one and everything is asked for."""
        level = record.levelname.lower()
        origin = f"{record.name}: " if record.levelno < logging.WARNING else ""
        message = origin + printable(record.getMessage())
        trace = ""
        if record.exc_info and self._tracebacks:
            trace = self.formatException(record.exc_info)
        if self._as_json:
            return as_object(level, message, **({"traceback": trace} if trace else {}))
        said = "\n".join(filter(None, (f"{level}: {message}", trace)))
        return said.encode("utf-8", "backslashreplace").decode("utf-8")
