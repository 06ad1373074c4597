"""The server as an SDK client sees it, in memory and in both eras."""

import json
import logging

import pytest
from mcp.shared.exceptions import MCPError

from localdb_core.domain import StorageUnavailable
from localdb_core.domain.store import Store
from localdb_core.mcp.server import MAX_INSTRUCTIONS, instructions_for
from localdb_core.mcp.table import MAX_DESCRIPTION
from localdb_core.version import __version__


def call(talk, tool, arguments=None, *, era, surfaces=("all",)):
    async def conversation(client):
        return await client.call_tool(tool, arguments)

    return talk(conversation, *surfaces, mode=era)


def error_of(result):
    assert result.is_error
    return json.loads(result.content[0].text)["error"]


@pytest.mark.req("L-MCP-03")
def test_the_server_names_itself_and_offers_tools_only(talk, era):
    async def conversation(client):
        return client.server_info, client.server_capabilities

    info, capabilities = talk(conversation, mode=era)

    assert (info.name, info.version) == ("localdb", __version__)
    offered = capabilities.model_dump(by_alias=True, exclude_none=True)
    assert {name for name, value in offered.items() if value} == {"tools"}


@pytest.mark.req("L-MCP-04")
def test_exactly_five_tools_are_listed_always_in_the_same_order(talk, era):
    async def conversation(client):
        first, second = await client.list_tools(), await client.list_tools()
        return first.tools, second.tools

    first, second = talk(conversation, mode=era)

    names = ["search", "get_document", "get_chunks", "list_stores", "list_documents"]
    assert [tool.name for tool in first] == [tool.name for tool in second] == names


def test_every_tool_says_what_it_is_for_and_that_it_only_reads(talk, era):
    async def conversation(client):
        return (await client.list_tools()).tools

    for tool in talk(conversation, mode=era):
        assert tool.title
        assert 100 < len(tool.description) <= MAX_DESCRIPTION
        hints = tool.annotations
        assert (hints.read_only_hint, hints.destructive_hint) == (True, False)
        assert (hints.idempotent_hint, hints.open_world_hint) == (True, False)


@pytest.mark.req("L-MCP-01")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "meeting"}),
        (
            "get_document",
            {"id": "5e16a53946004c13b941685cddaed55d9267965abe65462bbe75d8e6184f15e7"},
        ),
        ("list_stores", None),
        ("list_documents", {"store": "notes"}),
    ],
)
def test_a_result_is_one_text_and_nothing_else(talk, era, tool, arguments):
    result = call(talk, tool, arguments, era=era, surfaces=("core",))

    assert [block.type for block in result.content] == ["text"]
    assert result.is_error is False
    assert result.structured_content is None


@pytest.mark.req("L-MCP-30")
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (None, "missing field `query`"),
        ({"query": 5}, "field `query`: input should be a valid string"),
        ({"query": "a", "limit": "5"}, "field `limit`: input should be a valid integer"),
        ({"query": "a", "limit": True}, "field `limit`: input should be a valid integer"),
        ({"query": "a", "limit": 2**63}, "field `limit`: number does not fit in 64 bits"),
        ({"query": "a", "stores": "notes"}, "field `stores`: input should be a valid list"),
        ({"query": "a", "stores": [1]}, "field `stores.0`: input should be a valid string"),
    ],
)
def test_arguments_that_do_not_fit_are_answered_in_plain_text(talk, era, arguments, text):
    result = call(talk, "search", arguments, era=era)

    assert result.is_error
    assert result.content[0].text == f"failed to deserialize parameters: {text}"


def test_arguments_nobody_knows_are_ignored(talk, era):
    result = call(talk, "search", {"query": "meeting", "colour": "red"}, era=era)

    assert not result.is_error


@pytest.mark.req("L-MCP-31")
def test_a_business_error_has_the_shape_of_the_contract(talk, era):
    result = call(talk, "list_documents", {"store": "x"}, era=era)

    assert result.is_error
    assert result.content[0].text == (
        "{\n"
        '  "error": {\n'
        '    "code": "store_not_found",\n'
        '    "message": "no store named \'x\'"\n'
        "  }\n"
        "}"
    )


def test_a_tool_may_word_its_own_failure(talk, era):
    result = call(talk, "extra_complain", era=era)

    assert error_of(result) == {"code": "shelf_full", "message": "the shelf is full"}


@pytest.mark.req("L-MCP-32")
def test_an_unknown_tool_is_an_error_of_the_protocol(talk, era):
    async def conversation(client):
        with pytest.raises(MCPError) as caught:
            await client.call_tool("delete_everything", {})
        return caught.value.error

    error = talk(conversation, mode=era)

    assert (error.code, error.message) == (-32602, "tool not found")


@pytest.mark.parametrize("tool", ["extra_crash", "extra_leave"])
def test_no_text_of_an_unexpected_exception_reaches_the_client(talk, era, tool, fakes, caplog):
    with caplog.at_level(logging.ERROR):
        result = call(talk, tool, era=era)

    error = error_of(result)
    assert error["code"] == "internal"
    assert fakes.SECRET not in result.model_dump_json()
    # The person at the machine finds it by its number.
    number = error["message"].rpartition("(id ")[2].rstrip(")")
    assert number in caplog.text
    assert fakes.SECRET in caplog.text


def test_an_internal_error_of_the_application_is_hidden_as_well(talk, era, fakes, monkeypatch):
    def fail(self):
        from localdb_core.domain.errors import PluginError

        raise PluginError("acme", stage="build", reason=f"cannot open {fakes.SECRET}")

    monkeypatch.setattr(fakes.Stores, "list", fail)

    assert fakes.SECRET not in call(talk, "list_stores", era=era).model_dump_json()


def test_half_a_surrogate_pair_does_not_break_the_result(talk, era, library, fakes):
    library.texts[fakes.MEETING.id] = "broken \ud83d text"

    result = call(talk, "get_document", {"id": fakes.MEETING.id}, era=era)

    assert "broken \ufffd text" in result.content[0].text


def test_calls_run_side_by_side(talk, era):
    async def conversation(client):
        import anyio

        results = []

        async def meet():
            results.append(await client.call_tool("extra_meet"))

        async with anyio.create_task_group() as group:
            group.start_soon(meet)
            group.start_soon(meet)
        return results

    results = talk(conversation, "all", mode=era)

    assert [result.content[0].text for result in results] == ["met", "met"]


def test_other_surfaces_send_their_data_beside_the_text(talk, era):
    result = call(talk, "extra_wait", {"seconds": 0}, era=era)

    assert result.content[0].text == "waited"
    assert result.structured_content == {"seconds": 0.0}


class TestInstructions:
    def test_the_client_receives_the_guide_and_the_stores_of_now(self, talk, era, library):
        library.add_store(Store(id="01BOOKS0000000000000000000", name="books"))

        async def conversation(client):
            return client.instructions

        text = talk(conversation, mode=era)

        assert text.splitlines()[0].startswith("localdb searches the user's own")
        assert "- notes: 1 documents, 1 chunks" in text
        assert "- books: 0 documents, 0 chunks" in text

    def test_hosts_never_have_to_cut_them(self, library, table_of):
        for number in range(200):
            library.add_store(Store(id=f"{number:026}", name=f"store {number} " + "x" * 300))

        text = instructions_for(library.app(), table_of())

        assert len(text) <= MAX_INSTRUCTIONS
        assert "201 in all" in text

    def test_an_empty_database_is_said(self, library, table_of):
        library.stores.clear()

        assert "nothing is indexed" in instructions_for(library.app(), table_of())

    def test_a_broken_database_does_not_stop_the_server(
        self, library, table_of, fakes, monkeypatch, caplog
    ):
        def fail(self):
            raise StorageUnavailable("the disk is full")

        monkeypatch.setattr(fakes.Stores, "list", fail)

        assert instructions_for(library.app(), table_of()).startswith("localdb searches")
        assert "the disk is full" in caplog.text
