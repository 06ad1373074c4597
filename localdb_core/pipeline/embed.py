"""Embedding in slices, by as many callers as the embedder bears.

A document is cut into slices of about 32 chunks, so that one long book neither
idles the other caller nor delays Ctrl-C (S-1, S-5).
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from localdb_core.host.vectors import checked
from localdb_core.plugin import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

SLICE: Final = 32
TICK: Final = 0.1

J = TypeVar("J")


@dataclass
class EmbedJob(Generic[J]):
    """The texts of one document that need a vector; ``payload`` is the caller's own."""

    payload: J
    texts: Sequence[str]
    vectors: list[Matrix | None] = field(default_factory=list)
    failure: BaseException | None = None
    _left: int = 0
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def finished(self, start: int, rows: Matrix | None, failure: BaseException | None) -> bool:
        """Take one slice's answer; True when it was the last one."""
        with self._guard:
            if rows is not None:
                self.vectors[start : start + len(rows)] = list(rows)
            self.failure = self.failure or failure
            self._left -= 1
            return self._left == 0

    def expect(self, slices: int) -> None:
        """Say how many answers will come."""
        self.vectors = [None] * len(self.texts)
        self._left = slices


class EmbedStage(Generic[J]):
    """Caller threads between two queues; ``done`` is called with each whole job.

    The queue of slices is bounded, so ``submit`` waits when the callers are behind.
    Threads are not daemons: ``close`` joins them (S-5).
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        callers: int,
        done: Callable[[EmbedJob[J]], None],
        stop: threading.Event,
    ) -> None:
        self._embedder = embedder
        self._done = done
        self._stop = stop
        self._slices: queue.Queue[tuple[EmbedJob[J], int] | None] = queue.Queue(maxsize=callers * 4)
        self._threads = [
            threading.Thread(target=self._work, name=f"embed-{n}") for n in range(callers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: EmbedJob[J]) -> None:
        """Queue a job with at least one text; returns early when the run is stopped."""
        starts = range(0, len(job.texts), SLICE)
        job.expect(len(starts))
        for start in starts:
            if not self._put((job, start)):
                return

    def _put(self, item: tuple[EmbedJob[J], int] | None) -> bool:
        while not self._stop.is_set():
            try:
                self._slices.put(item, timeout=TICK)
            except queue.Full:
                continue
            return True
        return False

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                item = self._slices.get(timeout=TICK)
            except queue.Empty:
                continue
            if item is None:
                return
            self._embed(*item)

    def _embed(self, job: EmbedJob[J], start: int) -> None:
        texts = job.texts[start : start + SLICE]
        rows: Matrix | None = None
        failure: BaseException | None = None
        try:
            if job.failure is None:  # a document that failed needs no more vectors
                rows = checked(self._embedder.embed(texts, "passage"), len(texts), self._embedder)
        except BaseException as error:  # noqa: BLE001 - a worker loop: the document pays
            failure = error
        if job.finished(start, rows, failure):
            self._done(job)

    def close(self) -> None:
        """Let the callers finish what is queued (or stop, when told so) and join them."""
        for _ in self._threads:
            self._put(None)
        for thread in self._threads:
            thread.join()
