"""The tools a server offers: fixed when it starts, each built when it is first called."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, cast

import mcp_types as types
from pydantic import BaseModel

from localdb_core.domain import InternalError, InvalidRequest
from localdb_core.host.owned import Owned
from localdb_core.mcp.policy import CORE, SurfacePolicy, policy_of
from localdb_core.mcp.schema import input_schema
from localdb_core.plugin import Tool, ToolContext, ToolResult, ToolSpec

ALL: Final = "all"
MAX_DESCRIPTION: Final = 2048
"""Hosts cut longer descriptions without telling anybody."""

log = logging.getLogger(__name__)

ContextFor = Callable[[str], ToolContext]
"""From a plugin's name to the context its tools are built with."""


class BoundTool:
    """One tool under its name on the wire."""

    def __init__(self, name: str, owned: Owned[ToolSpec], context_for: ContextFor) -> None:
        self.name = name
        self.plugin = owned.plugin
        self.spec = owned.value
        self.policy: SurfacePolicy = policy_of(self.spec.surface)
        self.model = _model(self.spec.arguments)
        self.input_schema = input_schema(self.model, self.policy.nullable)
        self._context_for = context_for
        self._tool: Tool | None = None
        self._building = threading.Lock()

    @property
    def wire(self) -> types.Tool:
        """The tool as ``tools/list`` shows it, with every hint said (mcp.md §8.4)."""
        effects = self.spec.effects
        return types.Tool(
            name=self.name,
            title=self.spec.title,
            description=self.spec.description[:MAX_DESCRIPTION],
            input_schema=self.input_schema,
            annotations=types.ToolAnnotations(
                read_only_hint=effects == "read",
                destructive_hint=effects == "destructive",
                idempotent_hint=self.spec.idempotent,
                open_world_hint=False,
            ),
        )

    def parse(self, arguments: Mapping[str, Any] | None) -> BaseModel:  # Any: JSON values
        """The arguments as the tool's model. Raises pydantic's ValidationError."""
        return self.model.model_validate(dict(arguments or {}))

    def run(self, arguments: BaseModel) -> ToolResult:
        """Answer one call; may block, so call it on a worker thread."""
        result: object = self._built().run(arguments)
        if not isinstance(result, ToolResult):
            raise InternalError(f"tool {self.name} of {self.plugin} gave no ToolResult")
        return result

    def _built(self) -> Tool:
        with self._building:
            if self._tool is None:
                target = _load(self.spec.target)
                self._tool = cast(Tool, target(self._context_for(self.plugin)))
            return self._tool


class ToolTable:
    """Tools by name, in a stable order.

    table = ToolTable.build(registry.tools(), surfaces=("core",), context_for=make_context)
    """

    def __init__(self, tools: Sequence[BoundTool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    @classmethod
    def build(
        cls, owned: Iterable[Owned[ToolSpec]], *, surfaces: Sequence[str], context_for: ContextFor
    ) -> ToolTable:
        """The tools of these surfaces; imports their argument models and nothing else.

        One surface alone keeps its bare names. Several, or ``all``, put the surface in
        front of every name but core's. A tool that cannot be offered is reported in the
        log and left out.

        Raises:
            InvalidRequest: nobody offers one of the surfaces.
        """
        offered = list(owned)
        known = sorted({tool.value.surface for tool in offered})
        chosen = _chosen(surfaces, known)
        prefixed = ALL in surfaces or len(chosen) > 1
        taken: dict[str, BoundTool] = {}
        for tool in offered:
            if tool.value.surface in chosen:
                name = _wire_name(tool.value, prefixed=prefixed)
                _claim(taken, name, tool, context_for)
        return cls(list(taken.values()))

    def get(self, name: str) -> BoundTool | None:
        """The tool of this name."""
        return self._tools.get(name)

    def __iter__(self) -> Iterator[BoundTool]:
        return iter(self._tools.values())

    def __contains__(self, name: object) -> bool:
        return name in self._tools


def _chosen(surfaces: Sequence[str], known: Sequence[str]) -> frozenset[str]:
    if ALL in surfaces:
        return frozenset(known)
    unknown = [name for name in surfaces if name not in known]
    if unknown:
        raise InvalidRequest(
            f"no surface named '{unknown[0]}'; there are: {', '.join((*known, ALL))}"
        )
    return frozenset(surfaces)


def _wire_name(spec: ToolSpec, *, prefixed: bool) -> str:
    return f"{spec.surface}_{spec.name}" if prefixed and spec.surface != CORE else spec.name


def _claim(
    taken: dict[str, BoundTool], name: str, owned: Owned[ToolSpec], context_for: ContextFor
) -> None:
    if name in taken:
        log.error(
            "tool %s of plugin %s is left out: plugin %s already offers that name",
            name,
            owned.plugin,
            taken[name].plugin,
        )
        return
    try:
        taken[name] = BoundTool(name, owned, context_for)
    # A plugin's module may raise anything at all; the other tools must still be served.
    except (Exception, SystemExit):
        log.exception("tool %s of plugin %s is left out", name, owned.plugin)


def _model(target: str) -> type[BaseModel]:
    model = _load(target)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise TypeError(f"{target} is not a pydantic model")
    return model


def _load(target: str) -> Any:  # Any: whatever the plugin put there
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
