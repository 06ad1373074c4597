"""``localdb mcp`` as it is installed, over real stores."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from localdb_core.testing.client import StdioClient, assert_stdout_is_protocol_only

LOCALDB = [sys.executable, "-m", "localdb_core.cli.main"]
MCP = [*LOCALDB, "mcp"]


@pytest.fixture
def serve(home):
    """Starts ``localdb mcp`` over the stores ``default``, ``notes`` and ``books``."""
    clients = []

    def run(*arguments, python=(), modern=False, env=home):
        command = [sys.executable, *python, *MCP[1:], *arguments]
        client = StdioClient(command, env=env, modern=modern)
        clients.append(client)
        return client

    yield run
    for client in clients:
        client.kill()


def names(client):
    return [store["name"] for store in json.loads(client.text("list_stores"))["stores"]]


def leave(home, *arguments):
    """Run it with an empty input; the finished process."""
    return subprocess.run(
        [*MCP, *arguments],
        env=os.environ | home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.req("L-MCP-40", "L-CLI-24")
@pytest.mark.parametrize("modern", [False, True])
def test_an_agent_finds_a_passage_and_reads_around_it(serve, modern):
    client = serve(modern=modern)
    greeting = client.initialize()

    found = json.loads(client.text("search", query="renew the lease").split("\n\n---\n")[0])
    hit = found["citations"][0]
    whole = json.loads(client.text("get_document", id=hit["resource_id"]))
    chunks = json.loads(
        client.text("get_chunks", resource_id=hit["resource_id"], anchor_chunk_id=hit["chunk_id"])
    )

    assert "- notes: 2 documents" in greeting["instructions"]
    assert hit["uri"].endswith("/lease.md")
    assert hit["snippet"] in whole["text"]
    assert chunks["chunks"][chunks["anchor_index"]]["chunk_id"] == hit["chunk_id"]
    assert client.close() == 0
    assert_stdout_is_protocol_only(client)


@pytest.mark.req("L-MCP-45")
def test_only_the_stores_asked_for_can_be_reached(serve):
    client = serve("--store", "books")
    greeting = client.initialize()

    assert names(client) == ["books"]
    assert "notes" not in greeting["instructions"]
    outside = client.call("search", query="lease", stores=["notes"])
    assert json.loads(outside["content"][0]["text"])["error"]["code"] == "store_not_found"
    assert "lease.md" not in client.text("search", query="lease")


@pytest.mark.req("L-MCP-45")
def test_an_empty_database_is_served(serve, home, tmp_path):
    empty = home | {"HOME": str(tmp_path)}
    for arguments in (["init"], ["store", "remove", "default", "--yes"]):
        subprocess.run([*LOCALDB, *arguments], env=os.environ | empty, capture_output=True)
    client = serve(env=empty)
    client.initialize()

    assert names(client) == []
    assert json.loads(client.text("search", query="x")) == {"citations": [], "total_candidates": 0}
    assert client.close() == 0


@pytest.mark.req("L-MCP-46")
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--store", "nowhere"], 3, "store not found: nowhere"),
        (["--store", "notes", "--store", "nowhere"], 3, "store not found: nowhere"),
        (["--store", "a/b"], 2, "must not contain"),
        (["--surface", "nowhere"], 2, "no surface named 'nowhere'"),
        (["--nonsense"], 2, "no such option: --nonsense; flags of core: --allow-write"),
        (["nonsense"], 2, "unexpected argument: nonsense"),
    ],
)
def test_a_wrong_start_fails_before_anything_is_served(home, arguments, status, said):
    done = leave(home, *arguments)

    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr


@pytest.mark.req("L-MCP-47", "L-CLI-24")
def test_allow_write_warns_and_changes_nothing(serve):
    plain, writing = serve(), serve("--allow-write")
    for client in (plain, writing):
        client.initialize()
        client.list_tools()
        assert client.close() == 0

    assert plain.lines[1] == writing.lines[1]
    assert "--allow-write has no effect" in writing.errors
    assert "--allow-write" not in plain.errors


@pytest.mark.req("L-CLI-47")
def test_an_empty_input_is_a_clean_exit(home):
    done = leave(home)

    assert (done.returncode, done.stdout) == (0, "")


def test_a_signal_is_a_clean_exit_even_after_a_search(serve):
    client = serve()
    client.initialize()
    client.text("search", query="lease")

    assert client.terminate(signal.SIGTERM) == 0
    assert "Traceback" not in client.errors


@pytest.mark.req("L-MCP-44")
def test_nothing_heavy_is_imported_before_the_first_search(serve):
    client = serve(python=("-X", "importtime"))
    client.initialize()
    client.list_tools()
    client.text("list_stores")
    resource = json.loads(client.text("list_documents", store="notes"))["documents"][0]["id"]
    client.text("get_document", id=resource)
    client.close()

    imported = {line.rpartition("|")[2].strip() for line in client.errors.splitlines()}
    packages = {re.split(r"\W", name)[0] for name in imported if name}
    assert "mcp" in packages
    heavy = {"chromadb", "onnxruntime", "tokenizers", "whoosh", "pypdfium2", "ebooklib", "docx"}
    assert not packages & heavy
