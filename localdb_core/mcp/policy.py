"""How a surface speaks: its schemas, its errors, its results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from localdb_core.mcp.schema import Nullable
from localdb_core.plugin import ToolResult

CORE: Final = "core"


@dataclass(frozen=True, slots=True)
class SurfacePolicy:
    """The rules of one surface.

    Attributes:
        nullable: how a nullable field is printed (M-7).
        bad_arguments: ``tool`` answers a malformed call with a tool result that says
            what is wrong, ``protocol`` with JSON-RPC error -32602 (M-5).
        structured: whether a result's data is sent beside its text (M-6).
    """

    nullable: Nullable = "any_of"
    bad_arguments: Literal["tool", "protocol"] = "tool"
    structured: bool = True

    def refuse(self, error: ValidationError) -> types.CallToolResult:
        """The answer to arguments that do not fit.

        Raises:
            MCPError: where the surface answers at the level of the protocol.
        """
        message = f"failed to deserialize parameters: {wording(error)}"
        if self.bad_arguments == "protocol":
            raise MCPError(code=types.INVALID_PARAMS, message=message)
        return text_result(message, is_error=True)

    def answer(self, result: ToolResult) -> types.CallToolResult:
        """What a tool found."""
        return text_result(result.text, data=result.data if self.structured else None)


CONTRACT: Final = SurfacePolicy(nullable="array", structured=False)
OPEN: Final = SurfacePolicy()


def policy_of(surface: str) -> SurfacePolicy:
    """The policy of a surface; only the contract's five tools have one of their own."""
    return CONTRACT if surface == CORE else OPEN


def failure(code: str, message: str) -> types.CallToolResult:
    """A business error: the contract's body in a tool result."""
    body = {"error": {"code": code, "message": message}}
    return text_result(
        json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False), is_error=True
    )


def text_result(
    text: str,
    *,
    is_error: bool = False,
    data: Mapping[str, Any] | None = None,  # Any: JSON values
) -> types.CallToolResult:
    """One text item; ``isError`` is always said."""
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=printable(text))]
    if data is None:
        return types.CallToolResult(content=content, is_error=is_error)
    return types.CallToolResult(content=content, is_error=is_error, structured_content=dict(data))


def printable(text: str) -> str:
    """Text that survives UTF-8: half of a surrogate pair, as damaged files have, becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def wording(error: ValidationError) -> str:
    """What is wrong with the arguments, without quoting what was sent."""
    return "; ".join(_problem(part) for part in error.errors(include_url=False))


def _problem(part: Mapping[str, Any]) -> str:  # Any: pydantic's description of one error
    where = ".".join(str(step) for step in part["loc"])
    if part["type"] == "missing":
        return f"missing field `{where}`"
    message = str(part["msg"])
    said = message[:1].lower() + message[1:]
    return f"field `{where}`: {said}" if where else said
