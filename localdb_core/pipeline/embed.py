"""Embedding in slices, by as many callers as the embedder bears.

A document is cut into slices of at most 32 chunks and a few thousand characters, so
that one long book neither idles the other caller nor delays Ctrl-C (S-1, S-5).
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from localdb_core.host.vectors import checked
from localdb_core.plugin import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

SLICE: Final = 32
SLICE_CHARACTERS: Final = 8000
"""About 2,000 tokens: less than a second of a small model on one slow core."""
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
        self._slices: queue.Queue[tuple[EmbedJob[J], slice] | None] = queue.Queue(
            maxsize=callers * 4
        )
        self._threads = [
            threading.Thread(target=self._work, name=f"embed-{n}") for n in range(callers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: EmbedJob[J]) -> None:
        """Queue a job with at least one text; returns early when the run is stopped."""
        slices = list(_slices(job.texts))
        job.expect(len(slices))
        for part in slices:
            if not self._put((job, part)):
                return

    def _put(self, item: tuple[EmbedJob[J], slice] | None) -> bool:
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

    def _embed(self, job: EmbedJob[J], part: slice) -> None:
        texts = job.texts[part]
        rows: Matrix | None = None
        failure: BaseException | None = None
        try:
            if job.failure is None:  # a document that failed needs no more vectors
                rows = checked(self._embedder.embed(texts, "passage"), len(texts), self._embedder)
        except BaseException as error:  # noqa: BLE001 - a worker loop: the document pays
            failure = error
        if job.finished(part.start, rows, failure):
            self._done(job)

    def close(self) -> None:
        """Let the callers finish what is queued (or stop, when told so) and join them."""
        for _ in self._threads:
            self._put(None)
        for thread in self._threads:
            thread.join()


def _slices(texts: Sequence[str]) -> Iterator[slice]:
    start = size = 0
    for end, text in enumerate(texts):
        if end > start and (end - start == SLICE or size + len(text) > SLICE_CHARACTERS):
            yield slice(start, end)
            start, size = end, 0
        size += len(text)
    yield slice(start, len(texts))
