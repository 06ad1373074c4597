"""Rows of the catalog as domain values; what a damaged row says is not trusted."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, TypeVar

from localdb_core.domain.block import Block, BlockKind
from localdb_core.domain.chunk import NO_SPAN, Chunk, Span
from localdb_core.domain.ids import ChunkId, ResourceId, SourceId, StoreId
from localdb_core.domain.metadata import Metadata
from localdb_core.domain.resource import Resource

T = TypeVar("T", dict[str, Any], list[Any])  # Any: JSON values


def resource_of(row: sqlite3.Row, *, prefix: str = "") -> Resource:
    """A row of ``resources``; unreadable metadata is that of an empty document (L-STO-07)."""

    def cell(name: str) -> Any:  # Any: a column value
        return row[prefix + name]

    return Resource(
        id=ResourceId(cell("id")),
        store_id=StoreId(cell("store_id")),
        source_id=SourceId(cell("source_id")),
        uri=cell("uri"),
        content_hash=cell("content_hash"),
        metadata=Metadata.from_json(stored_json(cell("metadata_json"), dict)),
        ingestor_kind=cell("ingestor_kind"),
        resource_kind=cell("resource_kind"),
        title=cell("title"),
        mime=cell("mime"),
        language=cell("language"),
        external_id=cell("external_id"),
        external_etag=cell("external_etag"),
        added_at=cell("added_at"),
        modified_at=cell("modified_at"),
        policy_version=cell("policy_version"),
        size=cell("size"),
        mtime_ns=cell("mtime_ns"),
        raw_hash=cell("raw_hash"),
        parser=cell("parser"),
        parser_version=cell("parser_version"),
        chunking=cell("chunking"),
    )


def block_of(row: sqlite3.Row) -> Block:
    """A row of ``blocks``."""
    return Block(
        kind=BlockKind(row["kind"]),
        text=row["text"],
        seq=row["seq"],
        details=stored_json(row["metadata_json"], dict),
        page=stored_json(row["location_json"], dict).get("page"),
    )


def chunk_of(row: sqlite3.Row) -> Chunk:
    """A row of ``chunks`` that also has its ``resource_id``."""
    location = stored_json(row["location_json"], dict)
    return Chunk(
        id=ChunkId(row["id"]),
        resource_id=ResourceId(row["resource_id"]),
        block_seq=row["block_seq"],
        seq_in_block=row["seq_in_block"],
        block_kind=BlockKind(row["block_kind"]),
        text=row["text"],
        heading_path=tuple(stored_json(row["heading_path"], list)),
        span=Span(location["start"], location["end"]) if "end" in location else NO_SPAN,
        window_block_seqs=tuple(location.get("window_block_seqs", ())),
        page=location.get("page"),
    )


def stored_json(text: str | None, kind: type[T]) -> T:
    """The JSON value of a column; an empty one where it is absent, damaged or of another kind."""
    try:
        value = json.loads(text) if text else None
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, kind) else kind()
