"""Parser processes: isolation, limits, and both cores at work (product 8, S-6)."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, TextIO

from localdb_core.domain.errors import (
    ExtractionFailed,
    JobCancelled,
    LocaldbError,
    error_from_code,
)
from localdb_core.host.owned import Owned
from localdb_core.plugin import (
    HEAD_SIZE,
    Declined,
    Document,
    ParseResult,
    ParserSpec,
    PluginContext,
    Probe,
)

TICK = 0.1
"""Seconds between looks at the stop event and the limits."""

RECYCLE_AFTER = 200
"""Documents after which a worker is replaced, so that leaks of parsers stay small."""

Json = dict[str, Any]  # Any: JSON values


class ParserPool:
    """Worker processes, started when first needed and kept for the next document.

    ``parse`` may be called from as many threads as there are workers. A worker that
    hangs, dies or eats its memory costs one document and is replaced.
    """

    def __init__(self, size: int, *, stop: threading.Event | None = None) -> None:
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(size):
            self._idle.put(None)
        self.stop = stop or threading.Event()
        """Set when the run is being stopped."""
        self._all: set[_Worker] = set()
        self._guard = threading.Lock()

    def parse(
        self, owned: Owned[ParserSpec], context: PluginContext, path: Path, probe: Probe
    ) -> ParseResult:
        """What the parser says about the file.

        Raises the parser's own domain error; ExtractionFailed when it crashed, hung or
        ran out of a limit; JobCancelled when the run is being stopped.
        """
        worker = self._idle.get()
        try:
            if worker is None or not worker.fit:
                if worker is not None:
                    self._retire(worker)
                worker = None  # so that a failed start leaves a free place behind
                worker = self._start()
            return worker.ask(_request(owned, context, path, probe), owned.value, self.stop)
        finally:
            self._idle.put(worker)

    def _start(self) -> _Worker:
        worker = _Worker()
        with self._guard:
            self._all.add(worker)
        return worker

    def _retire(self, worker: _Worker) -> None:
        worker.kill()
        with self._guard:
            self._all.discard(worker)

    def close(self) -> None:
        """End every worker; callers inside ``parse`` get their error."""
        with self._guard:
            workers = list(self._all)
            self._all.clear()
        for worker in workers:
            worker.kill()


class _Worker:
    """One child process and the thread that reads its answers."""

    def __init__(self) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in kill()
        self._process = subprocess.Popen(
            # -P: a json.py in the working directory must not stand in for the real one
            [sys.executable, "-P", "-m", "localdb_core.pipeline.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C in the terminal is the parent's to handle
        )
        self._answers: queue.Queue[Json | None] = queue.Queue()
        assert self._process.stdout is not None
        self._reader = threading.Thread(
            target=self._read, args=(self._process.stdout,), name="parser-answers"
        )
        self._reader.start()
        self._done = 0
        self._broken = False
        self._ending = threading.Lock()

    @property
    def fit(self) -> bool:
        """Whether it may get another document."""
        return not self._broken and self._process.poll() is None and self._done < RECYCLE_AFTER

    def _read(self, stream: TextIO) -> None:
        with contextlib.suppress(ValueError, OSError):  # closed under us by kill()
            for line in stream:
                with contextlib.suppress(ValueError):
                    self._answers.put(json.loads(line))
        self._answers.put(None)

    def ask(self, request: Json, spec: ParserSpec, stop: threading.Event) -> ParseResult:
        """Send one request and wait within the spec's limits."""
        self._done += 1
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as error:  # ValueError: closed under us by kill()
            raise self._failed("the parser process is gone") from error
        started = heard = time.monotonic()
        while True:
            try:
                answer = self._answers.get(timeout=TICK)
            except queue.Empty:
                self._check_limits(spec, stop, started, heard)
                continue
            if answer is None:
                if stop.is_set():  # the pool was closed under us
                    raise JobCancelled("stopped")
                raise self._failed(self._last_words())
            if "progress" in answer:
                heard = time.monotonic()
                self._check_limits(spec, stop, started, heard)
                continue
            return _result(answer)

    def _check_limits(
        self, spec: ParserSpec, stop: threading.Event, started: float, heard: float
    ) -> None:
        now = time.monotonic()
        if stop.is_set():
            self.kill()
            raise JobCancelled("stopped")
        if now - heard > spec.stall_limit:
            raise self._failed(f"no progress for {spec.stall_limit:g} s; given up")
        if now - started > spec.total_limit:
            raise self._failed(f"not done after {spec.total_limit:g} s; given up")

    def _failed(self, reason: str) -> ExtractionFailed:
        self.kill()
        return ExtractionFailed(reason)

    def _last_words(self) -> str:
        try:
            status = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:  # the parser closed the descriptor, not the process
            return "the parser process stopped answering"
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - 2000))
        lines = self._stderr.read().decode("utf-8", "replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return f"the parser process ended {how}" + (f" ({said[-1][:200]})" if said else "")

    def kill(self) -> None:
        """End the process and everything that belongs to it; harmless twice."""
        with self._ending:
            if self._broken:
                return
            self._broken = True
        _kill_group(self._process)
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def _kill_group(process: subprocess.Popen[str]) -> None:
    """Kill the process and what it started, which may hold our pipe open.

    The worker leads a session of its own, so its group is its own too.
    """
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _request(owned: Owned[ParserSpec], context: PluginContext, path: Path, probe: Probe) -> Json:
    config = context.config
    return {
        "plugin": owned.plugin,
        "target": owned.value.target,
        "config": None if config is None else config.model_dump(mode="json"),
        "config_model": None
        if config is None
        else f"{type(config).__module__}:{type(config).__qualname__}",
        "data_dir": os.fspath(context.data_dir),
        "cache_dir": os.fspath(context.cache_dir),
        "memory_limit": owned.value.memory_limit,
        "path": os.fspath(path),
        "head_size": HEAD_SIZE,
        "name": probe.name,
        "media_type": probe.media_type,
        "size": probe.size,
        "uri": probe.uri,
    }


def _result(answer: Json) -> ParseResult:
    if "document" in answer:
        return Document.from_json(answer["document"])
    if "declined" in answer:
        return Declined(str(answer["declined"]))
    error = answer["error"]
    raise _error(error["code"], error["message"])


def _error(code: str, message: str) -> LocaldbError:
    return ExtractionFailed(message) if code == "crash" else error_from_code(code, message)
