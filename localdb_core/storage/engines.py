"""Which index answers a leg of a store, and opening it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from localdb_core.domain.errors import InvalidConfig
from localdb_core.domain.store import Store
from localdb_core.host.owned import Owned
from localdb_core.plugin import EmbedderCard, Index, IndexContext, IndexSpec, PluginContext
from localdb_core.storage.catalog import Catalog
from localdb_core.storage.legs import EXACT, FTS5
from localdb_core.storage.stores import StoredEmbedder

LegName = Literal["dense", "sparse"]
LEGS: tuple[LegName, ...] = ("dense", "sparse")
OWN_LEGS: dict[LegName, str] = {"dense": EXACT, "sparse": FTS5}


@dataclass(frozen=True, slots=True)
class Engine:
    """One leg's engine: a plugin's index, or the catalog's own leg (``owned`` None).

    ``set_by`` says whose choice it is; ``fallback`` that a default was not installed.
    """

    leg: LegName
    owned: Owned[IndexSpec] | None
    set_by: Literal["config", "store"] = "config"
    fallback: str | None = None

    @property
    def name(self) -> str:
        """Short name, as config and listings show it."""
        return OWN_LEGS[self.leg] if self.owned is None else self.owned.value.name

    @property
    def full_id(self) -> str:
        """``plugin/name``, or the short name of a catalog leg."""
        return self.name if self.owned is None else self.owned.full_id

    def folder(self, data_dir: Path, store_id: str) -> Path:
        """``<data>/index/<plugin>/<store id>/``; the name joins when it differs (E-2)."""
        assert self.owned is not None, "a catalog leg has no folder"
        plugin, name = self.owned.plugin, self.owned.value.name
        part = plugin if plugin == name else f"{plugin}-{name}"
        return data_dir / "index" / part / store_id


class EngineChoice(Protocol):
    """Says which engine a leg of a store uses (config, store setting, what is installed)."""

    def engine(self, store: Store, leg: LegName) -> Engine:
        """Raises InvalidConfig for a written engine that is not there."""
        ...


class Engines:
    """Opens index instances. ``build`` makes a component from its owner and context."""

    def __init__(
        self,
        catalog: Catalog,
        choice: EngineChoice,
        *,
        context: Callable[[str], PluginContext],
        build: Callable[[Owned[IndexSpec], IndexContext], Index],
    ) -> None:
        self.catalog = catalog
        self._choice = choice
        self._context = context
        self._build = build

    def engine(self, store: Store, leg: LegName) -> Engine:
        """The engine of one leg."""
        return self._choice.engine(store, leg)

    def usable(self, store: Store) -> tuple[LegName, ...]:
        """The legs whose engine can be had; what is wrong with the others is not asked."""
        found: list[LegName] = []
        for leg in LEGS:
            with suppress(InvalidConfig):
                self.engine(store, leg)
                found.append(leg)
        return tuple(found)

    def index_context(
        self, store: Store, engine: Engine, *, language: str | None, readonly: bool
    ) -> IndexContext:
        """What the index is told about its store."""
        assert engine.owned is not None, "a catalog leg is not opened"
        base = self._context(engine.owned.plugin)
        embedder = self.catalog.stores.embedder(store.id) if engine.leg == "dense" else None
        return IndexContext(
            **vars(base),
            folder=engine.folder(self.catalog.data_dir, store.id),
            store_id=store.id,
            language=language,
            card=None if embedder is None else card_of(embedder),
            readonly=readonly,
        )

    def open(
        self, store: Store, engine: Engine, *, language: str | None, readonly: bool = False
    ) -> Index:
        """Open one index; raises whatever the plugin raises when it is missing or broken."""
        assert engine.owned is not None, "a catalog leg is not opened"
        context = self.index_context(store, engine, language=language, readonly=readonly)
        return self._build(engine.owned, context)


def card_of(embedder: StoredEmbedder) -> EmbedderCard:
    """The card of the embedder a store is bound to, without loading the model."""
    return EmbedderCard(
        name=embedder.model,
        dimension=embedder.dimension,
        max_tokens=0,
        fingerprint=embedder.fingerprint,
        encoding="binary" if embedder.encoding == "binary" else "float32",
        languages=embedder.languages,
    )
