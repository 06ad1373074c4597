"""A server that runs sees what somebody adds meanwhile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from localdb_core.mcp.resources import ResourceTable
from localdb_core.mcp.server import build_server, instructions_for
from localdb_core.mcp.surfaces import Choice
from localdb_core.mcp.table import ToolTable
from localdb_core.plugin import ToolContext
from localdb_core.testing.app import make_app


@pytest.mark.req("L-MCP-43")
def test_a_store_that_is_added_and_filled_after_the_start_is_listed_and_searched(
    tmp_path: Path,
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "lease.md").write_text("The lease ends in June.\n")
    app = make_app(tmp_path / "home")
    services = app.services(None)  # what ``localdb mcp`` without --store is given
    registry = app.registry

    def context_for(plugin: str) -> ToolContext:
        return app.tool_context(plugin, services)

    choice = Choice.of((), registry)
    table = ToolTable.build(registry.tools, choice, context_for=context_for)
    resources = ResourceTable.build(registry.resources, choice, context_for=context_for)
    instructions = instructions_for(services, table, choice.instructions)
    server = build_server(table, resources, instructions=instructions)

    def add() -> None:
        with make_app(tmp_path / "home") as other:  # as another process would
            later = other.stores.add("later")
            other.sources.add(later, str(tmp_path / "notes"))
            other.index([later])

    async def ask(client: Client, tool: str, **arguments: Any) -> Any:
        result = await client.call_tool(tool, arguments)
        return json.loads(result.content[0].text.split("\n\n---\n")[0])

    async def conversation() -> tuple[Any, ...]:
        async with Client(server) as client:
            before = await ask(client, "list_stores")
            nothing = await ask(client, "search", query="lease")
            await anyio.to_thread.run_sync(add)
            after = await ask(client, "list_stores")
            found = await ask(client, "search", query="lease")
            named = await ask(client, "list_documents", store="later")
            return before, nothing, after, found, named

    before, nothing, after, found, named = anyio.run(conversation)
    app.close()

    assert [store["name"] for store in before["stores"]] == ["default"]
    assert nothing["citations"] == []
    assert [store["name"] for store in after["stores"]] == ["default", "later"]
    assert [hit["store"]["name"] for hit in found["citations"]] == ["later"]
    assert len(named["documents"]) == 1
