"""The same question on the command line and over MCP."""

import json

import anyio
import pytest
from mcp import Client

from localdb_core.app import LocalDB
from localdb_core.host.selection import PluginSelection
from localdb_core.mcp.resources import ResourceTable
from localdb_core.mcp.server import build_server, instructions_for
from localdb_core.mcp.surfaces import Choice
from localdb_core.mcp.table import ToolTable

NO_PLUGINS = "--no-plugins"


def over_mcp(query):
    """What the tool ``search`` answers a real client of the SDK."""
    with LocalDB.open(selection=PluginSelection(no_plugins=True)) as app:
        services = app.services()

        def context_for(plugin):
            return app.tool_context(plugin, services)

        choice = Choice.of((), app.registry)
        table = ToolTable.build(app.registry.tools, choice, context_for=context_for)
        resources = ResourceTable.build(app.registry.resources, choice, context_for=context_for)
        instructions = instructions_for(services, table, choice.instructions)
        server = build_server(table, resources, instructions=instructions)

        async def ask():
            async with Client(server, mode="legacy") as client:
                return await client.call_tool("search", {"query": query, "limit": 3})

        return anyio.run(ask).content[0].text


@pytest.mark.req("L-INV-01")
def test_a_citation_is_the_same_object_on_the_command_line_and_over_mcp(here):
    (here.home / "notes").mkdir()
    (here.home / "notes/lease.md").write_text(
        "---\ntitle: Läse\nauthor: [A. Heron]\ndate: 2024-05-01\ntags: [flat]\n---\n"
        "# Flat\n\n## Lease\n\nThe lease ends in *May*. Renew it.\n\n"
        "| a | b |\n|---|---|\n| lease | 2 |\n"
    )
    (here.home / "notes/code.py").write_text("def lease():\n    return 'ends'\n")
    assert here("add", "notes", NO_PLUGINS).status == 0

    shown = here("search", NO_PLUGINS, "--json", "--limit", "3", "lease ends").json["citations"]
    sent, _ = json.JSONDecoder().raw_decode(over_mcp("lease ends"))

    assert len(shown) >= 2
    assert sent["citations"] == shown
