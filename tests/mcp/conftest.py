"""Fixtures: an application in memory, its tools, and the contract to compare with."""

import importlib.util
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client

from localdb_core.host.registry import Registry
from localdb_core.mcp.resources import ResourceTable
from localdb_core.mcp.server import build_server, instructions_for
from localdb_core.mcp.surfaces import Choice
from localdb_core.mcp.table import ToolTable
from localdb_core.plugin import ToolContext
from localdb_core.testing.client import StdioClient

HERE = Path(__file__).parent
FAKE_SERVER = HERE / "fake_server.py"


def _load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # the tool table imports targets by this name
    spec.loader.exec_module(module)
    return module


_fakes = _load("localdb_fake_server", FAKE_SERVER)


def served(library, surfaces=(), *, owned=None, described=(), resources=(), flags=()):
    """The tools and resources of these surfaces, and the choice of them."""
    registry = Registry(
        tools=tuple(_fakes.core_tools() + _fakes.extra_tools() if owned is None else owned),
        surfaces=tuple(described),
        resources=tuple(resources),
    )
    choice = Choice.of(surfaces, registry, flags=flags)

    def context_for(plugin):
        return ToolContext(plugin, app=library.app())

    table = ToolTable.build(registry.tools, choice, context_for=context_for)
    found = ResourceTable.build(registry.resources, choice, context_for=context_for)
    return table, found, choice


@pytest.fixture(scope="session")
def fakes():
    """The module with the fake application."""
    return _fakes


@pytest.fixture
def library():
    """The library of the contract's examples; a test may add to it."""
    return _fakes.contract_library()


@pytest.fixture
def table_of(library):
    """Makes a tool table over the library."""

    def make(*surfaces, owned=None, **offer):
        return served(library, surfaces, owned=owned, **offer)[0]

    return make


@pytest.fixture
def run_tool(table_of):
    """Calls a tool directly; gives its text, or raises what the tool raises."""

    def run(tool, /, **arguments):
        bound = table_of().get(tool)
        return bound.run(bound.parse(arguments)).text

    return run


@pytest.fixture
def run_json(run_tool):
    """The same, with the text read as JSON."""

    def run(tool, /, **arguments):
        return json.loads(run_tool(tool, **arguments).split("\n\n---\n")[0])

    return run


@pytest.fixture
def talk(library):
    """Runs a conversation with an SDK client, in memory."""

    def run(conversation, *surfaces, mode="legacy", **offer):
        table, resources, choice = served(library, surfaces, **offer)
        instructions = instructions_for(library.app(), table, choice.instructions)
        server = build_server(table, resources, instructions=instructions)

        async def main():
            async with Client(server, mode=mode) as client:
                return await conversation(client)

        return anyio.run(main)

    return run


@pytest.fixture(params=["legacy", "auto"])
def era(request):
    """Both ways a client may open a connection."""
    return request.param


@contextmanager
def _starter():
    started = []

    def run(*, modern=False, **env):
        client = StdioClient([sys.executable, str(FAKE_SERVER)], modern=modern, env=env)
        started.append(client)
        return client

    yield run
    for client in started:
        client.kill()


@pytest.fixture
def start():
    """Starts the fake server as a process."""
    with _starter() as run:
        yield run


@pytest.fixture(scope="module", params=[False, True], ids=["handshake", "modern"])
def running(request):
    """A server that is up and has been greeted, in both eras; for tests that leave it so."""
    with _starter() as run:
        client = run(modern=request.param, FAKE_LIMIT="400000")
        client.initialize()
        yield client


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """Environment of a user with the stores default (empty), notes and books.

    Everything hangs on HOME: MCP clients start servers with little else.
    """
    folder = tmp_path_factory.mktemp("home")
    documents = {
        "notes/lease.md": "# Lease\n\nThe lease ends in June. Renew the lease by letter.\n",
        "notes/meeting.txt": "Meeting: decided to adopt reciprocal rank fusion.\n",
        "books/sea.txt": "The sea is everything. It covers seven tenths of the globe.\n",
    }
    for name, text in documents.items():
        path = folder / "documents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    places = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "LOCALDB_CONFIG")
    environment = {"HOME": str(folder)} | {name: "" for name in places if name in os.environ}
    for store in ("notes", "books"):
        for words in (["store", "add", store], ["add", "-s", store, f"{folder}/documents/{store}"]):
            subprocess.run(
                [sys.executable, "-m", "localdb_core.cli.main", *words],
                env=os.environ | environment,
                check=True,
                capture_output=True,
            )
    return environment


@pytest.fixture(scope="session")
def contract():
    """The text of the wire contract."""
    root = Path(__file__).resolve().parents[2]
    folder = Path(os.environ.get("LOCALDB_SHARED", root.parent / "shared"))
    path = folder / "seeds" / "localdb-mcp.txt"
    if not path.is_file():
        pytest.skip("the wire contract is not here; set LOCALDB_SHARED to the folder that has it")
    return path.read_text(encoding="utf-8")
