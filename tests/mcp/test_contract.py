"""Results and schemas, compared with the contract's own examples."""

import json
from dataclasses import replace

import pytest


@pytest.fixture
def examples(contract):
    """The texts of the contract's example results, in order."""
    lines = (line.strip() for line in contract.splitlines())
    found = [json.loads(f"{{{line}}}")["text"] for line in lines if line.startswith('"text": "{')]
    return dict(
        zip(
            ("search", "get_document", "get_chunks", "anchored", "list_stores", "list_documents"),
            found,
            strict=True,
        )
    )


@pytest.fixture
def schemas(contract):
    """The printed input schemas by tool."""
    found, position = [], 0
    while (position := contract.find('{\n  "$schema"', position)) >= 0:
        value, position = json.JSONDecoder().raw_decode(contract, position)
        found.append(value)
    tools = ("search", "get_document", "get_chunks", "list_documents")
    printed = dict(zip(tools, found, strict=True))
    assert '{"properties": {}, "type": "object"}' in contract
    return printed | {"list_stores": {"properties": {}, "type": "object"}}


@pytest.mark.req("L-MCP-02")
@pytest.mark.req("L-MCP-11")
@pytest.mark.req("L-MCP-12")
def test_search_answers_with_the_bytes_of_the_contract(examples, run_tool):
    answer = run_tool("search", query="reciprocal rank fusion", limit=1)

    assert answer == examples["search"]


@pytest.mark.req("L-MCP-02")
@pytest.mark.req("L-MCP-15")
def test_get_document_answers_with_the_bytes_of_the_contract(examples, run_tool, fakes):
    assert run_tool("get_document", id=fakes.MEETING.id) == examples["get_document"]


@pytest.mark.req("L-MCP-02")
@pytest.mark.req("L-MCP-16")
def test_get_chunks_answers_with_the_bytes_of_the_contract(examples, run_tool, fakes):
    answer = run_tool("get_chunks", resource_id=fakes.MEETING.id, offset=0, limit=50)

    assert answer == examples["get_chunks"]


@pytest.mark.req("L-MCP-19")
def test_an_anchored_window_is_the_one_of_the_contract(examples, run_json, library, fakes):
    resource, chunks = fakes.long_document(20)
    library.add(resource, chunks)

    answer = run_json("get_chunks", resource_id=resource.id, anchor_chunk_id="chunk-10", limit=5)

    shown = json.loads(examples["anchored"])
    for key in ("anchor_index", "limit", "offset", "returned", "total_chunks"):
        assert answer[key] == shown[key]
    assert answer.keys() == shown.keys()
    assert [c["block_seq"] for c in answer["chunks"]] == [c["block_seq"] for c in shown["chunks"]]
    assert answer["chunks"][0].keys() == shown["chunks"][0].keys()


@pytest.mark.req("L-MCP-02")
@pytest.mark.req("L-MCP-20")
def test_list_stores_answers_with_the_bytes_of_the_contract(examples, run_tool, library, fakes):
    _, chunks = fakes.long_document(1)
    for name in ("one", "two"):
        library.add(replace(fakes.MEETING, id=name), chunks)

    assert run_tool("list_stores") == examples["list_stores"]


@pytest.mark.req("L-MCP-02")
@pytest.mark.req("L-MCP-21")
def test_list_documents_answers_with_the_bytes_of_the_contract(examples, run_tool):
    answer = run_tool("list_documents", store="notes")

    # The example leaves most of the metadata out.
    start, end = '      "metadata": {', "\n    }\n  ]\n}"
    assert answer.split(start)[0] == examples["list_documents"].split(start)[0]
    assert answer.endswith("}" + end)
    assert examples["list_documents"].endswith("}" + end)


@pytest.mark.req("L-MCP-04")
def test_the_five_schemas_are_the_printed_ones(schemas, talk, era):
    async def conversation(client):
        return (await client.list_tools()).tools

    tools = talk(conversation, mode=era)

    assert {tool.name: tool.input_schema for tool in tools} == schemas


@pytest.mark.req("L-MCP-15")
def test_the_refusal_of_a_uri_is_the_sentence_of_the_contract(contract, run_tool):
    with pytest.raises(Exception, match="not supported") as caught:
        run_tool("get_document", uri="file:///x")

    assert f'"{caught.value.bare}"' in contract


@pytest.mark.req("L-MCP-14")
@pytest.mark.req("L-MCP-30")
def test_error_texts_are_the_ones_of_the_contract(contract, talk, era):
    async def conversation(client):
        missing = await client.call_tool("search", {})
        unknown = await client.call_tool("search", {"query": "a", "stores": ["x"]})
        return missing.content[0].text, json.loads(unknown.content[0].text)

    missing, unknown = talk(conversation, mode=era)

    assert json.dumps(missing) in contract
    assert json.dumps(unknown) in contract
