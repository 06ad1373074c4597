"""What a document is made of: its blocks, and its chunks in storage order."""

from __future__ import annotations

from typing import Final

from localdb_core.domain.block import Block
from localdb_core.domain.chunk import Chunk
from localdb_core.storage.connections import Connections
from localdb_core.storage.decode import block_of, chunk_of

_OF_RESOURCE: Final = (
    "FROM chunks c JOIN resources r ON r.rid = c.resource_rid WHERE r.store_id = ? AND r.id = ?"
)
_IN_ORDER: Final = (
    f"{_OF_RESOURCE} ORDER BY c.block_seq, c.seq_in_block,"
    " json_extract(c.location_json, '$.start'), json_extract(c.location_json, '$.end'), c.id"
)
"""L-MCP-16."""


class PassageTable:
    """Rows of ``blocks`` and ``chunks``, a document at a time."""

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def blocks(self, store_id: str, resource_id: str) -> list[Block]:
        """The resource's blocks in order."""
        with self._db.read() as db:
            rows = db.execute(
                "SELECT b.* FROM blocks b JOIN resources r ON r.rid = b.resource_rid"
                " WHERE r.store_id = ? AND r.id = ? ORDER BY b.seq",
                (store_id, resource_id),
            )
            return [block_of(row) for row in rows]

    def chunks(
        self, store_id: str, resource_id: str, *, offset: int = 0, limit: int | None = None
    ) -> list[Chunk]:
        """Chunks in storage order, all of them or one page."""
        page = (-1 if limit is None else limit, min(offset, 2**62))
        with self._db.read() as db:
            rows = db.execute(
                f"SELECT c.*, r.id AS resource_id {_IN_ORDER} LIMIT ? OFFSET ?",
                (store_id, resource_id, *page),
            )
            return [chunk_of(row) for row in rows]

    def places(self, store_id: str, resource_id: str) -> list[tuple[str, int]]:
        """Id and block of every chunk in storage order."""
        with self._db.read() as db:
            rows = db.execute(f"SELECT c.id, c.block_seq {_IN_ORDER}", (store_id, resource_id))
            return [(row[0], row[1]) for row in rows]

    def count(self, store_id: str, resource_id: str) -> int:
        """How many chunks the resource has."""
        with self._db.read() as db:
            (count,) = db.execute(
                f"SELECT count(*) {_OF_RESOURCE}", (store_id, resource_id)
            ).fetchone()
        return int(count)
