"""The citation: one shape on every surface (spec §1.9, L-DOM-50)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from localdb_core.domain.chunk import Chunk
from localdb_core.domain.resource import Resource


@dataclass(frozen=True, slots=True)
class StoreRef:
    """A store's id and name."""

    id: str
    name: str

    def to_json(self) -> dict[str, str]:
        """``{id, name}``."""
        return {"id": self.id, "name": self.name}


@dataclass(frozen=True, slots=True)
class Score:
    """Fused score and the score of each leg; None when that leg did not return the chunk."""

    fused: float
    dense: float | None = None
    bm25: float | None = None

    def to_json(self) -> dict[str, float | None]:
        """``{bm25, dense, fused}``."""
        return {"bm25": self.bm25, "dense": self.dense, "fused": self.fused}


@dataclass(frozen=True, slots=True)
class Citation:
    """A hit that can be checked: where it stands, in which version, and why it was found."""

    store: StoreRef
    resource: Resource
    chunk: Chunk
    score: Score

    @property
    def headings(self) -> tuple[str, ...]:
        """The heading trail without empty slots, for renderings (S-12)."""
        return tuple(part for part in self.chunk.heading_path if part)

    def to_json(self) -> dict[str, Any]:
        """What every surface shows (L-DOM-50), keys sorted."""
        chunk, resource = self.chunk, self.resource
        block: dict[str, Any] = {"kind": str(chunk.block_kind), "seq": chunk.block_seq}
        if chunk.page is not None:
            block["page"] = chunk.page
        location: dict[str, Any] = {"span": {"end": chunk.span.end, "start": chunk.span.start}}
        if chunk.window_block_seqs:
            location["window_block_seqs"] = list(chunk.window_block_seqs)
        return {
            "block": dict(sorted(block.items())),
            "chunk_id": chunk.id,
            "chunk_position": {"seq_in_block": chunk.seq_in_block},
            "heading_path": list(chunk.heading_path),
            "location": location,
            "metadata": resource.metadata.to_json(),
            "provenance": {
                "content_hash": resource.content_hash,
                "fetched_at": resource.fetched_at,
            },
            "resource_id": resource.id,
            "score": self.score.to_json(),
            "snippet": chunk.text,
            "store": self.store.to_json(),
            "title": resource.metadata.title,
            "uri": resource.uri,
        }
