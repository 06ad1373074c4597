"""Resources, blocks and chunks in the catalog."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from localdb_core.domain.block import Block
from localdb_core.domain.chunk import Chunk
from localdb_core.domain.resource import Resource
from localdb_core.storage.connections import Connections
from localdb_core.storage.decode import chunk_of, resource_of
from localdb_core.storage.encoding import pack

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

PARAMETERS = 500
"""Ids per ``IN (…)``; SQLite allows more, but one plan for all sizes is enough."""

_COLUMNS = (
    "id, store_id, source_id, ingestor_kind, resource_kind, uri, external_id, external_etag,"
    " content_hash, title, mime, language, added_at, modified_at, metadata_json, origin_store,"
    " policy_version, size, mtime_ns, raw_hash, parser, parser_version, chunking"
)


@dataclass(frozen=True, slots=True)
class Known:
    """What the skip rule compares (S-3): the last version of one URI."""

    id: str
    source_id: str
    content_hash: str
    policy_version: str
    title: str | None
    size: int | None
    mtime_ns: int | None
    raw_hash: str | None
    parser: str | None
    parser_version: str | None
    embedded: bool = True
    """Whether every chunk has a vector."""
    stale: bool = False
    """Whether a migration marked it to be read again, whatever else is unchanged."""
    chunking: str = ""
    """How it was made, as the pipeline wrote it; empty for documents from before."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What is recorded anew about a document that stays as it is."""

    uri: str
    source_id: str
    policy_version: str
    chunking: str
    size: int | None
    mtime_ns: int | None
    added_at: str


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A resource ready to be committed: everything computed, nothing stored.

    ``text_hashes`` identify what was embedded per chunk (empty without an embedder);
    ``vectors`` is (n, dimension) float32, or None when there is no embedder.
    ``trails`` is what is put in front of each chunk in the keyword text.
    """

    resource: Resource
    blocks: tuple[Block, ...]
    chunks: tuple[Chunk, ...]
    trails: tuple[str, ...]
    text_hashes: tuple[bytes, ...] = ()
    vectors: NDArray[np.float32] | None = None
    warnings: tuple[str, ...] = field(default=())


class ResourceTable:
    """Rows of ``resources``, ``blocks`` and ``chunks``."""

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def known(self, store_id: str) -> dict[str, Known]:
        """Every URI of the store with what the skip rule needs."""
        with self._db.read() as db:
            rows = db.execute(
                "SELECT uri, id, source_id, content_hash, policy_version, title, size, mtime_ns,"
                " raw_hash, parser, parser_version, NOT EXISTS (SELECT 1 FROM chunks c"
                " LEFT JOIN vectors v ON v.chunk_rid = c.rid"
                " WHERE c.resource_rid = resources.rid AND v.chunk_rid IS NULL), stale, chunking"
                " FROM resources WHERE store_id = ?",
                (store_id,),
            )
            return {row[0]: Known(*row[1:]) for row in rows}

    def get(self, store_id: str, resource_id: str) -> Resource | None:
        """One resource of one store."""
        with self._db.read() as db:
            row = db.execute(
                f"SELECT {_COLUMNS} FROM resources WHERE store_id = ? AND id = ?",
                (store_id, resource_id),
            ).fetchone()
        return None if row is None else resource_of(row)

    def page(
        self, store_id: str, *, source_id: str | None, offset: int, limit: int
    ) -> tuple[list[Resource], int]:
        """One page of resources ordered by URI, and how many there are in all."""
        where = "store_id = ?" + (" AND source_id = ?" if source_id is not None else "")
        keys: tuple[Any, ...] = (store_id,) if source_id is None else (store_id, source_id)
        with self._db.read() as db:
            (total,) = db.execute(f"SELECT count(*) FROM resources WHERE {where}", keys).fetchone()
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM resources WHERE {where} ORDER BY uri, id LIMIT ? OFFSET ?",
                (*keys, limit, min(offset, 2**62)),
            )
            return [resource_of(row) for row in rows], total

    def hits(self, store_id: str, chunk_ids: Sequence[str]) -> dict[str, tuple[Chunk, Resource]]:
        """Chunks by id with their resources; ids the catalog does not know are left out."""
        found: dict[str, tuple[Chunk, Resource]] = {}
        columns = ", ".join(f"r.{name.strip()} AS r_{name.strip()}" for name in _COLUMNS.split(","))
        with self._db.read() as db:
            for part in batched(chunk_ids, PARAMETERS):
                marks = ",".join("?" * len(part))
                rows = db.execute(
                    f"SELECT c.*, r.id AS resource_id, {columns} FROM chunks c"
                    " JOIN resources r ON r.rid = c.resource_rid"
                    f" WHERE c.store_id = ? AND c.id IN ({marks})",
                    (store_id, *part),
                )
                for row in rows:
                    found[row["id"]] = (chunk_of(row), resource_of(row, prefix="r_"))
        return found

    def existing(self, store_id: str, chunk_ids: Sequence[str]) -> set[str]:
        """Those of these chunk ids that the store has."""
        found: set[str] = set()
        with self._db.read() as db:
            for part in batched(chunk_ids, PARAMETERS):
                marks = ",".join("?" * len(part))
                rows = db.execute(
                    f"SELECT id FROM chunks WHERE store_id = ? AND id IN ({marks})",
                    (store_id, *part),
                )
                found |= {row[0] for row in rows}
        return found

    def stale_count(self, store_id: str) -> int:
        """How many documents a migration marked to be read again."""
        with self._db.read() as db:
            (count,) = db.execute(
                "SELECT count(*) FROM resources WHERE store_id = ? AND stale <> 0", (store_id,)
            ).fetchone()
        return int(count)

    def stamp(self, store_id: str, stamps: Iterable[Stamp]) -> None:
        """Record that these documents were looked at and are as they should be."""
        with self._db.write() as db:
            db.executemany(
                "UPDATE resources SET source_id = ?, policy_version = ?, chunking = ?, size = ?,"
                " mtime_ns = ?, added_at = ? WHERE store_id = ? AND uri = ?",
                [
                    (
                        row.source_id,
                        row.policy_version,
                        row.chunking,
                        row.size,
                        _fitting(row.mtime_ns),
                        row.added_at,
                        store_id,
                        row.uri,
                    )
                    for row in stamps
                ],
            )

    def update_metadata(self, resource: Resource) -> None:
        """Store everything about a resource that needs no re-chunking (L-ING-34)."""
        with self._db.write() as db:
            db.execute(
                "UPDATE resources SET source_id = ?, mime = ?, language = ?, added_at = ?,"
                " modified_at = ?, metadata_json = ?, size = ?, mtime_ns = ?, raw_hash = ?,"
                " parser = ?, parser_version = ?, policy_version = ?, chunking = ?, stale = 0"
                " WHERE store_id = ? AND id = ?",
                (
                    resource.source_id,
                    resource.mime,
                    resource.language,
                    resource.added_at,
                    resource.modified_at,
                    _metadata_json(resource),
                    resource.size,
                    _fitting(resource.mtime_ns),
                    resource.raw_hash,
                    resource.parser,
                    resource.parser_version,
                    resource.policy_version,
                    resource.chunking,
                    resource.store_id,
                    resource.id,
                ),
            )


def insert_document(
    db: sqlite3.Connection,
    document: PreparedDocument,
    embedder_id: int | None,
    encoding: str = "float32",
) -> None:
    """Insert one prepared document; the caller has removed the URI's old version.

    ``encoding`` is how the embedder has its vectors stored.
    """
    resource = document.resource
    values = _resource_values(resource)
    marks = ", ".join("?" * len(values))
    cursor = db.execute(f"INSERT INTO resources ({_COLUMNS}) VALUES ({marks})", values)
    rid = cursor.lastrowid
    db.executemany(
        "INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?)",
        [
            (
                rid,
                block.seq,
                str(block.kind),
                block.text,
                json.dumps(dict(block.details), ensure_ascii=False),
                None if block.page is None else json.dumps({"page": block.page}),
            )
            for block in document.blocks
        ],
    )
    for position, chunk in enumerate(document.chunks):
        inserted = db.execute(
            "INSERT INTO chunks (store_id, resource_rid, id, block_seq, seq_in_block, block_kind,"
            " text, trail, heading_path, location_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                resource.store_id,
                rid,
                chunk.id,
                chunk.block_seq,
                chunk.seq_in_block,
                str(chunk.block_kind),
                chunk.text,
                document.trails[position],
                json.dumps(list(chunk.heading_path), ensure_ascii=False),
                json.dumps(_location(chunk)),
            ),
        )
        if document.vectors is not None and embedder_id is not None:
            db.execute(
                "INSERT INTO vectors VALUES (?, ?, ?, ?)",
                (
                    inserted.lastrowid,
                    embedder_id,
                    document.text_hashes[position],
                    pack(document.vectors[position], encoding),
                ),
            )


def delete_resources(db: sqlite3.Connection, store_id: str, rids: Sequence[int]) -> list[str]:
    """Delete resources by row id; returns their chunk ids, listed as pending deletions."""
    gone: list[str] = []
    for part in batched(rids, PARAMETERS):
        marks = ",".join("?" * len(part))
        gone += [
            row[0]
            for row in db.execute(f"SELECT id FROM chunks WHERE resource_rid IN ({marks})", part)
        ]
        db.execute(f"DELETE FROM resources WHERE rid IN ({marks})", part)
    db.executemany(
        "INSERT OR IGNORE INTO pending_deletes (store_id, chunk_id) VALUES (?, ?)",
        [(store_id, chunk) for chunk in gone],
    )
    return gone


def rids_of_uri(db: sqlite3.Connection, store_id: str, uris: Iterable[str]) -> list[int]:
    """Row ids of every version of these URIs."""
    found: list[int] = []
    for part in batched(list(uris), PARAMETERS):
        marks = ",".join("?" * len(part))
        rows = db.execute(
            f"SELECT rid FROM resources WHERE store_id = ? AND uri IN ({marks})",
            (store_id, *part),
        )
        found += [row[0] for row in rows]
    return found


def batched(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Slices of at most ``size``."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _fitting(number: int | None) -> int | None:
    """None for what SQLite cannot hold: a file time after the year 2262."""
    return number if number is not None and abs(number) < 1 << 63 else None


def _location(chunk: Chunk) -> dict[str, Any]:
    location: dict[str, Any] = {"start": chunk.span.start, "end": chunk.span.end}
    if chunk.window_block_seqs:
        location["window_block_seqs"] = list(chunk.window_block_seqs)
    if chunk.page is not None:
        location["page"] = chunk.page
    return location


def _metadata_json(resource: Resource) -> str:
    metadata = resource.metadata
    if resource.title and not metadata.title:  # L-DOM-32: a citation shows the metadata's title
        metadata = metadata.with_(title=resource.title)
    return json.dumps(metadata.to_json(), ensure_ascii=False)


def _resource_values(resource: Resource) -> tuple[Any, ...]:
    return (
        resource.id,
        resource.store_id,
        resource.source_id,
        resource.ingestor_kind,
        resource.resource_kind,
        resource.uri,
        resource.external_id,
        resource.external_etag,
        resource.content_hash,
        resource.title,
        resource.mime,
        resource.language,
        resource.added_at,
        resource.modified_at,
        _metadata_json(resource),
        resource.store_id,
        resource.policy_version,
        resource.size,
        _fitting(resource.mtime_ns),
        resource.raw_hash,
        resource.parser,
        resource.parser_version,
        resource.chunking,
    )
