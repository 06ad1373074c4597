"""Argument models of the built-in tools.

Names, descriptions and bounds are the wire contract's; agents and tests compare
them literally. Bounds stand in the printed schema only: a number outside is
answered with ``invalid_request`` by the tool, not as a malformed call (M-9).
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

_MAX_INT64: Final = 2**63 - 1


def _fits(value: int) -> int:
    if -_MAX_INT64 - 1 <= value <= _MAX_INT64:
        return value
    raise PydanticCustomError("int64", "number does not fit in 64 bits")


Int64 = Annotated[int, AfterValidator(_fits)]

_STORE: Final = (
    "Store id or name to restrict the lookup to (e.g. the store.id or store.name from a search "
    "result's citation). Defaults to scanning all available stores and returning the first match."
)


class Arguments(BaseModel):
    """Nothing is coerced, and what a tool does not know is ignored."""

    model_config = ConfigDict(strict=True, extra="ignore")


class SearchArguments(Arguments):
    """What ``search`` takes."""

    content_length: Int64 | None = Field(
        None,
        description="Soft cap on snippet text chars per result in the text rendering; snaps to "
        "the nearest paragraph/sentence/word boundary rather than cutting mid-word (default: "
        "400). The JSON citation payload always carries the full snippet.",
        json_schema_extra={"minimum": 1},
    )
    limit: Int64 | None = Field(
        None,
        description="Maximum number of results to return (default: 10, max: 100)",
        json_schema_extra={"minimum": 1, "maximum": 100},
    )
    query: str = Field(description="Natural language search query")
    stores: list[str] | None = Field(
        None, description="Optional list of store names to search. Defaults to all stores."
    )


class GetDocumentArguments(Arguments):
    """What ``get_document`` takes."""

    id: str = Field("", description="Document ID (content-addressed blake3 hash)")
    store: str | None = Field(None, description=_STORE)
    uri: str | None = Field(None, description="Document URI (e.g. file:///path/to/doc or URL)")


class GetChunksArguments(Arguments):
    """What ``get_chunks`` takes."""

    anchor_block_seq: Int64 | None = Field(
        None,
        description="Resolve via lower-bound to the first chunk with block_seq >= "
        "anchor_block_seq (tie-broken by lowest seq_in_block), then return a window of `limit` "
        "chunks centered on it. Mutually exclusive with `offset` and `anchor_chunk_id`.",
        json_schema_extra={"format": "uint32", "minimum": 0},
    )
    anchor_chunk_id: str | None = Field(
        None,
        description="Resolve to the chunk with this exact chunk_id, then return a window of "
        "`limit` chunks centered on it. Mutually exclusive with `offset` and `anchor_block_seq`.",
    )
    limit: Int64 | None = Field(
        None,
        description="Maximum number of chunks to return (default: 50, max: 200)",
        json_schema_extra={"minimum": 1, "maximum": 200},
    )
    offset: Int64 | None = Field(
        None,
        description="Number of chunks to skip before the first returned chunk (default: 0)",
        json_schema_extra={"minimum": 0},
    )
    resource_id: str = Field(description="Resource ID (content-addressed blake3 hash)")
    store: str | None = Field(None, description=_STORE)


class ListStoresArguments(Arguments):
    """``list_stores`` takes nothing."""


class ListDocumentsArguments(Arguments):
    """What ``list_documents`` takes."""

    store: str = Field(description="Store id or name to list documents from")
    source: str | None = Field(None, description="Optional source id to restrict the listing to")
    offset: Int64 | None = Field(
        None,
        description="Number of documents to skip before the first returned document (default: 0)",
        json_schema_extra={"minimum": 0},
    )
    limit: Int64 | None = Field(
        None,
        description="Maximum number of documents to return (default: 50, max: 200)",
        json_schema_extra={"minimum": 1, "maximum": 200},
    )
