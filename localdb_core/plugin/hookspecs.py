"""The hooks a plugin may implement.

All but the last are called once per process, right after loading; none of those may
do I/O. Each returns light descriptions; the code behind them is imported when first
needed.
"""

from __future__ import annotations

from collections.abc import Iterable

from localdb_core.domain.health import Check
from localdb_core.plugin.context import CheckContext
from localdb_core.plugin.markers import hookspec
from localdb_core.plugin.specs import (
    ChunkerSpec,
    EmbedderSpec,
    IndexSpec,
    ParserSpec,
    RankerSpec,
    ResourceSpec,
    SourceSpec,
    SurfaceSpec,
    ToolSpec,
)


class LocaldbSpec:
    """Hook specifications of plugin API 1."""

    @hookspec
    def localdb_parsers(self) -> Iterable[ParserSpec]:  # type: ignore[empty-body]
        """Parsers this plugin offers."""

    @hookspec
    def localdb_embedders(self) -> Iterable[EmbedderSpec]:  # type: ignore[empty-body]
        """Embedders this plugin offers."""

    @hookspec
    def localdb_indexes(self) -> Iterable[IndexSpec]:  # type: ignore[empty-body]
        """Dense and sparse indexes this plugin offers."""

    @hookspec
    def localdb_rankers(self) -> Iterable[RankerSpec]:  # type: ignore[empty-body]
        """Rankers this plugin offers."""

    @hookspec
    def localdb_tools(self) -> Iterable[ToolSpec]:  # type: ignore[empty-body]
        """Tools this plugin offers to agents."""

    @hookspec
    def localdb_surfaces(self) -> Iterable[SurfaceSpec]:  # type: ignore[empty-body]
        """Named sets of tools this plugin describes: their flags and the rules they share."""

    @hookspec
    def localdb_resources(self) -> Iterable[ResourceSpec]:  # type: ignore[empty-body]
        """What agents may read by URI on this plugin's surfaces."""

    @hookspec
    def localdb_sources(self) -> Iterable[SourceSpec]:  # type: ignore[empty-body]
        """Kinds of sources this plugin can list."""

    @hookspec
    def localdb_chunkers(self) -> Iterable[ChunkerSpec]:  # type: ignore[empty-body]
        """Chunkers this plugin offers."""

    @hookspec
    def localdb_checks(self, context: CheckContext) -> Iterable[Check]:  # type: ignore[empty-body]
        """What ``localdb doctor`` should know about this plugin.

        Called by ``doctor`` alone, also when the database or the config is broken. May
        do I/O, within 10 seconds, but change and download nothing; an implementation
        imports what it needs inside the function.
        """
