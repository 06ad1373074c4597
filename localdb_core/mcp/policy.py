"""How a surface speaks: its schemas, its errors, its results."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from localdb_core.domain import InternalError, InvalidRequest
from localdb_core.mcp.schema import Nullable
from localdb_core.plugin import CORE_SURFACE, SurfaceSpec, ToolResult

FAULT: Final = "internal error, see the log"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SurfacePolicy:
    """The rules of one surface.

    Attributes:
        nullable: how a nullable field is printed (M-7).
        argument_errors: ``tool`` answers a malformed call, and a fault of ours, with a tool
            result that says what is wrong, ``protocol`` with a JSON-RPC error (M-5).
        structured: whether a result's data is sent beside its text (M-6).
        closed: whether arguments that a tool does not know are refused.
        result_cap: bytes of the largest answer, as JSON; None is no limit.
    """

    nullable: Nullable = "any_of"
    argument_errors: Literal["tool", "protocol"] = "tool"
    structured: bool = True
    closed: bool = True
    result_cap: int | None = None

    def refuse(self, error: ValidationError) -> types.CallToolResult:
        """The answer to arguments that do not fit.

        Raises:
            MCPError: where the surface answers at the level of the protocol.
        """
        message = f"failed to deserialize parameters: {wording(error)}"
        if self.argument_errors == "protocol":
            raise MCPError(code=types.INVALID_PARAMS, message=message)
        return text_result(message, is_error=True)

    def fault(self, tool: str, error: BaseException) -> types.CallToolResult:
        """The answer when a tool broke: a number that the log has too, and not one word more.

        Raises:
            MCPError: where the surface answers at the level of the protocol.
        """
        shown = InternalError(FAULT)
        log.error("tool %s failed (id %s)", tool, shown.correlation_id, exc_info=error)
        if self.argument_errors == "protocol":
            raise MCPError(
                code=types.INTERNAL_ERROR, message=FAULT, data={"id": shown.correlation_id}
            )
        return failure(shown.code, shown.bare)

    def answer(self, result: ToolResult, model: type[BaseModel] | None) -> types.CallToolResult:
        """What a tool found, held against the model of its data.

        Raises:
            InvalidRequest: it is larger than this surface sends.
            ValueError, TypeError, RecursionError: it cannot be sent.
        """
        data = _sent(result.data, model) if self.structured else None
        text = result.text
        if data is not None and not text:
            text = json.dumps(data, indent=2, ensure_ascii=False)
        answer = text_result(text, data=data)
        if self.structured:
            self._check_size(answer)
        return answer

    def _check_size(self, answer: types.CallToolResult) -> None:
        # As the SDK will write it: what cannot be written must fail here, in its own call.
        sent = types.JSONRPCResponse(
            jsonrpc="2.0", id=0, result=answer.model_dump(mode="json", by_alias=True)
        )
        size = len(sent.model_dump_json(by_alias=True).encode())
        if self.result_cap is not None and size > self.result_cap:
            raise InvalidRequest(
                f"the answer has {size} bytes, more than the {self.result_cap} that may be sent;"
                " ask for less"
            )


CONTRACT: Final = SurfacePolicy(nullable="array", structured=False, closed=False)
OPEN: Final = SurfacePolicy()


def policy_of(surface: str, spec: SurfaceSpec | None = None) -> SurfacePolicy:
    """The policy of a surface; only the contract's five tools have one of their own."""
    if surface == CORE_SURFACE:
        return CONTRACT
    if spec is None:
        return OPEN
    return SurfacePolicy(argument_errors=spec.argument_errors, result_cap=spec.result_cap)


def _sent(data: object, model: type[BaseModel] | None) -> dict[str, Any] | None:
    """A tool's data as JSON values; Any: JSON values."""
    if model is not None:
        if data is None:
            raise TypeError("a tool that names a result model gave no data")
        if not isinstance(data, model):
            data = model.model_validate(data, strict=False, extra="forbid")
    if isinstance(data, BaseModel):
        data = data.model_dump(mode="json", by_alias=True)
    if data is None:
        return None
    written = json.dumps(data, allow_nan=False, ensure_ascii=False)
    sent = json.loads(printable(written))
    if not isinstance(sent, dict):
        raise TypeError(f"a tool's data is a {type(data).__name__}, not an object")
    return sent


def failure(code: str, message: str) -> types.CallToolResult:
    """A business error: the contract's body in a tool result."""
    body = {"error": {"code": str(code), "message": str(message)}}
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
    if part["type"] == "extra_forbidden":
        return f"unknown field `{where}`"
    message = str(part["msg"])
    said = message[:1].lower() + message[1:]
    return f"field `{where}`: {said}" if where else said
