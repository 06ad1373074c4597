"""A surface that answers some versions of the protocol only."""

import mcp_types as types
import pytest

from localdb_core.mcp.versions import Versions

MODERN, OLD = "2026-07-28", "2025-06-18"


def request(method="tools/list", *, version=None, **params):
    if version is not None and method == "initialize":
        params["protocolVersion"] = version
    elif version is not None:
        params["_meta"] = {types.PROTOCOL_VERSION_META_KEY: version}
    return types.JSONRPCRequest(jsonrpc="2.0", id=1, method=method, params=params)


@pytest.mark.parametrize("version", [None, OLD, MODERN, "1999-01-01"])
def test_without_a_rule_everything_passes(version):
    assert Versions().refusal(request(version=version)) is None


@pytest.mark.parametrize(
    "refused",
    [
        request("initialize", version=OLD),
        request("initialize", version=MODERN[:4]),
        request(version=OLD),
        request(),
        request(_meta=5),
        request("initialize", protocolVersion=7),
    ],
)
def test_a_request_in_another_version_is_told_which_there_are(refused):
    error = Versions([MODERN]).refusal(refused)

    assert error["code"] == -32022
    assert error["data"]["supported"] == [MODERN]
    assert MODERN in error["message"]


def test_after_an_accepted_handshake_requests_need_no_version():
    versions = Versions([OLD])

    assert versions.refusal(request()) is not None
    assert versions.refusal(request("initialize", version=OLD)) is None
    assert versions.refusal(request()) is None
    assert versions.refusal(request(version=MODERN)) is not None


@pytest.mark.parametrize("modern", [False, True])
def test_a_modern_server_serves_modern_clients_alone(start, modern):
    client = start(modern=modern, FAKE_PROTOCOLS=MODERN)

    if modern:
        client.initialize()
        assert client.text("extra_wait", seconds=0) == "waited"
    else:
        answer = client.request("initialize", {"protocolVersion": OLD, "capabilities": {}})
        assert (answer["error"]["code"], answer["id"]) == (-32022, 1)
        assert answer["error"]["data"] == {"supported": [MODERN], "requested": OLD}
    assert client.close() == 0
