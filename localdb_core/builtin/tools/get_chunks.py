"""``get_chunks``: a document's passages in order, paged or around an anchor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from localdb_core.builtin.tools.answer import bounded, find_document, pretty, services
from localdb_core.builtin.tools.arguments import GetChunksArguments
from localdb_core.domain import Chunk, ChunkNotFound, InvalidRequest
from localdb_core.plugin import ToolContext, ToolResult

DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 200


@dataclass(frozen=True, slots=True)
class Window:
    """Which chunks are returned, and where the anchor stands among them."""

    offset: int
    anchor_index: int | None = None


class GetChunksTool:
    """Reads a document piece by piece."""

    def __init__(self, context: ToolContext) -> None:
        self._app = services(context)

    def run(self, arguments: GetChunksArguments) -> ToolResult:
        """One page. Raises InvalidRequest, StoreNotFound, ResourceNotFound, ChunkNotFound."""
        _check_exclusive(arguments)
        limit = bounded("limit", arguments.limit, default=DEFAULT_LIMIT, least=1, most=MAX_LIMIT)
        bounded("offset", arguments.offset, default=0, least=0)
        bounded("anchor_block_seq", arguments.anchor_block_seq, default=0, least=0)
        store, resource = find_document(self._app, arguments.resource_id, store=arguments.store)
        chunks = sorted(self._app.documents.chunks(store, resource.id), key=_storage_order)
        window = _window(chunks, arguments, limit)
        page = chunks[window.offset : window.offset + limit]
        answer = {
            "resource_id": resource.id,
            "uri": resource.uri,
            "title": resource.metadata.title,
            "store": store.ref.to_json(),
            "total_chunks": len(chunks),
            "offset": window.offset,
            "limit": limit,
            "returned": len(page),
            "anchor_index": window.anchor_index,
            "chunks": [_row(chunk) for chunk in page],
        }
        return ToolResult(pretty(answer))


def centred(position: int, *, total: int, limit: int) -> Window:
    """A window of ``limit`` chunks around a position, moved inwards at the edges."""
    start = max(0, min(position - limit // 2, total - limit))
    return Window(start, position - start)


def _window(chunks: Sequence[Chunk], arguments: GetChunksArguments, limit: int) -> Window:
    position = _anchor(chunks, arguments)
    if position is None:
        return Window(arguments.offset or 0)
    return centred(position, total=len(chunks), limit=limit)


def _anchor(chunks: Sequence[Chunk], arguments: GetChunksArguments) -> int | None:
    wanted, block = arguments.anchor_chunk_id, arguments.anchor_block_seq
    if wanted is None and block is None:
        return None
    for position, chunk in enumerate(chunks):
        if chunk.id == wanted or (block is not None and chunk.block_seq >= block):
            return position
    if wanted is not None:
        raise ChunkNotFound(f"no chunk '{wanted}' in document '{arguments.resource_id}'")
    raise ChunkNotFound(f"no chunk at or after block {block} in '{arguments.resource_id}'")


def _check_exclusive(arguments: GetChunksArguments) -> None:
    ways = ("offset", "anchor_chunk_id", "anchor_block_seq")
    given = [way for way in ways if getattr(arguments, way) is not None]
    if len(given) > 1:
        raise InvalidRequest(f"{' and '.join(given)} are mutually exclusive; pass one of them")


def _storage_order(chunk: Chunk) -> tuple[int, int, int, int, str]:
    return (chunk.block_seq, chunk.seq_in_block, chunk.span.start, chunk.span.end, chunk.id)


def _row(chunk: Chunk) -> dict[str, Any]:  # Any: JSON values
    return {
        "chunk_id": chunk.id,
        "block_seq": chunk.block_seq,
        "seq_in_block": chunk.seq_in_block,
        "block_kind": str(chunk.block_kind),
        "span": {"start": chunk.span.start, "end": chunk.span.end},
        "heading_path": list(chunk.heading_path),
        "text": chunk.text,
    }
