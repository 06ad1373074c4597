"""Which tools are offered, and under which names."""

import pytest
from pydantic import BaseModel

from localdb_core.domain import InternalError, InvalidRequest
from localdb_core.mcp.policy import SurfacePolicy, wording
from localdb_core.mcp.schema import input_schema

CORE = ["search", "get_document", "get_chunks", "list_stores", "list_documents"]


def names(table):
    return [tool.name for tool in table]


def test_the_core_surface_is_the_five_tools(table_of):
    assert names(table_of()) == CORE


def test_another_surface_alone_keeps_its_own_names(table_of):
    assert names(table_of("extra"))[:2] == ["wait", "meet"]


@pytest.mark.parametrize("surfaces", [("all",), ("core", "extra"), ("extra", "core")])
def test_several_surfaces_put_theirs_before_every_name_but_those_of_core(table_of, surfaces):
    offered = names(table_of(*surfaces))

    assert offered[:5] == CORE
    assert offered[5:7] == ["extra_wait", "extra_meet"]


def test_an_unknown_surface_is_refused_with_those_there_are(table_of):
    with pytest.raises(
        InvalidRequest, match="no surface named 'vault'; there are: core, extra, all"
    ):
        table_of("vault")


def test_of_two_tools_with_one_name_the_first_stays_and_the_log_says_so(table_of, fakes, caplog):
    twice = [fakes.extra("wait", fakes.Complain), fakes.extra("wait", fakes.Crash)]

    table = table_of("extra", owned=twice)

    assert table.get("wait").spec.target.endswith(":Complain")
    assert names(table) == ["wait"]
    assert "tool wait of plugin acme is left out" in caplog.text


@pytest.mark.parametrize("arguments", [int, BaseException])
def test_a_tool_whose_arguments_are_no_model_is_left_out(table_of, fakes, caplog, arguments):
    fakes.int = int
    fakes.BaseException = BaseException
    broken = fakes.extra("broken", fakes.Crash, arguments=arguments)

    table = table_of("extra", owned=[broken, *fakes.extra_tools()])

    assert "broken" not in table
    assert "wait" in table
    assert "tool broken of plugin acme is left out" in caplog.text


def test_a_tool_is_built_once_and_only_when_it_is_called(table_of, fakes, monkeypatch):
    built = []
    monkeypatch.setattr(
        fakes.Complain, "__init__", lambda self, context: built.append(context.plugin)
    )
    tool = table_of("extra").get("complain")
    assert built == []

    for _ in range(2):
        with pytest.raises(Exception, match="shelf"):
            tool.run(tool.parse(None))

    assert built == ["acme"]


def test_an_answer_that_is_no_result_is_a_fault_of_the_plugin(table_of, fakes, monkeypatch):
    monkeypatch.setattr(fakes.Complain, "run", lambda self, arguments: "text")
    tool = table_of("extra").get("complain")

    with pytest.raises(InternalError, match="gave no ToolResult"):
        tool.run(tool.parse(None))


def test_other_surfaces_print_nullable_fields_without_type_arrays(table_of):
    field = table_of("extra").get("wait").input_schema["properties"]["word"]

    assert field == {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}


def test_a_nullable_field_that_is_no_plain_type_keeps_any_of():
    class Inner(BaseModel):
        size: int

    class Outer(BaseModel):
        inner: Inner | None = None

    schema = input_schema(Outer, "array")

    assert schema["properties"]["inner"]["anyOf"][1] == {"type": "null"}
    assert next(iter(schema)) == "$schema"


def test_a_strict_surface_answers_bad_arguments_as_an_error_of_the_protocol():
    from mcp.shared.exceptions import MCPError
    from pydantic import ValidationError

    class Model(BaseModel):
        query: str
        stores: str

    with pytest.raises(ValidationError) as caught:
        Model.model_validate({})

    assert wording(caught.value) == "missing field `query`; missing field `stores`"
    with pytest.raises(MCPError) as refused:
        SurfacePolicy(argument_errors="protocol").refuse(caught.value)
    assert refused.value.error.code == -32602
