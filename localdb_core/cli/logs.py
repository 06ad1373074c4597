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

VARIABLE: Final = "LOCALDB_LOG"
FOREIGN: Final = "RUST_LOG"
"""Read as well, because other programs' users know it; it may hold what concerns only them."""

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

    ``as_json`` makes an object of every line: see :func:`as_object`. A level in
    LOCALDB_LOG that there is none of is told in one warning, no error.
    """
    environ = os.environ if environ is None else environ
    asked = environ.get(VARIABLE, "").strip()
    own = _level(asked)
    level = own or _level(environ.get(FOREIGN, "")) or logging.WARNING
    if verbose:
        level = logging.DEBUG
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
    if asked and own is None:
        _LOG.warning(
            "%s=%s is not understood; use error, warn, info, debug, trace or off",
            VARIABLE,
            asked[:40],
        )


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


def _level(text: str) -> int | None:
    """``debug``, or our part of ``warn,localdb=debug``; the most exact word wins."""
    general, ours = None, None
    for word in text.lower().split(","):
        target, equals, level = word.strip().rpartition("=")
        if not equals:
            general = _LEVELS.get(level, general)
        elif target.strip().partition("::")[0] in _OURS:
            ours = _LEVELS.get(level.strip(), ours)
    return general if ours is None else ours


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
