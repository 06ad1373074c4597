"""Calls under way: each on a thread of its own, cancellable, with its progress.

The threads are daemons. One whose tool does not end when nobody waits any more must
not keep the process alive, and nothing can end it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import anyio

from localdb_core.domain import InternalError
from localdb_core.plugin import CancelToken, ToolCall, ToolFailure

PARALLEL: Final = 8
MAX_STUCK: Final = 8
"""Cancelled calls of one tool that still run, before it is asked nothing more."""

PROGRESS_EVERY: Final = 0.1
_DRAIN_SECONDS: Final = 2.0
_DRAIN_STEP: Final = 0.02

T = TypeVar("T")
Report = Callable[[float, float | None], Awaitable[None]]

log = logging.getLogger(__name__)

# Set in the thread of a call, by its copy of the context; nothing else writes it.
_current: ContextVar[ToolCall] = ContextVar("localdb_tool_call")


def current_call() -> ToolCall:
    """The call that this thread is answering; outside of one a silent, endless one."""
    return _current.get(None) or ToolCall()


class Crashed(Exception):
    """A tool raised what is no Exception, such as SystemExit."""


@dataclass(frozen=True, slots=True)
class _Step:
    """So much is done."""

    done: float
    total: float | None


@dataclass(frozen=True, slots=True)
class _Outcome(Generic[T]):
    """How it ended."""

    value: T | None = None
    error: BaseException | None = None

    def get(self) -> T | None:
        """The value. Raises what the work raised, always an Exception."""
        if self.error is None:
            return self.value
        if isinstance(self.error, Exception):
            raise self.error
        # A tool's own CancelledError would look as if the client had cancelled.
        raise Crashed(type(self.error).__name__) from self.error


class Calls:
    """Runs blocking work for the event loop, so many calls at a time.

    calls = Calls()
    result = await calls.run("search", partial(tool.answer, arguments), report)
    """

    def __init__(self, parallel: int = PARALLEL) -> None:
        self._limiter = anyio.CapacityLimiter(parallel)
        self._left: set[threading.Thread] = set()

    async def run(self, name: str, work: Callable[[], T], report: Report) -> T:
        """The work's value, or what it raised; progress goes to ``report`` meanwhile.

        Cancelling this cancels the call's token and returns at once; the thread ends when
        the work looks at the token.

        Raises:
            ToolFailure: too many cancelled calls of this name have not ended.
        """
        async with self._limiter:
            if sum(thread.name == _thread_name(name) for thread in self._stuck()) >= MAX_STUCK:
                raise ToolFailure(
                    InternalError.code,
                    "cancelled calls of this tool have not ended; start the server again",
                )
            return await self._run(name, work, report)

    async def drain(self, seconds: float = _DRAIN_SECONDS) -> None:
        """Wait for threads of cancelled calls, but not for ever: they may be in native code."""
        deadline = time.monotonic() + seconds
        while self._stuck() and time.monotonic() < deadline:
            await anyio.sleep(_DRAIN_STEP)
        for thread in self._stuck():
            log.warning("%s does not end; it is left behind", thread.name)

    async def _run(self, name: str, work: Callable[[], T], report: Report) -> T:
        loop = asyncio.get_running_loop()
        steps: asyncio.Queue[_Step | _Outcome[T]] = asyncio.Queue()

        def tell(step: _Step | _Outcome[T]) -> None:
            with suppress(RuntimeError):  # the loop has ended, and nobody waits
                loop.call_soon_threadsafe(steps.put_nowait, step)

        cancel = CancelToken()
        call = ToolCall(cancel, _Reporter(cancel, tell))
        context = copy_context()
        context.run(_current.set, call)
        thread = threading.Thread(
            target=context.run,
            args=(lambda: tell(_outcome(work)),),
            name=_thread_name(name),
            daemon=True,
        )
        thread.start()
        try:
            while isinstance(step := await steps.get(), _Step):
                await report(step.done, step.total)
            return step.get()  # type: ignore[return-value]  # no error, so there is a value
        except BaseException:  # most often the cancellation, which must travel on
            self._left.add(thread)
            raise
        finally:
            cancel.cancel()

    def _stuck(self) -> set[threading.Thread]:
        self._left = {thread for thread in self._left if thread.is_alive()}
        return self._left


class _Reporter:
    """A tool's progress: rising, and not more often than anybody can read."""

    def __init__(self, cancel: CancelToken, tell: Callable[[_Step], None]) -> None:
        self._cancel = cancel
        self._tell = tell
        self._last = -math.inf
        self._next = -math.inf

    def __call__(self, done: int, total: int | None = None, /) -> None:
        """Report. Raises JobCancelled when nobody waits any more."""
        self._cancel.check()
        now = time.monotonic()
        # The protocol wants it to rise; the last step is always told.
        if not done > self._last or not math.isfinite(done):
            return
        if now >= self._next or done == total:
            self._last, self._next = done, now + PROGRESS_EVERY
            self._tell(_Step(float(done), None if total is None else float(total)))


def _outcome(work: Callable[[], T]) -> _Outcome[T]:
    try:
        return _Outcome(work())
    # The outermost handler of a call: it must end, whatever a plugin raises.
    except BaseException as error:  # noqa: BLE001
        return _Outcome(error=error)


def _thread_name(name: str) -> str:
    return f"tool {name}"
