"""The MCP server: one object that speaks every protocol version of the SDK."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from localdb_core.domain import InternalError, LocaldbError, Store
from localdb_core.domain.uri import printable
from localdb_core.mcp.calls import Calls, Report
from localdb_core.mcp.policy import FAULT, failure
from localdb_core.mcp.resources import ResourceTable
from localdb_core.mcp.surfaces import CORE
from localdb_core.mcp.table import BadArguments, BoundTool, ToolTable
from localdb_core.plugin import AppContext, ToolFailure
from localdb_core.version import __version__

NAME: Final = "localdb"
MAX_INSTRUCTIONS: Final = 2048
"""Hosts cut longer instructions without telling anybody."""

_LISTED_STORES: Final = 20
_TABLE_IS_FIXED: Final = CacheHint(ttl_ms=300_000, scope="private")

_GUIDE: Final = (
    "localdb searches the user's own indexed documents and never changes them. Call search "
    "first, in natural language; read around a hit with get_chunks (its resource_id, and its "
    "chunk_id as anchor_chunk_id) or whole with get_document; cite the uri."
)

log = logging.getLogger(__name__)

Context = ServerRequestContext[Any]  # Any: this server keeps no lifespan state


def build_server(
    table: ToolTable, resources: ResourceTable | None = None, *, instructions: str = ""
) -> Server[Any]:
    """A server that offers the tools of the table, the resources, and nothing else.

    Capabilities follow from the handlers given: tools, resources if there are any, no
    prompts.
    """
    calls = Calls()

    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await calls.drain()

    async def list_tools(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.wire for tool in table])

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = table.get(params.name)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message="tool not found")
        answer = partial(tool.answer, params.arguments)
        return await _guarded(tool, partial(calls.run, tool.name, answer, _report(context)))

    def schema_of(name: str) -> dict[str, Any] | None:  # Any: JSON schema
        tool = table.get(name)
        return tool.input_schema if tool is not None else None

    return Server(
        NAME,
        version=__version__,
        instructions=instructions[:MAX_INSTRUCTIONS] or None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=schema_of,
        cache_hints={"tools/list": _TABLE_IS_FIXED},
        lifespan=lifespan,
        **(_resource_handlers(resources, calls) if resources else {}),
    )


def _resource_handlers(resources: ResourceTable, calls: Calls) -> dict[str, Any]:
    """The handlers of the SDK's server by their names; Any: their types differ."""

    async def list_resources(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=resources.listed())

    async def list_templates(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.templates())

    async def read(
        context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        found, variables = resources.find(uri)
        name = found.spec.name
        try:
            return await calls.run(name, partial(found.read, uri, variables), _report(context))
        except MCPError:
            raise
        # As for tools: the text of an unexpected exception must not reach the client.
        except Exception as error:  # noqa: BLE001 - the outermost handler of a read
            shown = InternalError(FAULT)
            log.error("resource %s failed (id %s)", name, shown.correlation_id, exc_info=error)
            raise MCPError(code=types.INTERNAL_ERROR, message=shown.bare) from None

    return {
        "on_list_resources": list_resources,
        "on_list_resource_templates": list_templates,
        "on_read_resource": read,
    }


def _report(context: Context) -> Report:
    async def report(done: float, total: float | None) -> None:
        await context.session.report_progress(done, total)

    return report


async def _guarded(
    tool: BoundTool, answer: Callable[[], Awaitable[types.CallToolResult]]
) -> types.CallToolResult:
    """The answer, or what the surface says to what went wrong instead."""
    try:
        return await _answered(answer)
    except BadArguments as bad:
        return tool.policy.refuse(bad.error)
    # Nothing may escape: the SDK sends the text of an unexpected exception to the client.
    except Exception as error:  # noqa: BLE001 - the outermost handler of a call
        return tool.policy.fault(tool.name, error)


async def _answered(answer: Callable[[], Awaitable[types.CallToolResult]]) -> types.CallToolResult:
    try:
        return await answer()
    except ToolFailure as error:
        return failure(error.code, error.message)
    except LocaldbError as error:
        # A fault of ours or of a plugin: its text may hold anything.
        if error.code == InternalError.code:
            raise
        return failure(error.code, error.bare)


def instructions_for(app: AppContext, table: ToolTable, surfaces: Sequence[str] = ()) -> str:
    """What a host tells its model: how to begin, and which stores there are now.

    ``surfaces`` holds the words of other surfaces' descriptions. The important sentence
    comes first. Stores that cannot be read are left out: a server that does not start looks
    broken, one without a list only less helpful.
    """
    parts = [*([_GUIDE] if table.serves(CORE) else []), *surfaces]
    try:
        parts += _stores(app)
    except LocaldbError as error:
        log.warning("instructions without a list of stores: %s", error)
    text = parts[0] if parts else ""
    for part in parts[1:]:
        if len(text) + len(part) + 1 > MAX_INSTRUCTIONS:
            break
        text = f"{text}\n{part}"
    return text[:MAX_INSTRUCTIONS]


def _stores(app: AppContext) -> list[str]:
    stores = app.stores.list()
    if not stores:
        return ["There are no stores yet: nothing is indexed."]
    lines = ["Stores:", *(_line(app, store) for store in stores[:_LISTED_STORES])]
    if len(stores) > _LISTED_STORES:
        lines.insert(1, f"- {len(stores)} in all, list_stores shows every one; the first are:")
    return lines


def _line(app: AppContext, store: Store) -> str:
    stats = app.stores.stats(store)
    name = printable(store.name)
    return f"- {name}: {stats.document_count} documents, {stats.chunk_count} chunks"
