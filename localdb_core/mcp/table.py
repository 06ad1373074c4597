"""The tools a server offers: fixed when it starts, each built when it is first called."""

from __future__ import annotations

import inspect
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import mcp_types as types
from pydantic import BaseModel, ValidationError

from localdb_core.domain import InternalError
from localdb_core.host import lazy
from localdb_core.host.checks import MAX_NAME
from localdb_core.host.owned import Owned
from localdb_core.host.surfaces import intrudes, tools_by_name
from localdb_core.mcp.calls import current_call
from localdb_core.mcp.policy import SurfacePolicy
from localdb_core.mcp.schema import input_schema, output_schema
from localdb_core.mcp.surfaces import Choice
from localdb_core.plugin import Tool, ToolContext, ToolResult, ToolSpec

MAX_DESCRIPTION: Final = 2048
"""Hosts cut longer descriptions without telling anybody."""

log = logging.getLogger(__name__)

ContextFor = Callable[[str], ToolContext]
"""From a plugin's name to the context its tools are built with."""


class BadArguments(Exception):
    """The arguments do not fit the tool's model."""

    def __init__(self, error: ValidationError) -> None:
        super().__init__(str(error))
        self.error = error


class BoundTool:
    """One tool under its name on the wire."""

    def __init__(
        self,
        name: str,
        owned: Owned[ToolSpec],
        context_for: ContextFor,
        *,
        policy: SurfacePolicy,
    ) -> None:
        self.name = name
        self.plugin = owned.plugin
        self.spec = owned.value
        self.policy = policy
        self.model = _model(self.spec.arguments, owned.plugin)
        self.input_schema = input_schema(self.model, policy.nullable)
        result = self.spec.result if policy.structured else None
        self.result = None if result is None else _model(result, owned.plugin)
        self.output_schema = None if self.result is None else output_schema(self.result)
        self._owned = owned
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
            output_schema=self.output_schema,
            annotations=types.ToolAnnotations(
                read_only_hint=effects == "read",
                destructive_hint=effects == "destructive",
                idempotent_hint=self.spec.idempotent,
                open_world_hint=self.spec.open_world,
            ),
        )

    def parse(self, arguments: Mapping[str, Any] | None) -> BaseModel:  # Any: JSON values
        """The arguments as the tool's model. Raises BadArguments."""
        extra: Any = "forbid" if self.policy.closed else None
        try:
            return self.model.model_validate(dict(arguments or {}), extra=extra)
        except ValidationError as error:
            raise BadArguments(error) from None

    def run(self, arguments: BaseModel) -> ToolResult:
        """Ask the tool; may block, so call it on a worker thread."""
        result: object = self._built().run(arguments)
        if inspect.iscoroutine(result):
            result.close()
        if not isinstance(result, ToolResult):
            raise InternalError(f"tool {self.name} of {self.plugin} gave no ToolResult")
        return result

    def answer(self, arguments: Mapping[str, Any] | None) -> types.CallToolResult:
        """Answer one call with what can be sent; may block as well. Any: JSON values.

        Raises:
            BadArguments: they do not fit.
            Exception: whatever the tool raises, and whatever its answer cannot be.
        """
        return self.policy.answer(self.run(self.parse(arguments)), self.result)

    def _built(self) -> Tool:
        with self._building:
            if self._tool is None:
                context = replace(self._context_for(self.plugin), call=current_call)
                tool: Tool = lazy.build(self._owned, context)
                self._tool = tool
            return self._tool


class ToolTable:
    """Tools by name, in a stable order.

    choice = Choice.of(("core",), registry)
    table = ToolTable.build(registry.tools, choice, context_for=make_context)
    """

    def __init__(self, tools: Sequence[BoundTool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    @classmethod
    def build(
        cls, owned: Iterable[Owned[ToolSpec]], choice: Choice, *, context_for: ContextFor
    ) -> ToolTable:
        """The tools of these surfaces; imports their models and nothing else.

        Of several that claim one name the first has it (:mod:`localdb_core.host.surfaces`).
        A tool that cannot be offered is reported in the log and left out; one whose start
        flag was not given is left out.
        """
        offered = list(owned)
        for tool in filter(intrudes, offered):
            _left_out(tool.value.name, tool.plugin, "the surface core is closed")
        chosen = [tool for tool in offered if tool.value.surface in choice.names]
        tools: list[BoundTool] = []
        for name, (winner, *losers) in tools_by_name(chosen, prefixed=choice.prefixed).items():
            for loser in losers:
                _left_out(name, loser.plugin, f"plugin {winner.plugin} already offers that name")
            if choice.allows(winner.value.needed_flag):
                tools += _bound(name, winner, choice, context_for)
        return cls(tools)

    def get(self, name: str) -> BoundTool | None:
        """The tool of this name."""
        return self._tools.get(name)

    def serves(self, surface: str) -> bool:
        """Whether any tool of this surface is offered."""
        return any(tool.spec.surface == surface for tool in self)

    def __iter__(self) -> Iterator[BoundTool]:
        return iter(self._tools.values())

    def __contains__(self, name: object) -> bool:
        return name in self._tools


def _bound(
    name: str, owned: Owned[ToolSpec], choice: Choice, context_for: ContextFor
) -> Iterator[BoundTool]:
    if len(name) > MAX_NAME:
        _left_out(name, owned.plugin, f"its name is longer than {MAX_NAME} characters")
        return
    try:
        policy = choice.policy(owned.value.surface)
        yield BoundTool(name, owned, context_for, policy=policy)
    # A plugin's module may raise anything at all; the other tools must still be served.
    except (Exception, SystemExit):
        log.exception("tool %s of plugin %s is left out", name, owned.plugin)


def _left_out(tool: str, plugin: str, why: str) -> None:
    log.error("tool %s of plugin %s is left out: %s", tool, plugin, why)


def _model(target: str, plugin: str) -> type[BaseModel]:
    model = lazy.attribute(target, plugin=plugin)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise TypeError(f"{target} is not a pydantic model")
    return model
