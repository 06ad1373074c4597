"""``examples/custom_tool``: a plugin's surface, driven over real standard input and output."""

import ast
import json
import os
import sys

import anyio
import pytest
from jsonschema import Draft202012Validator

from localdb_core.testing.client import StdioClient, assert_stdout_is_protocol_only
from tests.examples.conftest import EXAMPLES, load

ALIKE = EXAMPLES / "custom_tool"
TOOLS = ["find_similar", "summarise_store"]

contract = load(ALIKE / "tests" / "test_contract.py", "localdb_alike_contract")

pytestmark = pytest.mark.usefixtures("site")


class TestFindSimilar(contract.TestFindSimilar):
    """The example's own test."""


class TestSummariseStore(contract.TestSummariseStore):
    """The example's own test."""


@pytest.fixture
def command(config, site, monkeypatch):
    """``localdb mcp`` over the library, with this plugin alone."""
    for name, value in {**site.env, "LOCALDB_PLUGINS": "alike"}.items():
        monkeypatch.setenv(name, value)
    return [sys.executable, "-m", "localdb_core.cli.main", "mcp", "--config", str(config)]


def test_it_uses_the_public_api_only():
    allowed = {"localdb_alike", "localdb_core.domain", "localdb_core.plugin", "pydantic"}
    imported = {
        name
        for path in (ALIKE / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        for name in (
            [node.module]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }

    ours = {name for name in imported if name.partition(".")[0] not in sys.stdlib_module_names}
    assert ours <= allowed


def test_alone_its_tools_have_their_own_names_and_work_on_what_a_search_found(command):
    with StdioClient([*command, "--surface", "core", "--surface", "alike"]) as both:
        both.initialize()
        names = [tool["name"] for tool in both.list_tools()]
        listed = both.text("list_documents", store="default")
        assert names[5:] == [f"alike_{tool}" for tool in TOOLS]
        assert "lease.md" in listed
        found = both.text("search", query="renew the lease", limit=1)
    hit = json.loads(found.split("\n\n---\n")[0])["citations"][0]

    with StdioClient([*command, "--surface", "alike"]) as client:
        greeting = client.initialize()
        tools = {tool["name"]: tool for tool in client.list_tools()}
        similar = client.call(
            "find_similar", resource_id=hit["resource_id"], chunk_id=hit["chunk_id"]
        )
        token = {"progressToken": 7}
        request = client.begin(
            "tools/call",
            {"name": "summarise_store", "arguments": {"store": "default"}, "_meta": token},
        )
        summary = client.answer_to(request)["result"]
        told = client.receive()
        wrong = client.call("find_similar", resource_id="x", chunk_id="y", colour="red")
        missing = client.call("find_similar", resource_id="x", chunk_id="y")
    assert_stdout_is_protocol_only(client)

    assert list(tools) == TOOLS
    assert greeting["instructions"].startswith("Call summarise_store")
    for name, result in (("find_similar", similar), ("summarise_store", summary)):
        Draft202012Validator(tools[name]["outputSchema"]).validate(result["structuredContent"])
    uris = {hit["uri"]} | {p["uri"] for p in similar["structuredContent"]["passages"]}
    assert {uri.rpartition("/")[2] for uri in uris} >= {"lease.md", "letter.md"}
    assert "chunk_id" in similar["content"][0]["text"]
    assert summary["structuredContent"]["documents"] == 3
    assert told["method"] == "notifications/progress"
    assert (told["params"]["progressToken"], told["params"]["total"]) == (7, 3)
    assert "unknown field `colour`" in wrong["content"][0]["text"]
    assert "resource_not_found" in missing["content"][0]["text"]


def test_the_python_sdk_lists_calls_and_reads(command):
    from mcp import Client, StdioServerParameters

    parameters = StdioServerParameters(
        command=command[0], args=[*command[1:], "--surface", "alike"], env=dict(os.environ)
    )
    heard = []

    async def hear(done, total, message):
        heard.append((done, total))

    async def main():
        async with Client(parameters) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            templates = (await client.list_resource_templates()).resource_templates
            summary = await client.call_tool(
                "summarise_store", {"store": "default"}, progress_callback=hear
            )
            read = (await client.read_resource("alike://store/default")).contents[0]
            return names, templates, summary, read

    names, templates, summary, read = anyio.run(main)

    assert names == TOOLS
    assert [template.uri_template for template in templates] == ["alike://store/{name}"]
    assert summary.structured_content["passages"] == 3
    assert read.text == summary.content[0].text
    assert heard[-1] == (3.0, 3.0)
