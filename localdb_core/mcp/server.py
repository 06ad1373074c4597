"""The MCP server: one object that speaks every protocol version of the SDK."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any, Final

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from localdb_core.domain import InternalError, LocaldbError, Store
from localdb_core.domain.uri import printable
from localdb_core.mcp.policy import failure
from localdb_core.mcp.table import BoundTool, ToolTable
from localdb_core.plugin import AppContext, ToolFailure
from localdb_core.version import __version__

NAME: Final = "localdb"
MAX_INSTRUCTIONS: Final = 2048
"""Hosts cut longer instructions without telling anybody."""

PARALLEL_CALLS: Final = 8
_LISTED_STORES: Final = 20
_TABLE_IS_FIXED: Final = CacheHint(ttl_ms=300_000, scope="private")

_GUIDE: Final = (
    "localdb searches the user's own indexed documents and never changes them. Call search "
    "first, in natural language; read around a hit with get_chunks (its resource_id, and its "
    "chunk_id as anchor_chunk_id) or whole with get_document; cite the uri."
)

log = logging.getLogger(__name__)

Context = ServerRequestContext[Any]  # Any: this server keeps no lifespan state


def build_server(table: ToolTable, *, instructions: str = "") -> Server[Any]:
    """A server that offers the tools of the table and nothing else.

    Capabilities follow from the handlers given: tools, no resources, no prompts.
    """
    limiter = anyio.CapacityLimiter(PARALLEL_CALLS)

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
        return await _call(tool, params.arguments, limiter)

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
    )


async def _call(
    tool: BoundTool,
    arguments: dict[str, Any] | None,  # Any: JSON values
    limiter: anyio.CapacityLimiter,
) -> types.CallToolResult:
    try:
        parsed = tool.parse(arguments)
    except ValidationError as error:
        return tool.policy.refuse(error)
    try:
        result = await anyio.to_thread.run_sync(
            partial(tool.run, parsed), limiter=limiter, abandon_on_cancel=True
        )
        return tool.policy.answer(result)
    except ToolFailure as error:
        return failure(error.code, error.message)
    except LocaldbError as error:
        # A fault of ours or of a plugin: its text may hold anything, see below.
        if error.code == InternalError.code:
            return _unexpected(tool, error)
        return failure(error.code, error.bare)
    # Nothing may escape: the SDK sends the text of an unexpected exception to the client.
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the outermost handler of a call
        return _unexpected(tool, error)


def _unexpected(tool: BoundTool, error: BaseException) -> types.CallToolResult:
    shown = InternalError("internal error, see the log")
    log.error("tool %s failed (id %s)", tool.name, shown.correlation_id, exc_info=error)
    return failure(shown.code, shown.bare)


def instructions_for(app: AppContext, table: ToolTable) -> str:
    """What a host tells its model: how to begin, and which stores there are now.

    The important sentence comes first. Stores that cannot be read are left out: a
    server that does not start looks broken, one without a list only less helpful.
    """
    parts = [_GUIDE] if "search" in table else []
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
