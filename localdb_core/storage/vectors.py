"""Vectors in the catalog: the truth behind every dense index (E-1)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localdb_core.storage.connections import Connections
from localdb_core.storage.encoding import unpack
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
    """Rows of ``vectors``, read as float32 however their embedder has them stored."""

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def reusable(
        self, store_id: str, embedder_id: int, hashes: Sequence[bytes]
    ) -> dict[bytes, Matrix]:
        """Vectors of the store by the hash of the text that was embedded (S-4)."""
        found: dict[bytes, Matrix] = {}
        with self._db.read() as db:
            dimension, encoding = shape_of(db, embedder_id)
            for part in batched(list(dict.fromkeys(hashes)), PARAMETERS):
                marks = ",".join("?" * len(part))
                rows = db.execute(
                    "SELECT v.text_hash, v.vector FROM vectors v"
                    " JOIN chunks c ON c.rid = v.chunk_rid"
                    f" WHERE v.embedder_id = ? AND v.text_hash IN ({marks}) AND c.store_id = ?",
                    (embedder_id, *part, store_id),
                ).fetchall()
                vectors = unpack([row[1] for row in rows], dimension=dimension, encoding=encoding)
                found |= {row[0]: vector for row, vector in zip(rows, vectors, strict=True)}
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
        *,
        where: str = "",
        keys: tuple[object, ...] = (),
    ) -> tuple[list[str], Matrix]:
        """Chunk ids in id order and their vectors, one row each.

        ``where`` narrows to allowed chunks (``r`` is the resource, ``c`` the chunk).
        """
        with self._db.read() as db:
            dimension, encoding = shape_of(db, embedder_id)
            rows = db.execute(
                "SELECT c.id, v.vector FROM chunks c JOIN vectors v ON v.chunk_rid = c.rid"
                " JOIN resources r ON r.rid = c.resource_rid"
                f" WHERE c.store_id = ? AND v.embedder_id = ? {where} ORDER BY c.id",
                (store_id, embedder_id, *keys),
            ).fetchall()
        vectors = unpack([row[1] for row in rows], dimension=dimension, encoding=encoding)
        return [row[0] for row in rows], vectors

    def entries(
        self, store_id: str, embedder_id: int | None, *, only: set[str] | None = None
    ) -> Iterator[StoredEntry]:
        """Every chunk of the store for filling an index, in pages so that memory stays flat.

        ``embedder_id`` None leaves the vectors out (a sparse leg); otherwise chunks
        without a vector are left out.
        """
        columns = "c.rid, c.id, c.trail, c.text, " + ("v.vector" if embedder_id else "NULL")
        join = "JOIN vectors v ON v.chunk_rid = c.rid AND v.embedder_id = ?" if embedder_id else ""
        first: tuple[object, ...] = (embedder_id,) if embedder_id else ()
        last = 0
        while True:
            with self._db.read() as db:
                shape = shape_of(db, embedder_id) if embedder_id else None
                rows = db.execute(
                    f"SELECT {columns} FROM chunks c {join}"
                    " WHERE c.store_id = ? AND c.rid > ? ORDER BY c.rid LIMIT 1000",
                    (*first, store_id, last),
                ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            wanted = [row for row in rows if only is None or row[1] in only]
            for row, vector in zip(wanted, _vectors(wanted, shape), strict=True):
                yield StoredEntry(row[1], row[2], row[3], vector)

    def chunk_ids(self, store_id: str, embedder_id: int | None) -> set[str]:
        """Ids an index of the store should hold; see :meth:`entries`."""
        join = "JOIN vectors v ON v.chunk_rid = c.rid AND v.embedder_id = ?" if embedder_id else ""
        first: tuple[object, ...] = (embedder_id,) if embedder_id else ()
        with self._db.read() as db:
            rows = db.execute(
                f"SELECT c.id FROM chunks c {join} WHERE c.store_id = ?", (*first, store_id)
            )
            return {row[0] for row in rows}


def shape_of(db: sqlite3.Connection, embedder_id: int) -> tuple[int, str]:
    """Dimension and encoding of an embedder's vectors."""
    row = db.execute(
        "SELECT dimension, encoding FROM embedders WHERE id = ?", (embedder_id,)
    ).fetchone()
    return row[0], row[1]


def _vectors(
    rows: Sequence[sqlite3.Row], shape: tuple[int, str] | None
) -> Sequence[Matrix] | Sequence[None]:
    """The last column of each row as a vector; None throughout when it holds none."""
    if shape is None:
        return [None] * len(rows)
    return list(unpack([row[4] for row in rows], dimension=shape[0], encoding=shape[1]))
