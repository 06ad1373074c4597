"""The child process of :mod:`localdb_core.storage.reconcile`.

``python -m localdb_core.storage.check REQUEST.json`` opens one index, lists its ids,
runs the probes and writes the answer file. It may die at any point; the parent takes
a missing answer for a broken index.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

from localdb_core.domain.ids import ChunkId
from localdb_core.plugin import EmbedderCard, Index, IndexContext, LegQuery


def main(request_path: str) -> None:
    """Answer one request."""
    request = json.loads(Path(request_path).read_text(encoding="utf-8"))
    try:
        answer = _check(request)
    except Exception as error:  # noqa: BLE001 - whatever a broken index raises is the answer
        answer = {"error": f"{type(error).__name__}: {error}"[:500]}
    target = Path(request["answer"])
    fresh = target.with_suffix(".new")
    fresh.write_text(json.dumps(answer), encoding="utf-8")
    os.replace(fresh, target)


def _load(target: str) -> Any:  # Any: whatever the path names
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _check(request: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    index: Index = _load(request["target"])(_context(request))
    ids = [str(chunk) for chunk in index.ids()]
    hits: dict[str, bool] = {}
    for probe in request["probes"]:
        vector = probe.get("vector")
        query = LegQuery(
            limit=request["depth"],
            text=probe.get("text", ""),
            vector=None if vector is None else np.asarray(vector, dtype=np.float32),
        )
        found = {scored.chunk_id for scored in index.query(query)}
        hits[probe["id"]] = ChunkId(probe["id"]) in found
    index.close()
    return {"ids": ids, "hits": hits}


def _context(request: dict[str, Any]) -> IndexContext:
    config = None
    if request["config_model"]:
        config = _load(request["config_model"]).model_validate(request["config"])
    card = request["card"]
    return IndexContext(
        plugin=request["plugin"],
        config=config,
        data_dir=Path(request["data_dir"]),
        cache_dir=Path(request["cache_dir"]),
        log=logging.getLogger(f"localdb.plugin.{request['plugin']}"),
        folder=Path(request["folder"]),
        store_id=request["store_id"],
        language=request["language"],
        card=None if card is None else EmbedderCard(**card),
        readonly=False,
    )


if __name__ == "__main__":
    main(sys.argv[1])
