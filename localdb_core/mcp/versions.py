"""Which versions of the protocol a connection may use. The SDK has no switch for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mcp_types as types


class Versions:
    """The versions of a surface, and what one client has asked for so far.

    versions = Versions(["2026-07-28"])
    if error := versions.refusal(request): ...

    No version at all stands for every one that the SDK speaks.
    """

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self._allowed = tuple(allowed)
        self._shaken = False

    def refusal(self, request: types.JSONRPCRequest) -> dict[str, Any] | None:
        """The JSON-RPC error for a request in another version; None for one to pass on.

        Any: JSON values.
        """
        if not self._allowed or self._allows(request):
            return None
        spoken = " and ".join(self._allowed)
        return {
            "code": types.UNSUPPORTED_PROTOCOL_VERSION,
            "message": f"this server speaks MCP {spoken} only; have the client negotiate it",
            "data": {"supported": list(self._allowed), "requested": _requested(request) or ""},
        }

    def _allows(self, request: types.JSONRPCRequest) -> bool:
        requested = _requested(request)
        if request.method == "initialize":
            self._shaken = requested in self._allowed
            return self._shaken
        # After a handshake requests carry no version of their own.
        return requested in self._allowed or (requested is None and self._shaken)


def _requested(request: types.JSONRPCRequest) -> str | None:
    params = request.params or {}
    if request.method == "initialize":
        version = params.get("protocolVersion")
    else:
        meta = params.get("_meta")
        version = meta.get(types.PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None
    return version if isinstance(version, str) else None
