"""Index jobs: one row per run."""

from __future__ import annotations

import json
from typing import Any

from localdb_core.domain.clock import utc_now
from localdb_core.domain.errors import LocaldbError
from localdb_core.domain.events import IndexStats
from localdb_core.domain.ids import new_ulid
from localdb_core.storage.connections import Connections


class JobTable:
    """Rows of ``jobs``."""

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def start(self, store_id: str, source_id: str | None) -> str:
        """Record a run that begins now; returns its id."""
        scope: dict[str, Any] = {"type": "store"}  # Any: JSON values
        if source_id is not None:
            scope = {"type": "source", "source_id": source_id}
        job_id = new_ulid()
        now = utc_now()
        with self._db.write() as db:
            db.execute(
                "INSERT INTO jobs VALUES (?, ?, ?, 'running', ?, NULL, NULL, ?, ?, NULL)",
                (job_id, store_id, json.dumps(scope), json.dumps(IndexStats().to_json()), now, now),
            )
        return job_id

    def finish(self, job_id: str, stats: IndexStats, error: LocaldbError | None) -> None:
        """Record how a run ended."""
        with self._db.write() as db:
            db.execute(
                "UPDATE jobs SET state = ?, stats = ?, error = ?, error_code = ?,"
                " completed_at = ? WHERE id = ?",
                (
                    "done" if error is None else "failed",
                    json.dumps(stats.to_json()),
                    None if error is None else error.bare,
                    None if error is None else error.code,
                    utc_now(),
                    job_id,
                ),
            )
