"""Reading what is indexed."""

from __future__ import annotations

from collections.abc import Sequence

from localdb_core.domain.chunk import Chunk
from localdb_core.domain.resource import Resource
from localdb_core.domain.store import Store
from localdb_core.storage.catalog import Catalog
from localdb_core.storage.stores import is_unicode

BLANK_LINE = "\n\n"


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
        blocks = self._catalog.resources.blocks(store.id, resource_id)
        if blocks:
            return BLANK_LINE.join(block.text for block in blocks)
        return "\n".join(chunk.text for chunk in self.chunks(store, resource_id))

    def chunks(self, store: Store, resource_id: str) -> list[Chunk]:
        """Every chunk in storage order."""
        return self._catalog.resources.chunks(store.id, resource_id)

    def chunk_count(self, store: Store, resource_id: str) -> int:
        """How many chunks the resource has."""
        return self._catalog.resources.chunk_count(store.id, resource_id)

    def page(
        self, store: Store, *, source_id: str | None, offset: int, limit: int
    ) -> tuple[list[Resource], int]:
        """Resources ordered by URI, one page, and how many there are in all."""
        return self._catalog.resources.page(
            store.id, source_id=source_id, offset=offset, limit=limit
        )
