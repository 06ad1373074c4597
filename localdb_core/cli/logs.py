"""Where log lines go: warnings and above to stderr, one line each (spec §2.5)."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from typing import Final

from localdb_core.domain.uri import printable

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


def set_up(*, verbose: bool, environ: Mapping[str, str] | None = None) -> None:
    """Show our own log; other libraries' only when everything is asked for."""
    level = logging.DEBUG if verbose else _level(os.environ if environ is None else environ)
    handler = _Stderr()
    handler.setFormatter(_Line())
    for name in _OURS:
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.propagate = False
        logger.handlers[:] = [handler]
    # Without a handler Python would print the warnings of every PDF library.
    root = logging.getLogger()
    root.handlers[:] = [handler if level <= logging.DEBUG else logging.NullHandler()]


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

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the traceback if the record has one."""
        level = record.levelname.lower()
        origin = f"{record.name}: " if record.levelno < logging.WARNING else ""
        said = f"{level}: {origin}{printable(record.getMessage())}"
        if record.exc_info:
            said += "\n" + self.formatException(record.exc_info)
        return said.encode("utf-8", "backslashreplace").decode("utf-8")
