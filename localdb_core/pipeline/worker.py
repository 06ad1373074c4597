"""The child process that runs one parser at a time.

``python -m localdb_core.pipeline.worker`` reads one JSON request a line from
standard input and answers with JSON lines: any number of ``progress``, then one of
``document``, ``declined`` or ``error``. It gets a path, never bytes (S-6), and ends
when its input ends, in the middle of a document too, so a killed parent leaves no
orphan.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import queue
import sys
import threading
from pathlib import Path
from typing import Any, TextIO

from localdb_core.domain.errors import LocaldbError
from localdb_core.plugin import Document, PluginContext, Probe

Json = dict[str, Any]  # Any: JSON values


def main() -> None:
    """Serve requests until the input ends."""
    out, requests = _own_output(), _own_input()
    while True:
        request = json.loads(requests.get())
        _limit_memory(request.get("memory_limit"))
        _send(out, _answer(request, out))


def _own_input() -> queue.SimpleQueue[str]:
    """Requests from the real standard input; a parser that reads its own finds nothing.

    A thread reads them, so that the end of the input is noticed while a parser hangs.
    """
    own = os.fdopen(os.dup(0), encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in own:
            requests.put(line)
        os._exit(0)  # the parent is gone, or has closed the pool

    threading.Thread(target=read, name="requests", daemon=True).start()
    return requests


def _own_output() -> TextIO:
    """The real standard output; descriptor 1 then points at stderr, since libraries print."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return own


def _send(out: TextIO, message: Json) -> None:
    out.write(json.dumps(message) + "\n")
    out.flush()


def _answer(request: Json, out: TextIO) -> Json:
    def progress(done: int, total: int | None = None, /) -> None:
        _send(out, {"progress": [done, total]})

    try:
        parser = _load(request["target"])(_context(request))
        probe = Probe(
            name=request["name"],
            head=_head(request["path"], request["head_size"]),
            media_type=request["media_type"],
            size=request["size"],
            uri=request["uri"],
        )
        result = parser.parse(Path(request["path"]), probe, progress)
    except LocaldbError as error:
        return {"error": {"code": error.code, "message": error.bare}}
    except MemoryError:
        return {"error": {"code": "crash", "message": "it ran out of memory"}}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the parser guard of the child
        return {"error": {"code": "crash", "message": f"{type(error).__name__}: {error}"[:500]}}
    if isinstance(result, Document):
        return {"document": result.to_json()}
    reason = getattr(result, "reason", None)
    if isinstance(reason, str):
        return {"declined": reason}
    return {"error": {"code": "crash", "message": f"returned {type(result).__name__}"}}


def _head(path: str, size: int) -> bytes:
    with open(path, "rb") as file:
        return file.read(size)


def _load(target: str) -> Any:  # Any: whatever the path names
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _context(request: Json) -> PluginContext:
    config = None
    if request["config_model"]:
        config = _load(request["config_model"]).model_validate(request["config"])
    return PluginContext(
        plugin=request["plugin"],
        config=config,
        data_dir=Path(request["data_dir"]),
        cache_dir=Path(request["cache_dir"]),
        log=logging.getLogger(f"localdb.plugin.{request['plugin']}"),
    )


def _limit_memory(limit: int | None) -> None:
    """Limit this request; only the soft limit, since nobody may raise the hard one again."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = hard if limit is None else limit
    if hard != resource.RLIM_INFINITY and limit is not None:
        soft = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


if __name__ == "__main__":
    main()
