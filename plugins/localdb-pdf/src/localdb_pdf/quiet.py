"""Keeping pypdf's remarks about damaged files away from the person's terminal."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

_lock = threading.Lock()
_inside = 0
_undo = ExitStack()


@contextmanager
def quiet() -> Iterator[None]:
    """No log records and no warnings from pypdf while anybody is inside.

    Both are settings of the whole process, so threads share one change: the first
    one in makes it, the last one out takes it back.
    """
    global _inside
    with _lock:
        _inside += 1
        if _inside == 1:
            _silence()
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _undo.close()


def _silence() -> None:
    logger = logging.getLogger("pypdf")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    _undo.callback(logger.setLevel, before)
    _undo.enter_context(warnings.catch_warnings())
    warnings.simplefilter("ignore")
