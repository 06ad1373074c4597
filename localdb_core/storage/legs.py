"""The catalog's own legs: FTS5 (keyword) and exact cosine (dense).

They live in the catalog file, so they are never stale, and they answer every
filtered or fenced query (E-3, E-5).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localdb_core.domain.ids import ChunkId
from localdb_core.domain.query import Fence, Filters
from localdb_core.plugin import Scored
from localdb_core.storage.connections import Connections
from localdb_core.storage.stores import is_unicode
from localdb_core.storage.vectors import VectorTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FTS5 = "fts5"
EXACT = "exact"

TRAIL_WEIGHT = 1.0
TEXT_WEIGHT = 1.0

# English function words: left out of any-word queries, where they cost 10 times the
# rest of the query and decide nothing (E-5). Never left out of all-word queries.
_ENGLISH = (
    "a about after all also am an and any are as at be because been before being between both but"
    " by can could did do does doing down during each few for from further had has have having he"
    " her here hers him his how i if in into is it its itself just me more most my no nor not now"
    " of off on once only or other our out over own same she should so some such than that the"
    " their them then there these they this those through to too under until up very was we were"
    " what when where which while who whom why will with would you your"
)
STOP_WORDS = frozenset(_ENGLISH.split())
_WORD = re.compile(r"\w+")

# What cannot be read counts as an empty document (L-STO-07), so it must not be an error here.
_METADATA = (
    "CASE WHEN json_valid(r.metadata_json) THEN EXISTS ("
    "SELECT 1 FROM json_each(r.metadata_json) f WHERE f.key = ? AND (f.atom = ? COLLATE NOCASE"
    " OR f.type = 'array' AND EXISTS (SELECT 1 FROM json_each(f.value) v"
    " WHERE v.atom = ? COLLATE NOCASE))) END"
)


@dataclass(frozen=True, slots=True)
class Allowed:
    """A SQL condition over ``r`` (resource) and ``c`` (chunk) with its parameters."""

    sql: str = ""
    keys: tuple[Any, ...] = ()  # Any: column values

    @classmethod
    def by(cls, filters: Filters, fence: Fence | None) -> Allowed:
        """What filters and fence let through; an empty fence lets nothing through."""
        tests: list[str] = []
        keys: list[Any] = []  # Any: column values
        for sql, value in (
            ("r.mime = ?", filters.mime),
            ("r.added_at >= ?", filters.fetched_after),
            ("r.added_at <= ?", filters.fetched_before),
            ("r.source_id = ?", filters.source_id),
            ("r.id = ?", filters.resource_id),
            ("r.policy_version = ?", filters.policy_version),
        ):
            if value is not None:
                tests.append(sql)
                keys.append(value)
        if filters.uri_prefix is not None:
            tests.append("substr(r.uri, 1, length(?)) = ?")
            keys += [filters.uri_prefix, filters.uri_prefix]
        for name, value in filters.metadata:
            tests.append(_METADATA)
            keys += [name, value, value]
        if not all(is_unicode(key) for key in keys):  # SQLite cannot take it, so none has it
            return cls(" AND 0")
        if fence is not None:
            import json

            tests.append("r.id IN (SELECT value FROM json_each(?))")
            keys.append(json.dumps(sorted(fence.resources)))
        return cls("".join(f" AND {test}" for test in tests), tuple(keys))


class KeywordLeg:
    """BM25 over trail and text by SQLite FTS5 (k1 1.2, b 0.75).

    All words first, then filled up with any-word matches ranked after them (D-05).
    """

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def query(
        self, store_id: str, text: str, *, limit: int, allowed: Allowed | None = None
    ) -> list[Scored]:
        """Best first; a blank query finds nothing."""
        words = [word for word in text.replace("\x00", " ").split() if _WORD.search(word)]
        if not words:
            return []
        quoted = ['"' + word.replace('"', '""') + '"' for word in words[:MAX_WORDS]]
        found = self._match(store_id, " ".join(quoted), limit, allowed)
        telling = [q for q, w in zip(quoted, words, strict=False) if _bare(w) not in STOP_WORDS]
        if len(found) < limit and len(quoted) > 1:
            seen = {hit.chunk_id for hit in found}
            filled = self._match(
                store_id, " OR ".join(telling or quoted), limit + len(found), allowed
            )
            found += [hit for hit in filled if hit.chunk_id not in seen][: limit - len(found)]
        return found

    def rebuild(self) -> None:
        """Write the text index of the whole file anew."""
        with self._db.write() as db:
            db.execute("INSERT INTO chunks_fts(chunks_fts) VALUES ('rebuild')")

    def _match(
        self, store_id: str, expression: str, limit: int, allowed: Allowed | None
    ) -> list[Scored]:
        allowed = allowed or Allowed()
        join = "JOIN resources r ON r.rid = c.resource_rid" if allowed.sql else ""
        with self._db.read() as db:
            rows = db.execute(
                f"SELECT c.id, -bm25(chunks_fts, {TRAIL_WEIGHT}, {TEXT_WEIGHT}) AS score"
                f" FROM chunks_fts JOIN chunks c ON c.rid = chunks_fts.rowid {join}"
                f" WHERE chunks_fts MATCH ? AND c.store_id = ?{allowed.sql}"
                " ORDER BY score DESC, c.id LIMIT ?",
                (expression, store_id, *allowed.keys, limit),
            )
            return [Scored(ChunkId(row[0]), float(row[1])) for row in rows]


MAX_WORDS = 64
"""Longer queries are cut: FTS5 plans each phrase, and nobody types more."""


def _bare(word: str) -> str:
    return "".join(_WORD.findall(word)).lower()


class ExactLeg:
    """Cosine over every allowed vector of the store: ``1 - (1 - cos) / 2``, in [0, 1].

    The yardstick of every dense index: full recall, ties by chunk id.
    """

    def __init__(self, connections: Connections) -> None:
        self._vectors = VectorTable(connections)
        self._loaded: dict[tuple[str, int], tuple[int, list[str], NDArray[np.float32]]] = {}

    def query(
        self,
        store_id: str,
        vector: NDArray[np.float32],
        *,
        embedder_id: int,
        limit: int,
        generation: int,
        allowed: Allowed | None = None,
    ) -> list[Scored]:
        """Best first. ``generation`` says whether the loaded matrix is still right."""
        if allowed is not None and allowed.sql:
            ids, matrix = self._vectors.matrix(
                store_id, embedder_id, where=allowed.sql, keys=allowed.keys
            )
        else:
            ids, matrix = self._matrix(store_id, embedder_id, generation)
        return nearest(ids, matrix, vector, limit)

    def _matrix(
        self, store_id: str, embedder_id: int, generation: int
    ) -> tuple[list[str], NDArray[np.float32]]:
        loaded = self._loaded.get((store_id, embedder_id))
        if loaded is None or loaded[0] != generation:
            ids, matrix = self._vectors.matrix(store_id, embedder_id)
            loaded = (generation, ids, matrix)
            self._loaded[(store_id, embedder_id)] = loaded
        return loaded[1], loaded[2]


def nearest(
    ids: Sequence[str], matrix: NDArray[np.float32], vector: NDArray[np.float32], limit: int
) -> list[Scored]:
    """The rows nearest to ``vector`` by cosine, best first, ties by id.

    Rows and vector have unit length.
    """
    import numpy as np

    if not len(ids):
        return []
    cosine = matrix @ vector.astype(np.float32)
    best = np.arange(len(ids))
    if len(ids) > limit:
        # One more than needed decides nothing; equal scores at the edge do, so keep them all.
        edge = np.partition(cosine, len(ids) - limit)[len(ids) - limit]
        best = np.flatnonzero(cosine >= edge)
    ranked = sorted(best.tolist(), key=lambda i: (-cosine[i], ids[i]))[:limit]
    return [
        Scored(ChunkId(ids[i]), float(min(1.0, max(0.0, (1.0 + cosine[i]) / 2)))) for i in ranked
    ]
