"""Surfaces of plugins: their rules, their flags, and what a tool can do wrong."""

import json
import math
import sys
from dataclasses import dataclass

import pytest
from jsonschema import Draft202012Validator
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ConfigDict, Field

from localdb_core.domain import InvalidRequest, StoreNotFound
from localdb_core.host.owned import Owned
from localdb_core.host.registry import Registry
from localdb_core.mcp.surfaces import Choice
from localdb_core.plugin import SurfaceFlag, SurfaceSpec, ToolFailure, ToolResult, ToolSpec

HERE = sys.modules[__name__]
SECRET = "/home/somebody/diary.txt"


class Place(BaseModel):
    """Where."""

    model_config = ConfigDict(extra="allow")

    shelf: int


class Ask(BaseModel):
    """A question, and how much."""

    word: str
    limit: int | None = Field(None, description="how many, 1 to 9", ge=1, le=9)
    place: Place | None = None
    labels: dict[str, str] = {}


class Found(BaseModel):
    """What was found."""

    word: str
    score: float = 1.0
    places: list[Place] = []


class Explodes(BaseModel):
    """Arguments that cannot even be checked."""

    word: str = ""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)

    @classmethod
    def model_validate(cls, *args, **kwargs):
        raise RuntimeError(SECRET)


@dataclass
class Answering:
    """Answers what ``answer`` holds, or raises it."""

    answer: object = None

    def __call__(self, context):
        return self

    def run(self, arguments):
        answer = self.answer(arguments) if callable(self.answer) else self.answer
        if isinstance(answer, BaseException):
            raise answer
        return answer


@pytest.fixture
def tool(monkeypatch):
    """Makes a tool of the surface ``shelf`` that gives (or raises) this."""

    def make(answer=None, *, plugin="acme", distribution="acme-shelf", name="look", **changes):
        place = f"made_{plugin}_{name}_{changes.get('surface', 'shelf')}".replace("-", "_")
        monkeypatch.setattr(HERE, place, Answering(answer), raising=False)
        fields = {
            "surface": "shelf",
            "title": name,
            "description": f"{name} at a shelf",
            "arguments": f"{__name__}:Ask",
        }
        spec = ToolSpec(name=name, target=f"{__name__}:{place}", **(fields | changes))
        return Owned(plugin, distribution, "1.0", spec)

    return make


@pytest.fixture(autouse=True)
def forgotten_targets():
    """The host remembers what a target names; these change with every test."""
    from localdb_core.host import lazy

    sys.modules.setdefault(__name__, HERE)
    lazy._found.cache_clear()
    yield
    lazy._found.cache_clear()


def surface(plugin="acme", distribution="acme-shelf", **rules):
    rules = {"name": "shelf"} | rules
    return Owned(plugin, distribution, "1.0", SurfaceSpec(**rules))


@pytest.fixture
def ask(talk, era):
    """Calls one tool of the surface ``shelf``; its result."""

    def run(owned, arguments=None, *, name="look", rules=None, flags=()):
        async def conversation(client):
            given = {"word": "sea"} if arguments is None else arguments
            try:
                return await client.call_tool(name, given)
            except MCPError as error:
                return error.error

        described = [] if rules is None else [surface(**rules)]
        return talk(
            conversation, "shelf", mode=era, owned=[owned], described=described, flags=flags
        )

    return run


def error_of(result):
    assert result.is_error
    return json.loads(result.content[0].text)["error"]


def names(table):
    return [tool.name for tool in table]


FOUND = f"{__name__}:Found"


class TestSchemas:
    def test_input_schemas_are_closed_all_the_way_down(self, table_of, tool):
        schema = table_of("shelf", owned=[tool()]).get("look").input_schema

        assert schema["additionalProperties"] is False
        assert schema["$defs"]["Place"]["additionalProperties"] is False
        assert schema["properties"]["labels"]["additionalProperties"] == {"type": "string"}
        Draft202012Validator.check_schema(schema)

    def test_a_tool_without_arguments_says_so(self, table_of, tool, fakes):
        bare = tool(arguments="localdb_fake_server:NoArguments")

        schema = table_of("shelf", owned=[bare]).get("look").input_schema

        assert (schema["properties"], schema["additionalProperties"]) == ({}, False)

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ({"word": "sea", "colour": "red"}, "unknown field `colour`"),
            ({"word": "sea", "place": {"shelf": 1, "row": 2}}, "unknown field `place.row`"),
            ({"word": "sea", "limit": 10}, "field `limit`: input should be less than"),
            ({}, "missing field `word`"),
        ],
    )
    def test_what_a_tool_does_not_name_is_refused(self, ask, tool, arguments, said):
        result = ask(tool(ToolResult("never")), arguments)

        assert result.is_error
        assert said in result.content[0].text

    def test_the_output_schema_is_closed_and_the_data_fits_it(self, talk, tool, era):
        found = tool(ToolResult("found", {"word": "sea", "places": [{"shelf": 3}]}), result=FOUND)

        async def conversation(client):
            listed = (await client.list_tools()).tools[0]
            return listed.output_schema, await client.call_tool("look", {"word": "sea"})

        schema, result = talk(conversation, "shelf", mode=era, owned=[found])

        assert schema["additionalProperties"] is False
        Draft202012Validator(schema).validate(result.structured_content)
        assert result.structured_content == {"word": "sea", "score": 1.0, "places": [{"shelf": 3}]}

    def test_data_may_be_the_model_itself_and_text_may_be_left_to_it(self, ask, tool):
        result = ask(tool(ToolResult("", Found(word="sea")), result=FOUND))

        assert json.loads(result.content[0].text) == result.structured_content
        assert result.structured_content["word"] == "sea"

    @pytest.mark.req("L-MCP-02")
    def test_the_contract_surface_sends_no_data_and_no_output_schema(self, table_of):
        for listed in table_of("all"):
            if listed.spec.surface == "core":
                assert listed.output_schema is None
                assert "additionalProperties" not in listed.input_schema


LOOP: list[object] = []
LOOP.append(LOOP)


class Mute:
    """Cannot be written."""

    def __str__(self):
        raise RuntimeError(SECRET)


NONSENSE = {
    "nothing": None,
    "a text": "found",
    "text that is none": ToolResult(5),
    "no data": ToolResult("found"),
    "other data": ToolResult("found", {"colour": "red"}),
    "data that is no object": ToolResult("found", [1]),
    "not a number": ToolResult("found", Found(word="sea", score=math.nan)),
    "raises": RuntimeError(SECRET),
    "raises an error of the protocol": MCPError(code=1, message=SECRET),
    "fails without words": ToolFailure("odd", Mute()),
    "leaves": SystemExit(SECRET),
    "interrupts": KeyboardInterrupt(SECRET),
}


class TestFaults:
    @pytest.mark.parametrize("wrong", NONSENSE.values(), ids=NONSENSE.keys())
    @pytest.mark.parametrize("level", ["tool", "protocol"])
    def test_a_fault_costs_only_its_call_by_the_policy_of_the_surface(
        self, talk, tool, wrong, level, caplog
    ):
        broken = tool(wrong, result=FOUND)
        fine = tool(ToolResult("fine"), name="fine")

        async def conversation(client):
            try:
                answer = (await client.call_tool("look", {"word": "sea"})).model_dump_json()
            except MCPError as error:
                answer = f"{error.error.code} {error.error.message}"
            return answer, await client.call_tool("fine", {"word": "sea"})

        described = [surface(argument_errors=level)]
        answer, after = talk(conversation, "shelf", owned=[broken, fine], described=described)

        assert after.content[0].text == "fine"
        assert "internal error, see the log" in answer
        assert answer.startswith("-32603") is (level == "protocol")
        assert SECRET not in answer
        assert "tool look failed" in caplog.text

    @pytest.mark.parametrize(
        "data",
        [{"a": LOOP}, {"a": object()}, {"a": math.inf}, {"a": {1, 2}}],
        ids=["a loop", "an object", "infinity", "a set"],
    )
    def test_free_data_that_cannot_be_written_is_a_fault(self, ask, tool, data):
        assert error_of(ask(tool(ToolResult("found", data))))["code"] == "internal"

    def test_data_nested_too_deep_for_the_wire_is_a_fault(self, ask, tool):
        deep = {}
        for _ in range(400):
            deep = {"a": deep}

        assert error_of(ask(tool(ToolResult("found", deep))))["code"] == "internal"

    def test_half_a_character_in_the_data_is_replaced(self, ask, tool):
        result = ask(tool(ToolResult("found", {"word": "a\ud83d"}), result=FOUND))

        assert result.structured_content["word"] == "a\ufffd"

    def test_arguments_that_break_while_they_are_checked_are_a_fault(self, ask, tool):
        broken = tool(ToolResult("never"), arguments=f"{__name__}:Explodes")

        assert error_of(ask(broken))["code"] == "internal"

    @pytest.mark.parametrize("level", ["tool", "protocol"])
    def test_what_the_caller_did_wrong_is_a_result_on_every_surface(self, ask, tool, level):
        result = ask(tool(StoreNotFound("attic")), rules={"argument_errors": level})

        assert error_of(result) == {"code": "store_not_found", "message": "attic"}

    def test_a_strict_surface_refuses_bad_arguments_as_an_error_of_the_protocol(self, ask, tool):
        wrong = {"word": "sea", "colour": "red"}

        error = ask(tool(ToolResult("never")), wrong, rules={"argument_errors": "protocol"})

        assert error.code == -32602
        assert error.message == "failed to deserialize parameters: unknown field `colour`"

    def test_an_answer_larger_than_the_surface_allows_asks_for_less(self, ask, tool):
        def repeat(arguments):
            return ToolResult("x" * arguments.limit * 1000)

        rules = {"result_cap": 2000}

        error = error_of(ask(tool(repeat), {"word": "x", "limit": 3}, rules=rules))

        assert error["code"] == "invalid_request"
        assert "more than the 2000 that may be sent" in error["message"]
        assert not ask(tool(repeat), {"word": "x", "limit": 1}, rules=rules).is_error

    def test_an_async_tool_is_refused_without_a_warning(self, ask, tool):
        async def later(arguments):
            return ToolResult("later")

        assert error_of(ask(tool(later)))["code"] == "internal"


class TestFlags:
    @pytest.fixture
    def mixed(self, tool):
        return [
            tool(name="read"),
            tool(name="write", effects="write"),
            tool(name="burn", effects="destructive", flag="allow-fire"),
            tool(name="peek", flag="allow-peeking"),
        ]

    @pytest.mark.parametrize(
        ("flags", "offered"),
        [
            ((), ["read"]),
            (("allow-write",), ["read", "write"]),
            (("allow-fire", "allow-peeking"), ["read", "burn", "peek"]),
        ],
    )
    def test_tools_appear_with_their_start_flag_only(self, table_of, mixed, flags, offered):
        fire = [surface(flags=(SurfaceFlag("allow-fire"), SurfaceFlag("allow-peeking")))]

        table = table_of("shelf", owned=mixed, described=fire, flags=flags)

        assert names(table) == offered

    def test_a_flag_that_no_chosen_surface_has_is_refused_with_those_there_are(self, mixed):
        registry = Registry(tools=tuple(mixed), surfaces=(surface(flags=(SurfaceFlag("hot"),)),))

        with pytest.raises(InvalidRequest, match="no such option: --cold.*--allow-write, --hot"):
            Choice.of(["shelf"], registry, flags=["cold"])
        with pytest.raises(InvalidRequest, match="no such option: --hot; flags of core"):
            Choice.of([], registry, flags=["hot"])

    def test_hints_follow_from_the_description(self, table_of, tool):
        burn = tool(name="burn", effects="destructive", idempotent=False, open_world=True)

        hints = table_of("shelf", owned=[burn], flags=["allow-write"]).get("burn").wire.annotations

        assert (hints.read_only_hint, hints.destructive_hint) == (False, True)
        assert (hints.idempotent_hint, hints.open_world_hint) == (False, True)


class TestNames:
    @pytest.mark.req("L-MCP-04")
    def test_no_plugin_adds_to_the_contracts_surface(self, table_of, tool, fakes, caplog):
        sixth = tool(name="sixth", surface="core")
        second = tool(name="search", surface="core")

        table = table_of(owned=[*fakes.core_tools(), sixth, second])

        assert len(names(table)) == 5
        assert table.get("search").plugin == "builtin"
        assert "tool sixth of plugin acme is left out: the surface core is closed" in caplog.text

    def test_the_first_plugin_by_name_has_a_contested_name_whatever_its_tool_is_worth(
        self, table_of, tool, caplog
    ):
        broken = tool(arguments="nowhere:Model")
        later = tool(plugin="zeta", distribution="zeta-shelf")

        table = table_of("shelf", owned=[broken, later])

        assert names(table) == []  # nothing falls back to another component
        assert "tool look of plugin zeta is left out" in caplog.text

    def test_of_two_descriptions_of_a_surface_the_first_rules(self, tool):
        registry = Registry(
            tools=(tool(),),
            surfaces=(surface(result_cap=1), surface("zeta", "zeta-shelf", result_cap=2)),
        )

        assert Choice.of(["shelf"], registry).policy("shelf").result_cap == 1

    def test_names_that_meet_when_surfaces_are_put_in_front_are_settled_too(self, table_of, tool):
        one = tool(name="b_c", surface="a")
        two = tool(name="c", surface="a_b", plugin="zeta")

        assert names(table_of("a", "a_b", owned=[one, two])) == ["a_b_c"]
        assert names(table_of("a_b", owned=[one, two])) == ["c"]

    def test_a_name_that_gets_too_long_in_company_is_left_out(self, table_of, tool, caplog):
        long = tool(name="x" * 60)

        assert names(table_of("shelf", owned=[long])) == ["x" * 60]
        assert names(table_of("core", "shelf", owned=[long])) == []
        assert "longer than 64" in caplog.text

    def test_a_surface_may_be_described_and_empty(self, table_of):
        assert names(table_of("shelf", described=[surface()])) == []


def test_instructions_are_those_of_the_surface(talk, tool):
    async def conversation(client):
        return client.instructions

    described = [surface(instructions="Look at the shelf first.")]
    alone = talk(conversation, "shelf", owned=[tool()], described=described)

    assert alone.splitlines()[0] == "Look at the shelf first."
    assert "Call search" not in alone
