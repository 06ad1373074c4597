"""MCP over standard input and output: one JSON-RPC message per line.

The SDK's own transport cannot be used: it takes descriptor 1 for the wire (ours
has been moved away before plugins load), knows no longest line, and answers
nothing to a line that is not JSON.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Final, NoReturn, Self

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from localdb_core.mcp.versions import Versions

MAX_LINE: Final = 16 * 1024 * 1024
_CHUNK: Final = 65536
_FLUSH_SECONDS: Final = 5.0
_ANSWERS: Final = (types.JSONRPCResponse, types.JSONRPCError)

log = logging.getLogger(__name__)

Id = types.RequestId | None


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that is not a message, and what to answer."""

    code: int
    message: str
    id: Id = None
    data: Any = None  # Any: a JSON value

    def line(self) -> bytes:
        """The JSON-RPC error. Written by hand: the SDK's model knows no null id."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}  # Any: JSON
        if self.data is not None:
            error["data"] = self.data
        return json.dumps({"jsonrpc": "2.0", "id": self.id, "error": error}).encode() + b"\n"


class Lines:
    """Cuts a stream of bytes into lines; of one that is too long nothing is kept."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._held = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | Refused]:
        """Every line that is now complete, without its end; a refusal for a long one."""
        *complete, rest = data.split(b"\n")
        for part in complete:
            self._held += part
            yield from self._long()
            if not self._skipping:
                yield bytes(self._held)
            self._held.clear()
            self._skipping = False
        self._held += rest
        yield from self._long()

    def end(self) -> bytes:
        """What stood after the last line end."""
        return bytes(self._held)

    def _long(self) -> Iterator[Refused]:
        if self._skipping:
            self._held.clear()
        elif len(self._held) > self._limit:
            self._held.clear()
            self._skipping = True
            yield Refused(types.INVALID_REQUEST, f"message longer than {self._limit} bytes")


def decode(line: bytes) -> types.JSONRPCMessage | Refused:
    """The message of one line, or the error to answer it with."""
    try:
        value = json.loads(line.decode(), parse_constant=_no_constant)
    # RecursionError: brackets nested deeper than the parser goes.
    except (ValueError, RecursionError):
        return Refused(types.PARSE_ERROR, "parse error: the line is not JSON in UTF-8")
    if not isinstance(value, dict):
        kind = "batches are not supported" if isinstance(value, list) else "not an object"
        return Refused(types.INVALID_REQUEST, f"invalid request: {kind}")
    if "method" in value and "id" in value and _id(value) is None:
        # The SDK takes it for a notification, and its sender would wait for ever.
        return Refused(types.INVALID_REQUEST, "invalid request: the id is no string or number")
    try:
        return types.jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        return Refused(types.INVALID_REQUEST, "invalid request: not JSON-RPC 2.0", _id(value))


def encode(message: types.JSONRPCMessage) -> bytes:
    """One message as a line of JSON in UTF-8, without its end."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except PydanticSerializationError:
        # It repeats half of a surrogate pair that the client sent (in an id, say), which
        # JSON can escape and UTF-8 cannot hold.
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode()


def _id(value: dict[str, Any]) -> Id:  # Any: JSON values
    found = value.get("id")
    usable = isinstance(found, str | int) and not isinstance(found, bool)
    return found if usable and "method" in value else None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class Outbox:
    """The write side. A thread of its own writes, so a slow reader blocks no call."""

    def __init__(self, descriptor: int, broken: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._broken = broken
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._open: set[types.RequestId] = set()
        self._idle = anyio.Event()
        # A daemon thread: a client that stopped reading must not keep the process alive.
        self._thread = threading.Thread(target=self._write, name="mcp-stdout", daemon=True)
        self._thread.start()

    def put(self, line: bytes) -> None:
        """Queue one line, its end included."""
        self._queue.put(line)

    def opened(self, request: types.RequestId) -> None:
        """A request came in and will be answered."""
        self._open.add(request)

    async def settled(self, request: types.RequestId) -> None:
        """It has been answered, or never will be."""
        self._open.discard(request)
        if not self._open:
            self._idle.set()

    async def idle(self) -> None:
        """Wait until no request is open."""
        while self._open:
            self._idle = anyio.Event()
            await self._idle.wait()

    async def send(self, item: SessionMessage, /) -> None:
        """The SDK's way in."""
        message = item.message
        self.put(encode(message) + b"\n")
        if isinstance(message, _ANSWERS) and message.id is not None:
            await self.settled(message.id)

    async def aclose(self) -> None:
        """Nothing to do: the process outlives the SDK's view of the connection."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def flush(self) -> None:
        """Wait until everything is written, but not for a client that does not read."""
        self._queue.put(None)
        self._thread.join(_FLUSH_SECONDS)

    def _write(self) -> None:
        while (line := self._queue.get()) is not None:
            rest = memoryview(line)
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError:
                self._broken()
                return


def serve(
    server: Server[Any], *, output: int, limit: int = MAX_LINE, protocols: Sequence[str] = ()
) -> None:
    """Serve until the input ends or the process is asked to stop.

    ``output`` is the descriptor of the wire; descriptor 0 is the other half and is
    hidden from everybody else meanwhile. ``protocols`` are the versions that are
    answered, all when there is none.
    """
    # Windows has no signal receiver; there Ctrl-C arrives as an exception.
    with _claimed_input() as source, suppress(KeyboardInterrupt):
        anyio.run(_serve, server, source, output, limit, Versions(protocols))


async def _serve(
    server: Server[Any], source: int | None, output: int, limit: int, versions: Versions
) -> None:
    async with anyio.from_thread.BlockingPortal() as portal, anyio.create_task_group() as group:

        def broken() -> None:
            with suppress(RuntimeError):  # the loop has ended already
                portal.start_task_soon(group.cancel_scope.cancel)

        outbox = Outbox(output, broken)
        send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)

        async def accept(line: bytes | Refused | None) -> None:
            if line is not None:
                await _accept(line, send.send, outbox, versions)
                return
            await outbox.idle()
            await send.aclose()

        group.start_soon(_stop_on_signal, group.cancel_scope)
        _start_reader(source, limit, partial(portal.call, accept))
        try:
            await server.run(receive, outbox, server.create_initialization_options())
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(outbox.flush)
                await portal.stop(cancel_remaining=True)
            group.cancel_scope.cancel()


async def _accept(
    line: bytes | Refused,
    forward: Callable[[SessionMessage], Awaitable[None]],
    outbox: Outbox,
    versions: Versions,
) -> None:
    if isinstance(line, bytes) and not line.strip():
        return
    message = decode(line) if isinstance(line, bytes) else line
    if isinstance(message, types.JSONRPCRequest) and (error := versions.refusal(message)):
        message = Refused(error["code"], error["message"], message.id, error["data"])
    if isinstance(message, Refused):
        log.warning("a line was refused: %s", message.message)
        outbox.put(message.line())
        return
    metadata = None
    if isinstance(message, types.JSONRPCRequest):
        outbox.opened(message.id)
        settled = partial(outbox.settled, message.id)
        metadata = ServerMessageMetadata(on_request_unanswered=settled)
    await forward(SessionMessage(message, metadata))


async def _stop_on_signal(scope: anyio.CancelScope) -> None:
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        return
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()


def _start_reader(
    source: int | None, limit: int, deliver: Callable[[bytes | Refused | None], None]
) -> None:
    # A daemon thread: it waits for a client that may never speak again. It reads the
    # descriptor itself, because at exit it must not hold the lock of a Python stream.
    thread = threading.Thread(
        target=_read, args=(source, limit, deliver), name="mcp-stdin", daemon=True
    )
    thread.start()


def _read(
    source: int | None, limit: int, deliver: Callable[[bytes | Refused | None], None]
) -> None:
    lines = Lines(limit)
    # Whatever ends the connection from the other side ends this thread as well.
    with suppress(RuntimeError, CancelledError, anyio.BrokenResourceError):
        while source is not None and (data := _chunk(source)):
            for line in lines.feed(data):
                deliver(line)
        deliver(lines.end())
        deliver(None)


def _chunk(source: int) -> bytes:
    try:
        return os.read(source, _CHUNK)
    except OSError:  # a terminal that went away counts as the end
        return b""


@contextmanager
def _claimed_input() -> Iterator[int | None]:
    """The input on a descriptor of its own; descriptor 0 is the null device meanwhile.

    Gives None when the process was started without an input.
    """
    if sys.stdin is None:
        yield None
        return
    source = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    try:
        yield source
    finally:
        # The duplicate stays open: the reader may still wait on it.
        os.dup2(source, 0)
