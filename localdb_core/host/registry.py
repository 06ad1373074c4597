"""Everything on offer in this process: an immutable snapshot, read without a lock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from localdb_core.host.kinds import KINDS, Kind
from localdb_core.host.owned import Owned
from localdb_core.host.status import PluginStatus
from localdb_core.plugin import (
    ChunkerSpec,
    EmbedderSpec,
    IndexSpec,
    ParserSpec,
    RankerSpec,
    ResourceSpec,
    SourceSpec,
    Spec,
    SurfaceSpec,
    ToolSpec,
)


@dataclass(frozen=True, slots=True)
class Registry:
    """All components by kind, and what became of each plugin.

    Core's come first, then plugin by plugin in the order of their names; within a
    plugin the order is its own.

    ``plugins`` lets a failed lookup say why: the plugin failed, or was left out.
    """

    parsers: tuple[Owned[ParserSpec], ...] = ()
    embedders: tuple[Owned[EmbedderSpec], ...] = ()
    indexes: tuple[Owned[IndexSpec], ...] = ()
    rankers: tuple[Owned[RankerSpec], ...] = ()
    tools: tuple[Owned[ToolSpec], ...] = ()
    sources: tuple[Owned[SourceSpec], ...] = ()
    chunkers: tuple[Owned[ChunkerSpec], ...] = ()
    surfaces: tuple[Owned[SurfaceSpec], ...] = ()
    resources: tuple[Owned[ResourceSpec], ...] = ()
    plugins: tuple[PluginStatus, ...] = ()

    def of(self, kind: Kind) -> tuple[Owned[Spec], ...]:
        """Every component of a kind."""
        by_kind: dict[Kind, tuple[Owned[Spec], ...]] = {
            "parser": self.parsers,
            "embedder": self.embedders,
            "index": self.indexes,
            "ranker": self.rankers,
            "tool": self.tools,
            "source": self.sources,
            "chunker": self.chunkers,
            "surface": self.surfaces,
            "resource": self.resources,
        }
        return by_kind[kind]

    def holders(self, kind: Kind, name: str) -> tuple[Owned[Spec], ...]:
        """Those with this full id, or with this short name."""
        return tuple(owned for owned in self.of(kind) if name in (owned.full_id, owned.value.name))

    def everything(self) -> Iterator[tuple[Kind, Owned[Spec]]]:
        """Every component with its kind."""
        for kind in KINDS:
            for owned in self.of(kind):
                yield kind, owned
