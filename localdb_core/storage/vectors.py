"""Vectors in the catalog: the truth behind every dense index (E-1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localdb_core.storage.connections import Connections
from localdb_core.storage.resources import PARAMETERS, batched

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """A chunk as an index gets it when it is filled from the catalog."""

    chunk_id: str
    trail: str
    text: str
    vector: Matrix | None


class VectorTable:
    """Rows of ``vectors``; float32, little endian as the machine writes it."""

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def reusable(
        self, store_id: str, embedder_id: int, hashes: Sequence[bytes]
    ) -> dict[bytes, Matrix]:
        """Vectors of the store by the hash of the text that was embedded (S-4)."""
        import numpy as np

        found: dict[bytes, Matrix] = {}
        with self._db.read() as db:
            for part in batched(list(dict.fromkeys(hashes)), PARAMETERS):
                marks = ",".join("?" * len(part))
                rows = db.execute(
                    "SELECT v.text_hash, v.vector FROM vectors v"
                    " JOIN chunks c ON c.rid = v.chunk_rid"
                    f" WHERE v.embedder_id = ? AND v.text_hash IN ({marks}) AND c.store_id = ?",
                    (embedder_id, *part, store_id),
                )
                found |= {row[0]: np.frombuffer(row[1], dtype=np.float32) for row in rows}
        return found

    def count(self, store_id: str, embedder_id: int) -> int:
        """How many chunks of the store have a vector of this embedder."""
        with self._db.read() as db:
            (count,) = db.execute(
                "SELECT count(*) FROM chunks c JOIN vectors v ON v.chunk_rid = c.rid"
                " WHERE c.store_id = ? AND v.embedder_id = ?",
                (store_id, embedder_id),
            ).fetchone()
        return int(count)

    def matrix(
        self,
        store_id: str,
        embedder_id: int,
        dimension: int,
        *,
        where: str = "",
        keys: tuple[object, ...] = (),
    ) -> tuple[list[str], Matrix]:
        """Chunk ids in id order and their vectors, one row each.

        ``where`` narrows to allowed chunks (``r`` is the resource, ``c`` the chunk).
        """
        import numpy as np

        with self._db.read() as db:
            rows = db.execute(
                "SELECT c.id, v.vector FROM chunks c JOIN vectors v ON v.chunk_rid = c.rid"
                " JOIN resources r ON r.rid = c.resource_rid"
                f" WHERE c.store_id = ? AND v.embedder_id = ? {where} ORDER BY c.id",
                (store_id, embedder_id, *keys),
            ).fetchall()
        joined = b"".join(row[1] for row in rows)
        vectors = np.frombuffer(joined, dtype=np.float32).reshape(len(rows), dimension)
        return [row[0] for row in rows], vectors

    def entries(
        self, store_id: str, embedder_id: int | None, *, only: set[str] | None = None
    ) -> Iterator[StoredEntry]:
        """Every chunk of the store for filling an index, in pages so that memory stays flat.

        ``embedder_id`` None leaves the vectors out (a sparse leg); otherwise chunks
        without a vector are left out.
        """
        import numpy as np

        columns = "c.rid, c.id, c.trail, c.text, " + ("v.vector" if embedder_id else "NULL")
        join = "JOIN vectors v ON v.chunk_rid = c.rid AND v.embedder_id = ?" if embedder_id else ""
        first: tuple[object, ...] = (embedder_id,) if embedder_id else ()
        last = 0
        while True:
            with self._db.read() as db:
                rows = db.execute(
                    f"SELECT {columns} FROM chunks c {join}"
                    " WHERE c.store_id = ? AND c.rid > ? ORDER BY c.rid LIMIT 1000",
                    (*first, store_id, last),
                ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            for _, chunk_id, trail, text, blob in rows:
                if only is None or chunk_id in only:
                    vector = None if blob is None else np.frombuffer(blob, dtype=np.float32)
                    yield StoredEntry(chunk_id, trail, text, vector)

    def chunk_ids(self, store_id: str, embedder_id: int | None) -> set[str]:
        """Ids an index of the store should hold; see :meth:`entries`."""
        join = "JOIN vectors v ON v.chunk_rid = c.rid AND v.embedder_id = ?" if embedder_id else ""
        first: tuple[object, ...] = (embedder_id,) if embedder_id else ()
        with self._db.read() as db:
            rows = db.execute(
                f"SELECT c.id FROM chunks c {join} WHERE c.store_id = ?", (*first, store_id)
            )
            return {row[0] for row in rows}
