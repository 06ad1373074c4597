"""The bytes on the wire, with a real process at the other end."""

import json
import signal
import subprocess
import sys

import pytest

from localdb_core.mcp.stdio import Lines, Refused, decode
from localdb_core.testing.client import MODERN, assert_stdout_is_protocol_only

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.req("L-MCP-40")
@pytest.mark.parametrize("modern", [False, True])
def test_a_conversation_and_its_end(start, modern):
    client = start(modern=modern)

    client.initialize()
    answer = client.text("search", query="reciprocal rank fusion")

    assert json.loads(answer.split("\n\n---\n")[0])["total_candidates"] == 3
    assert client.close() == 0
    assert_stdout_is_protocol_only(client)


@pytest.mark.req("L-MCP-03")
@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ],
)
def test_the_version_is_the_one_the_client_asks_for(start, asked, given):
    result = start().initialize(asked)

    assert result["protocolVersion"] == given
    assert result["serverInfo"]["name"] == "localdb"
    assert set(result["capabilities"]) - {"experimental"} == {"tools"}
    assert "notes: 1 documents" in result["instructions"]


@pytest.mark.req("L-MCP-03")
def test_a_modern_client_discovers_the_same_server(start):
    result = start(modern=True).initialize()

    assert MODERN in result["supportedVersions"]
    assert "notes: 1 documents" in result["instructions"]


def test_the_tools_are_listed(running):
    assert len(running.list_tools()) == 14


@pytest.mark.req("L-MCP-01")
def test_the_raw_result_says_that_it_is_no_error(running):
    result = running.call("list_stores")

    assert result["isError"] is False
    assert len(result["content"]) == 1


@pytest.mark.req("L-MCP-32")
def test_an_unknown_tool_is_the_only_error_of_the_protocol(running):
    answer = running.request("tools/call", {"name": "nope", "arguments": {}})

    assert answer["error"] == {"code": -32602, "message": "tool not found"}


@pytest.mark.parametrize("tool", ["extra_crash", "extra_leave"])
def test_a_crash_leaks_nothing_onto_the_wire(running, fakes, tool):
    assert running.call(tool)["isError"] is True
    assert fakes.SECRET not in "".join(running.lines)
    assert running.said(fakes.SECRET)


@pytest.mark.parametrize("method", ["resources/list", "prompts/list", "completion/complete"])
def test_what_is_not_offered_is_not_found(running, method):
    reference = {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}
    answer = running.request(method, reference if method.startswith("completion") else None)

    assert answer["error"]["code"] == -32601


@pytest.mark.req("L-MCP-40")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{nonsense", -32700),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 200_000, -32700),
        (b"[]", -32600),
        (json.dumps([PING]).encode(), -32600),
        (b'"ping"', -32600),
        (b"7", -32600),
        (b"{}", -32600),
        (b'{"jsonrpc": "1.0", "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
    ],
    ids=lambda value: value[:12].decode("ascii", "replace") if isinstance(value, bytes) else None,
)
def test_a_line_that_is_no_message_is_answered_without_an_id(running, line, code):
    running.send_raw(line + b"\n")

    answer = running.receive()
    assert (answer["id"], answer["error"]["code"]) == (None, code)


def test_a_request_that_is_almost_right_is_answered_by_its_id(running):
    running.send({"jsonrpc": "2.0", "id": "seven", "method": 5})

    answer = running.receive()
    assert (answer["id"], answer["error"]["code"]) == ("seven", -32600)


@pytest.mark.parametrize(
    "request_",
    [
        {"jsonrpc": "2.0", "id": "\ud800", "method": "ping"},
        {"jsonrpc": "2.0", "id": 5, "method": "\ud800"},
        {"jsonrpc": "2.0", "id": "\ud800", "method": 5},
    ],
)
def test_half_a_surrogate_pair_is_sent_back_and_ends_nothing(running, request_):
    running.send(request_)

    assert running.receive()["id"] == request_["id"]
    assert running.call("list_stores")["isError"] is False


def test_a_line_that_is_too_long_is_skipped_and_answered_once(running):
    running.send_raw(b"x" * 1_000_000 + b"\n")

    answer = running.receive()
    assert answer["error"] == {"code": -32600, "message": "message longer than 400000 bytes"}
    assert running.call("list_stores")["isError"] is False


@pytest.mark.req("L-MCP-40")
def test_what_a_plugin_prints_never_reaches_the_wire(running):
    assert running.text("extra_shout") == "quiet"

    assert_stdout_is_protocol_only(running)
    for said in ("being built", "printed", "written", "from a child"):
        assert running.said(said)


def test_many_calls_at_once_are_all_answered(running):
    numbers = [
        running.begin("tools/call", {"name": "search", "arguments": {"query": "meeting"}})
        for _ in range(50)
    ]

    assert all(running.answer_to(number)["result"]["isError"] is False for number in numbers)


def test_empty_lines_and_carriage_returns_are_harmless(start):
    client = start()

    client.send_raw(b"\n  \r\n" + json.dumps(PING).encode() + b"\r\n")

    assert client.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_last_line_without_an_end_is_still_read(start):
    client = start()
    client.initialize()

    client.send_raw(json.dumps({**PING, "id": "last"}).encode())

    assert client.close() == 0
    assert json.loads(client.lines[-1])["id"] == "last"


@pytest.mark.req("L-MCP-40")
def test_the_end_of_the_input_waits_for_calls_under_way(start):
    client = start()
    client.initialize()

    client.begin("tools/call", {"name": "extra_wait", "arguments": {"seconds": 1.0}})

    assert client.close() == 0
    assert json.loads(client.lines[-1])["result"]["content"][0]["text"] == "waited"


def test_a_cancelled_call_does_not_hold_the_end_up(start):
    client = start()
    client.initialize()

    number = client.begin("tools/call", {"name": "extra_wait", "arguments": {"seconds": 2.0}})
    client.notify("notifications/cancelled", {"requestId": number})

    assert client.request("ping")["result"] == {}
    assert client.close() == 0


@pytest.mark.req("L-CLI-47")
def test_an_input_that_ends_at_once_is_a_clean_exit(start):
    client = start()

    assert client.close() == 0
    assert client.lines == []


@pytest.mark.req("L-CLI-47")
def test_a_process_without_an_input_exits_cleanly(fakes):
    script = f'exec "{sys.executable}" "{fakes.__file__}" 0<&-'
    done = subprocess.run(["sh", "-c", script], capture_output=True, timeout=60)

    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("ready", [True, False])
def test_a_signal_is_a_clean_exit(start, number, ready):
    client = start()
    client.request("ping")
    if ready:
        client.initialize()

    assert client.terminate(number) == 0
    assert "Traceback" not in client.errors


def test_a_client_that_went_away_ends_the_server(fakes):
    command = [sys.executable, fakes.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.close()
        process.stdin.write(json.dumps(PING).encode() + b"\n")
        process.stdin.flush()

        assert process.wait(60) == 0


class TestLines:
    def test_lines_are_the_same_however_the_bytes_arrive(self):
        data = b"one\n\ntwo\nthree"

        for size in range(1, len(data) + 1):
            lines = Lines()
            parts = [data[at : at + size] for at in range(0, len(data), size)]
            assert [line for part in parts for line in lines.feed(part)] == [b"one", b"", b"two"]
            assert lines.end() == b"three"

    @pytest.mark.parametrize("size", [1, 3, 7, 100])
    def test_a_long_line_is_reported_once_and_the_next_one_is_read(self, size):
        data = b"12345\n123456789012345678\nok\n"
        lines = Lines(limit=5)

        parts = [data[at : at + size] for at in range(0, len(data), size)]
        found = [line for part in parts for line in lines.feed(part)]

        assert [type(line) for line in found] == [bytes, Refused, bytes]
        assert found[2] == b"ok"


@pytest.mark.parametrize("identifier", [True, None, 1.5, [1]])
def test_an_id_that_is_none_is_not_sent_back(identifier):
    refused = decode(json.dumps({"id": identifier, "method": 1}).encode())

    assert refused.id is None


def test_a_cancelled_tool_is_told_and_the_next_call_is_answered(running):
    request = running.begin("tools/call", {"name": "extra_linger", "arguments": {}})
    assert running.said("lingering")
    running.notify("notifications/cancelled", {"requestId": request, "reason": "enough"})

    assert running.said("cancelled")
    assert running.text("extra_wait", seconds=0) == "waited"


def test_a_tool_that_hangs_when_cancelled_does_not_keep_the_process(start):
    client = start()
    client.initialize()
    request = client.begin("tools/call", {"name": "extra_hang", "arguments": {}})
    assert client.said("hanging")
    client.notify("notifications/cancelled", {"requestId": request})

    assert client.text("extra_wait", seconds=0) == "waited"
    assert client.close() == 0
    assert "does not end; it is left behind" in client.errors
