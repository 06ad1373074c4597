"""Ctrl-C during long work: the first asks it to stop, the second ends the program."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType

from localdb_core.cli import render
from localdb_core.cli.failure import INTERRUPTED
from localdb_core.cli.state import State


@contextmanager
def stoppable(state: State) -> Iterator[Event]:
    """An event that the first Ctrl-C sets; what was committed until then stays.

    Raises:
        KeyboardInterrupt: at the end, when the work was asked to stop.
    """
    asked = Event()

    def stop(_: int, __: FrameType | None) -> None:
        if asked.is_set():
            os._exit(INTERRUPTED)  # the work does not answer
        asked.set()
        render.urgent(state, "stopping …")

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:  # as in a background job of a script
        signal.signal(signal.SIGINT, stop)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
    if asked.is_set():
        raise KeyboardInterrupt
