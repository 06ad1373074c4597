"""An eye on parsers that run in this process.

A thread cannot be ended from outside, so there is no hard limit as for worker processes
(S-6). What can be done is done: a parser that reports progress is stopped at its report
when the run ends or its time is up, one that is silent is told about.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from localdb_core.domain.errors import ExtractionFailed, JobCancelled
from localdb_core.domain.uri import display
from localdb_core.host.owned import Owned
from localdb_core.plugin import ParserSpec, Progress


@dataclass(eq=False)
class _Running:
    """One parser on one file, which is also the Progress that it is given."""

    uri: str
    parser: Owned[ParserSpec]
    stop: threading.Event
    started: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)
    told: bool = False

    def __call__(self, done: int, total: int | None = None, /) -> None:
        if self.stop.is_set():
            raise JobCancelled("stopped")
        self.heard = time.monotonic()
        limit = self.parser.value.total_limit
        if self.heard - self.started > limit:
            raise ExtractionFailed(f"not done after {limit:g} s; given up")


class Watch:
    """Knows which parsers are at work in this process; thread-safe."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._running: set[_Running] = set()
        self._lock = threading.Lock()

    @contextmanager
    def parsing(self, parser: Owned[ParserSpec], uri: str) -> Iterator[Progress]:
        """Watch one document; yields the Progress to give to the parser."""
        running = _Running(uri, parser, self._stop)
        with self._lock:
            self._running.add(running)
        try:
            yield running
        finally:
            with self._lock:
                self._running.discard(running)

    def silent(self) -> list[str]:
        """What to say of parsers without progress for their ``stall_limit``, once for each file."""
        now = time.monotonic()
        lines = []
        with self._lock:
            for running in self._running:
                limit = running.parser.value.stall_limit
                if not running.told and now - running.heard > limit:
                    running.told = True
                    lines.append(
                        f"{display(running.uri)}: {running.parser.full_id} has reported nothing "
                        f"for {limit:g} s and cannot be ended; to stop the run press Ctrl-C twice"
                    )
        return lines
