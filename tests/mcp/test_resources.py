"""What agents read by URI."""

import base64
import sys

import pytest
from mcp.shared.exceptions import MCPError

from localdb_core.domain import ResourceNotFound
from localdb_core.host.owned import Owned
from localdb_core.plugin import ResourceSpec, SurfaceSpec, ToolFailure

HERE = sys.modules[__name__]
SECRET = "/home/somebody/diary.txt"


class Days:
    """Reads days; some are broken."""

    def __init__(self, context):
        self.context = context

    def read(self, uri, variables):
        self.context.cancel.check()
        day = variables.get("day", "all")
        match day:
            case "never":
                raise ResourceNotFound("no such day")
            case "full":
                raise ToolFailure("full", "the day is full")
            case "broken":
                raise RuntimeError(SECRET)
            case "nonsense":
                return 5
            case "picture":
                return b"\x89PNG"
        return f"{uri} is {day} \ud83d"


class Blunt:
    """Cannot read."""

    def __init__(self, context):
        pass


def resource(uri, target="Days", *, plugin="acme", name=None, **changes):
    spec = ResourceSpec(
        name=name or uri,
        target=f"{__name__}:{target}",
        surface="diary",
        uri_template=uri,
        **changes,
    )
    return Owned(plugin, f"{plugin}-diary", "1.0", spec)


ONE, MANY = resource("diary://all", title="All days"), resource("diary://day/{day}")


@pytest.fixture(autouse=True)
def importable():
    sys.modules.setdefault(__name__, HERE)


@pytest.fixture
def read(talk, era):
    def run(uri, resources=(MANY, ONE), **offer):
        async def conversation(client):
            try:
                return (await client.read_resource(uri)).contents[0]
            except MCPError as error:
                return error.error

        return talk(conversation, "diary", mode=era, resources=resources, **offer)

    return run


def test_single_ones_and_templates_are_listed_apart(talk, era):
    async def conversation(client):
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        return listed, templates

    listed, templates = talk(conversation, "diary", mode=era, resources=[ONE, MANY])

    assert [(one.uri, one.title) for one in listed] == [("diary://all", "All days")]
    assert [many.uri_template for many in templates] == ["diary://day/{day}"]


def test_the_contract_surface_has_none(talk, era):
    async def conversation(client):
        return client.server_capabilities.resources

    assert talk(conversation, mode=era, resources=[ONE]) is None


def test_text_and_bytes_are_read(read):
    assert read("diary://all").text == "diary://all is all \ufffd"
    assert read("diary://day/a%20b").text.startswith("diary://day/a%20b is a b")
    assert base64.b64decode(read("diary://day/picture").blob) == b"\x89PNG"


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("diary://nowhere", "resource not found"),
        ("file:///etc/passwd", "resource not found"),
        ("diary://day/never", "no such day"),
        ("diary://day/full", "the day is full"),
        ("diary://day/" + "x" * 70_000, "resource not found"),
    ],
)
def test_what_is_not_there_is_an_error_with_its_uri(read, uri, said):
    error = read(uri)

    assert error.code == -32602
    assert said in error.message
    assert error.data == {"uri": uri}


@pytest.mark.parametrize("day", ["broken", "nonsense"])
def test_a_fault_is_told_by_a_number_alone(read, day, caplog):
    error = read(f"diary://day/{day}")

    assert error.code == -32603
    assert SECRET not in error.message
    assert error.message.rpartition("(id ")[2].rstrip(")") in caplog.text


def test_a_large_one_is_refused_where_the_surface_has_a_limit(read):
    diary = Owned("acme", "acme-diary", "1.0", SurfaceSpec(name="diary", result_cap=10))

    assert "more than 10 may be sent" in read("diary://all", described=[diary]).message


def test_of_two_with_one_uri_the_first_answers_and_broken_ones_are_left_out(read, caplog):
    second = resource("diary://all", "Blunt", plugin="zeta")
    unreadable = resource("diary://{+a}{+b}", plugin="yota")

    assert read("diary://all", resources=(ONE, second, unreadable)).text.startswith("diary://all")
    assert "diary://all of plugin zeta is left out: plugin acme already offers it" in caplog.text
    assert "of plugin yota is left out" in caplog.text


def test_a_reader_that_cannot_read_is_a_fault(read):
    assert read("diary://all", resources=(resource("diary://all", "Blunt"),)).code == -32603
