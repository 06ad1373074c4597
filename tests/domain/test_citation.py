"""The citation: exactly these keys, whatever was found."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from localdb_core.domain import Chunk, Citation, Metadata, Resource, Score, Span
from localdb_core.domain.block import BlockKind
from localdb_core.domain.citation import StoreRef
from localdb_core.domain.ids import ChunkId, ResourceId, SourceId, StoreId

RESOURCE = Resource(
    id=ResourceId("r"),
    store_id=StoreId("s"),
    source_id=SourceId("o"),
    uri="file:///notes/lease.md",
    content_hash="h",
    metadata=Metadata(title="Lease"),
    added_at="2026-01-02T03:04:05Z",
)
CHUNK = Chunk(
    id=ChunkId("c"),
    resource_id=RESOURCE.id,
    block_seq=4,
    seq_in_block=1,
    block_kind=BlockKind.TEXT,
    text="The lease ends in June.",
    heading_path=("Rent", "", "End"),
    span=Span(3, 26),
)
CITATION = Citation(StoreRef("s", "notes"), RESOURCE, CHUNK, Score(0.5, dense=0.75))

KEYS = {
    "chunk_id",
    "resource_id",
    "uri",
    "snippet",
    "store",
    "title",
    "heading_path",
    "block",
    "chunk_position",
    "location",
    "score",
    "provenance",
    "metadata",
}


@pytest.mark.req("L-DOM-50")
def test_a_citation_has_these_keys_and_no_others() -> None:
    value = json.loads(json.dumps(CITATION.to_json()))

    assert set(value) == KEYS
    assert value["store"] == {"id": "s", "name": "notes"}
    assert value["block"] == {"kind": "text", "seq": 4}
    assert value["chunk_position"] == {"seq_in_block": 1}
    assert value["location"] == {"span": {"start": 3, "end": 26}}
    assert value["score"] == {"fused": 0.5, "dense": 0.75, "bm25": None}
    assert value["provenance"] == {"fetched_at": "2026-01-02T03:04:05Z", "content_hash": "h"}
    assert value["metadata"] == Metadata(title="Lease").to_json()
    assert (value["snippet"], value["heading_path"]) == (CHUNK.text, ["Rent", "", "End"])
    assert (value["uri"], value["title"]) == (RESOURCE.uri, "Lease")


@pytest.mark.req("L-DOM-50", "L-DOM-23")
def test_page_and_window_are_there_only_when_there_is_one() -> None:
    chunk = replace(CHUNK, page=7, window_block_seqs=(4, 5), block_kind=BlockKind.MESSAGE)

    value = replace(CITATION, chunk=chunk, score=Score(0.5)).to_json()

    assert set(value) == KEYS
    assert value["block"] == {"kind": "message", "page": 7, "seq": 4}
    assert value["location"] == {
        "span": {"start": 3, "end": 26},
        "window_block_seqs": [4, 5],
    }
    assert value["score"] == {"fused": 0.5, "dense": None, "bm25": None}


@pytest.mark.req("L-DOM-31", "L-DOM-50")
def test_a_citation_without_a_title_says_null() -> None:
    untitled = replace(RESOURCE, metadata=Metadata(), title=None)

    value = replace(CITATION, resource=untitled).to_json()

    assert value["title"] is None
    assert value["metadata"]["title"] is None
