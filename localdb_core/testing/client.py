"""A client of ``localdb mcp`` that sees every byte, for tests.

    with StdioClient([sys.executable, "-m", "localdb_core.cli.main", "mcp"]) as client:
        client.initialize()
        print(client.call("search", query="lease"))

It speaks raw JSON-RPC and uses no MCP library, so it proves what is on the wire.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

Json = dict[str, Any]  # Any: JSON values

HANDSHAKE: Final = "2025-06-18"
MODERN: Final = "2026-07-28"
_META: Final = "io.modelcontextprotocol"


class StdioClient:
    """One server process and the conversation with it.

    ``modern`` sends the 2026-07-28 envelope with every request; such a connection
    has no ``initialize``. Everything the process wrote to its standard output is
    kept in ``lines``, and to its standard error in ``errors``.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        modern: bool = False,
        timeout: float = 60.0,
    ) -> None:
        self.modern = modern
        self.timeout = timeout
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **env} if env is not None else None,
        )
        self._last_id = 0
        self._ended = False
        self._unclaimed: list[Json] = []
        self._arrived: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._stderr: list[bytes] = []
        self._heard = threading.Condition()
        self._threads = [
            threading.Thread(target=self._read_output, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def errors(self) -> str:
        """What the process wrote to its standard error so far."""
        return b"".join(self._stderr).decode("utf-8", "replace")

    def said(self, text: str) -> bool:
        """Whether this appears on the standard error, now or within the timeout."""
        with self._heard:
            return self._heard.wait_for(lambda: text in self.errors, self.timeout)

    def send_raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Any) -> None:  # Any: a JSON value, well-formed or not
        """Write one value on one line."""
        self.send_raw(json.dumps(message).encode() + b"\n")

    def notify(self, method: str, params: Json | None = None) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def begin(self, method: str, params: Json | None = None) -> int:
        """Send a request and do not wait; its id."""
        self._last_id += 1
        sent = dict(params or {})
        if self.modern:
            sent["_meta"] = {
                f"{_META}/protocolVersion": MODERN,
                f"{_META}/clientInfo": {"name": "localdb-tests", "version": "1"},
                f"{_META}/clientCapabilities": {},
            }
        self.send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": sent})
        return self._last_id

    def receive(self) -> Json:
        """The next message. Raises TimeoutError, or EOFError when the process stopped."""
        if self._unclaimed:
            return self._unclaimed.pop(0)
        return self._next()

    def answer_to(self, request: int | str) -> Json:
        """The answer to that request; other messages wait for ``receive``."""
        for message in self._unclaimed:
            if message.get("id") == request and "method" not in message:
                self._unclaimed.remove(message)
                return message
        while True:
            message = self._next()
            if message.get("id") == request and "method" not in message:
                return message
            self._unclaimed.append(message)

    def request(self, method: str, params: Json | None = None) -> Json:
        """Send a request; the whole answer, result or error."""
        return self.answer_to(self.begin(method, params))

    def initialize(self, version: str = HANDSHAKE) -> Json:
        """Shake hands (or, on a modern connection, discover); the server's result."""
        if self.modern:
            return self._result(self.request("server/discover"))
        params = {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "localdb-tests", "version": "1"},
        }
        result = self._result(self.request("initialize", params))
        self.notify("notifications/initialized")
        return result

    def list_tools(self) -> list[Json]:
        """The tools on offer."""
        tools: list[Json] = self._result(self.request("tools/list"))["tools"]
        return tools

    def call(self, tool: str, /, **arguments: Any) -> Json:  # Any: JSON values
        """Call a tool; the result, which may have ``isError``."""
        return self._result(self.request("tools/call", {"name": tool, "arguments": arguments}))

    def text(self, tool: str, /, **arguments: Any) -> str:  # Any: JSON values
        """Call a tool that succeeds; its text."""
        result = self.call(tool, **arguments)
        text: str = result["content"][0]["text"]
        assert result["isError"] is False, text
        return text

    def close(self) -> int:
        """End the input and wait; the exit status."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        return self.wait()

    def terminate(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait; the exit status."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """Wait for the process to end by itself; its exit status."""
        status = self.process.wait(self.timeout)
        for thread in self._threads:
            thread.join(self.timeout)
        return status

    def kill(self) -> None:
        """Stop the process if it still runs, and let go of it."""
        if self.process.poll() is None:
            self.process.kill()
        self.wait()
        # A grandchild may keep a pipe open; closing it while it is read would hang.
        readers_done = not any(thread.is_alive() for thread in self._threads)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and (readers_done or stream is self.process.stdin):
                with suppress(OSError):  # what was not yet sent can no longer be
                    stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if error is None and self.process.poll() is None:
                self.close()
        finally:
            self.kill()

    def _next(self) -> Json:
        try:
            line = None if self._ended else self._arrived.get(timeout=self.timeout)
        except queue.Empty:
            raise TimeoutError(f"no message within {self.timeout:g} s") from None
        if line is None:
            self._ended = True
            raise EOFError(f"the server stopped; it said: {self.errors}")
        message: Json = json.loads(line)
        return message

    @staticmethod
    def _result(answer: Json) -> Json:
        assert "result" in answer, answer
        result: Json = answer["result"]
        return result

    def _read_output(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            text = line.decode("utf-8", "replace")
            self.lines.append(text)
            self._arrived.put(text)
        self._arrived.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        while chunk := os.read(self.process.stderr.fileno(), 65536):
            with self._heard:
                self._stderr.append(chunk)
                self._heard.notify_all()


def assert_stdout_is_protocol_only(client: StdioClient) -> None:
    """Every line the server wrote to its standard output is one JSON-RPC message."""
    for line in client.lines:
        try:
            message = json.loads(line)
        except ValueError:
            raise AssertionError(f"not JSON on standard output: {line!r}") from None
        assert isinstance(message, dict), f"not an object on standard output: {line!r}"
        assert message.get("jsonrpc") == "2.0", f"not JSON-RPC on standard output: {line!r}"
        assert line.endswith("\n"), f"an unfinished line on standard output: {line!r}"
