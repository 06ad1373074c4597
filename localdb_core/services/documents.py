"""Reading what is indexed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from localdb_core.domain.block import Block
from localdb_core.domain.chunk import Chunk
from localdb_core.domain.errors import InvalidRequest
from localdb_core.domain.resource import Resource
from localdb_core.domain.store import Store
from localdb_core.storage.catalog import Catalog
from localdb_core.storage.stores import is_unicode

BLANK_LINE = "\n\n"

MOST: Final = 2**31
"""More chunks than any document has."""


class Documents:
    """Resources, their text and their chunks."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def find(self, resource_id: str, stores: Sequence[Store]) -> tuple[Store, Resource] | None:
        """The first of these stores that holds the resource, and the resource."""
        found = self.find_all(resource_id, stores)
        return found[0] if found else None

    def find_all(self, resource_id: str, stores: Sequence[Store]) -> list[tuple[Store, Resource]]:
        """Every one of these stores that holds the resource."""
        if not is_unicode(resource_id):
            return []
        rows = ((store, self._catalog.resources.get(store.id, resource_id)) for store in stores)
        return [(store, resource) for store, resource in rows if resource is not None]

    def text(self, store: Store, resource_id: str) -> str:
        """Block texts joined by a blank line; chunk texts when no block is stored (L-SRCH-21)."""
        blocks = self.blocks(store, resource_id)
        if blocks:
            return BLANK_LINE.join(block.text for block in blocks)
        return "\n".join(chunk.text for chunk in self.chunks(store, resource_id))

    def blocks(self, store: Store, resource_id: str) -> list[Block]:
        """Every block in order; none when blocks are not stored (L-SRCH-22)."""
        return self._catalog.passages.blocks(store.id, resource_id)

    def blocks_near(self, store: Store, resource_id: str, seq: int, count: int) -> list[Block]:
        """The blocks whose number is at most ``count`` away from ``seq``, in order."""
        _check_count(count)
        return [b for b in self.blocks(store, resource_id) if abs(b.seq - seq) <= count]

    def chunks(
        self, store: Store, resource_id: str, *, offset: int = 0, limit: int | None = None
    ) -> list[Chunk]:
        """Chunks in storage order, all of them or one page."""
        return self._catalog.passages.chunks(store.id, resource_id, offset=offset, limit=limit)

    def position(
        self,
        store: Store,
        resource_id: str,
        *,
        chunk_id: str | None = None,
        block_seq: int | None = None,
    ) -> int | None:
        """Where in storage order a chunk stands, or the first at or after a block."""
        for place, (found, block) in enumerate(
            self._catalog.passages.places(store.id, resource_id)
        ):
            if found == chunk_id or (block_seq is not None and block >= block_seq):
                return place
        return None

    def neighbours(
        self, store: Store, chunk: Chunk, count: int, *, within_block: bool = False
    ) -> tuple[list[Chunk], list[Chunk]]:
        """Up to ``count`` chunks before and after this one, in storage order.

        ``within_block`` leaves out those of other blocks. Both lists are empty for a chunk
        that has been replaced since. Raises InvalidRequest for a negative count.
        """
        _check_count(count)
        place = self.position(store, chunk.resource_id, chunk_id=chunk.id)
        if place is None:
            return [], []
        first = max(0, place - count)
        last = place + min(count, MOST)
        page = self.chunks(store, chunk.resource_id, offset=first, limit=last + 1 - first)
        kept = [(n, c) for n, c in enumerate(page, first)
                if not within_block or c.block_seq == chunk.block_seq]  # fmt: skip
        return [c for n, c in kept if n < place], [c for n, c in kept if n > place]

    def chunk_count(self, store: Store, resource_id: str) -> int:
        """How many chunks the resource has."""
        return self._catalog.passages.count(store.id, resource_id)

    def page(
        self, store: Store, *, source_id: str | None, offset: int, limit: int
    ) -> tuple[list[Resource], int]:
        """Resources ordered by URI, one page, and how many there are in all."""
        return self._catalog.resources.page(
            store.id, source_id=source_id, offset=offset, limit=limit
        )


def _check_count(count: int) -> None:
    if count < 0:
        raise InvalidRequest(f"the number of neighbours must not be negative: {count}")
