"""``get_chunks``: a document's passages in order, paged or around an anchor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from localdb_core.builtin.tools.answer import bounded, find_document, pretty, services
from localdb_core.builtin.tools.arguments import GetChunksArguments
from localdb_core.domain import Chunk, ChunkNotFound, InvalidRequest, Store
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
        total = self._app.documents.chunk_count(store, resource.id)
        window = self._window(store, arguments, total=total, limit=limit)
        page = self._app.documents.chunks(store, resource.id, offset=window.offset, limit=limit)
        answer = {
            "resource_id": resource.id,
            "uri": resource.uri,
            "title": resource.metadata.title,
            "store": store.ref.to_json(),
            "total_chunks": total,
            "offset": window.offset,
            "limit": limit,
            "returned": len(page),
            "anchor_index": window.anchor_index,
            "chunks": [_row(chunk) for chunk in page],
        }
        return ToolResult(pretty(answer))

    def _window(
        self, store: Store, arguments: GetChunksArguments, *, total: int, limit: int
    ) -> Window:
        wanted, block = arguments.anchor_chunk_id, arguments.anchor_block_seq
        if wanted is None and block is None:
            return Window(arguments.offset or 0)
        document = arguments.resource_id
        position = self._app.documents.position(store, document, chunk_id=wanted, block_seq=block)
        if position is not None:
            return centred(position, total=total, limit=limit)
        if wanted is not None:
            raise ChunkNotFound(f"no chunk '{wanted}' in document '{document}'")
        raise ChunkNotFound(f"no chunk at or after block {block} in '{document}'")


def centred(position: int, *, total: int, limit: int) -> Window:
    """A window of ``limit`` chunks around a position, moved inwards at the edges."""
    start = max(0, min(position - limit // 2, total - limit))
    return Window(start, position - start)


def _check_exclusive(arguments: GetChunksArguments) -> None:
    ways = ("offset", "anchor_chunk_id", "anchor_block_seq")
    given = [way for way in ways if getattr(arguments, way) is not None]
    if len(given) > 1:
        raise InvalidRequest(f"{' and '.join(given)} are mutually exclusive; pass one of them")


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
