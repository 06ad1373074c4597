"""Calls hooks one implementation at a time and remembers who answered what.

pluggy's own call loop ends at the first exception and forgets whose results it
returns; a misspelt keyword there is silently accepted. So nothing else in the
program touches ``manager.hook``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import pluggy

from localdb_core.domain.errors import PluginError
from localdb_core.host.checks import sift
from localdb_core.host.discovery import Candidate
from localdb_core.host.firstparty import CORE
from localdb_core.host.guard import Meter, Refused, guard
from localdb_core.host.owned import Owned
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

S = TypeVar("S", bound=Spec)


class Calls:
    """One method per hook. A plugin that fails offers nothing there and is reported.

    Args:
        manager: holds the registered plugins.
        owners: plugin name → where it came from.
        report: called once for every failure.
        meters: plugin name → where its CPU time is added up.
    """

    def __init__(
        self,
        manager: pluggy.PluginManager,
        owners: Mapping[str, Candidate],
        *,
        report: Callable[[PluginError], None],
        meters: Mapping[str, Meter],
    ) -> None:
        self._manager = manager
        self._owners = owners
        self._report = report
        self._meters = meters

    def parsers(self) -> list[Owned[ParserSpec]]:
        """Every parser on offer."""
        return self._each("localdb_parsers", ParserSpec)

    def embedders(self) -> list[Owned[EmbedderSpec]]:
        """Every embedder on offer."""
        return self._each("localdb_embedders", EmbedderSpec)

    def indexes(self) -> list[Owned[IndexSpec]]:
        """Every index on offer, dense and sparse."""
        return self._each("localdb_indexes", IndexSpec)

    def rankers(self) -> list[Owned[RankerSpec]]:
        """Every ranker on offer."""
        return self._each("localdb_rankers", RankerSpec)

    def tools(self) -> list[Owned[ToolSpec]]:
        """Every tool on offer, of all surfaces."""
        return self._each("localdb_tools", ToolSpec)

    def sources(self) -> list[Owned[SourceSpec]]:
        """Every kind of source on offer."""
        return self._each("localdb_sources", SourceSpec)

    def chunkers(self) -> list[Owned[ChunkerSpec]]:
        """Every chunker on offer."""
        return self._each("localdb_chunkers", ChunkerSpec)

    def surfaces(self) -> list[Owned[SurfaceSpec]]:
        """Every description of a surface."""
        return self._each("localdb_surfaces", SurfaceSpec)

    def resources(self) -> list[Owned[ResourceSpec]]:
        """Everything on offer that is read by URI."""
        return self._each("localdb_resources", ResourceSpec)

    def _each(self, hook: str, of: type[S]) -> list[Owned[S]]:
        found: list[Owned[S]] = []
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            owner = self._owners[implementation.plugin_name]
            for spec in self._ask(owner, hook, implementation.function, of):
                found.append(Owned(owner.name, owner.distribution, owner.version, spec))
        # core first, and within a plugin the order it chose: chunkers depend on theirs
        return sorted(found, key=lambda owned: (owned.plugin != CORE, owned.plugin))

    def _ask(
        self, owner: Candidate, hook: str, function: Callable[[], object], of: type[S]
    ) -> list[S]:
        """What one plugin answers; all that goes wrong is reported."""
        specs: list[S] = []
        try:
            with guard(
                owner.name,
                "collect",
                during=hook,
                distribution=owner.origin,
                meter=self._meters[owner.name],
            ):
                specs, faults = sift(function(), of)  # no collect hook takes arguments
                if faults:
                    raise Refused("; ".join(faults))
        except PluginError as error:
            self._report(error)
        return specs
