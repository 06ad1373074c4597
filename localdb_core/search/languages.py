"""How much the dense leg counts for a store in a language its model does not know (E-9)."""

from __future__ import annotations

from typing import Final

from localdb_core.domain.store import Store
from localdb_core.storage.catalog import Catalog
from localdb_core.storage.stores import StoredEmbedder

FOREIGN_WEIGHT: Final = 0.0
"""Weight of the dense leg there: every other one was worse in four languages (ADR 8)."""

MAJORITY: Final = 0.5


def foreign_language(catalog: Catalog, store: Store, embedder: StoredEmbedder) -> str | None:
    """The language most of the store's documents are in, if the model does not know it."""
    if embedder.languages is None:
        return None
    counts = catalog.stores.languages(store.id)
    total = sum(counts.values())
    foreign = {tag: n for tag, n in counts.items() if _primary(tag) not in embedder.languages}
    if not total or sum(foreign.values()) <= MAJORITY * total:
        return None
    return max(foreign, key=lambda tag: (foreign[tag], tag))


def dense_weight(catalog: Catalog, store: Store, embedder: StoredEmbedder) -> float:
    """1, or what was measured to be best for text the model does not know."""
    return FOREIGN_WEIGHT if foreign_language(catalog, store, embedder) else 1.0


def _primary(tag: str) -> str:
    return tag.partition("-")[0].lower()
