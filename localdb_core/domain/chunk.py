"""Chunks and spans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from localdb_core.domain.block import BlockKind
from localdb_core.domain.ids import ChunkId, ResourceId


@dataclass(frozen=True, slots=True)
class Span:
    """UTF-8 bytes relative to the parent block's text, half open.

    ``Span(0, 0)`` means "no span": the chunk's text was rebuilt (L-DOM-22).
    """

    start: int
    end: int

    @classmethod
    def of_characters(cls, text: str, start: int, end: int) -> Self:
        """The span of ``text[start:end]``, converted from code points."""
        first = len(text[:start].encode("utf-8", "surrogatepass"))
        return cls(first, first + len(text[start:end].encode("utf-8", "surrogatepass")))


NO_SPAN = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Piece:
    """What a chunker returns: text with its place, before ids are assigned."""

    block_seq: int
    block_kind: BlockKind
    text: str
    span: Span = NO_SPAN
    window_block_seqs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a resource that is embedded, indexed and cited."""

    id: ChunkId
    resource_id: ResourceId
    block_seq: int
    seq_in_block: int
    block_kind: BlockKind
    text: str
    heading_path: tuple[str, ...] = ()
    span: Span = NO_SPAN
    window_block_seqs: tuple[int, ...] = ()
    page: int | None = None
