"""Keeps standard output for the program's own answers.

``print`` in a plugin, ``os.write(1, …)`` and C libraries all write to descriptor
1. Once that points at stderr they can do no harm, and the program writes to a
duplicate that nobody else knows (S-7).
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import TextIO

# One process has one descriptor 1, so what became of it is the process's state.
_original: TextIO | None = None


def divert_stdout() -> TextIO:
    """Point descriptor 1 and ``sys.stdout`` at stderr; returns the real stdout.

    The stream writes UTF-8 whatever the locale, and never fails on a lone
    surrogate. Calling it again returns the same stream. With standard output
    closed it writes to nowhere.
    """
    global _original
    if _original is None or _original.closed:
        if sys.stdout is not None:
            sys.stdout.flush()
        _original = _open(_duplicate())
        _point_at_stderr()
        sys.stdout = sys.stderr
        atexit.register(_flush, _original)
    return _original


def _duplicate() -> int:
    """A descriptor of our own for what was standard output."""
    try:
        return os.dup(1)
    except OSError:  # closed by whoever started us
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if nowhere > 2:
            return nowhere
        moved = _above_standard(nowhere)
        os.close(nowhere)
        return moved


def _above_standard(descriptor: int) -> int:
    """The same file on a descriptor above 2, so that later redirections miss it."""
    copy = os.dup(descriptor)
    if copy > 2:
        return copy
    try:
        return _above_standard(copy)
    finally:
        os.close(copy)


def _point_at_stderr() -> None:
    try:
        os.dup2(2, 1)
    except OSError:  # stderr is closed too
        nowhere = os.open(os.devnull, os.O_WRONLY)
        if nowhere != 1:
            os.dup2(nowhere, 1)
            os.close(nowhere)


def _open(descriptor: int) -> TextIO:
    return open(descriptor, "w", encoding="utf-8", errors="backslashreplace")


def _flush(stream: TextIO) -> None:
    """Write out what is left at exit; a reader that went away is not an error then."""
    try:
        if not stream.closed:
            stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
