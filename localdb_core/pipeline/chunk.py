"""Blocks to chunks: who cuts what, heading paths, final ids (spec §5.2, §5.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from localdb_core.domain import Block, BlockKind, Chunk, InternalError, Piece
from localdb_core.domain.ids import ResourceId, chunk_id
from localdb_core.plugin import Chunker, ChunkerSpec, Sizing

OwnedChunker = tuple[ChunkerSpec, Chunker]


def chunk_document(
    blocks: Sequence[Block],
    *,
    resource_id: ResourceId,
    chunkers: Sequence[OwnedChunker],
    preset: str,
    sizing: Sizing,
    front_matter_read: bool = False,
) -> list[Chunk]:
    """The chunks of one document in storage order, ids final.

    The first chunker whose claim fits a block gets it. What is cut for the whole
    document at once (messages) comes first. Raises InternalError for a block that
    nobody claims (L-CHK-13).
    """
    wanted = list(_wanted(blocks, front_matter_read=front_matter_read))
    by_seq = {block.seq: block for block in blocks}
    paths = heading_paths(blocks)
    chunks: list[Chunk] = []
    for piece, seq_in_block in _numbered(wanted, chunkers, preset, sizing):
        block = by_seq.get(piece.block_seq)
        if block is None:
            raise InternalError(f"a chunker made a chunk of block {piece.block_seq}, unknown")
        chunks.append(
            Chunk(
                id=chunk_id(
                    resource_id,
                    block_seq=piece.block_seq,
                    text=piece.text,
                    seq_in_block=seq_in_block,
                ),
                resource_id=resource_id,
                block_seq=piece.block_seq,
                seq_in_block=seq_in_block,
                block_kind=piece.block_kind,
                text=piece.text,
                heading_path=paths[piece.block_seq],
                span=piece.span,
                window_block_seqs=piece.window_block_seqs,
                page=block.page,
            )
        )
    return chunks


def heading_paths(blocks: Iterable[Block]) -> dict[int, tuple[str, ...]]:
    """The heading trail of every block by its seq, one slot per level (L-CHK-20)."""
    slots: list[str] = []
    paths: dict[int, tuple[str, ...]] = {}
    current: tuple[str, ...] = ()
    for block in blocks:
        if block.kind is not BlockKind.HEADING:
            paths[block.seq] = current
            continue
        above = slots[: block.level - 1]
        paths[block.seq] = _without_empty_end(above)
        slots = above + [""] * (block.level - 1 - len(above)) + [block.text]
        current = tuple(slots)
    return paths


def _without_empty_end(slots: Sequence[str]) -> tuple[str, ...]:
    kept = list(slots)
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def _wanted(blocks: Sequence[Block], *, front_matter_read: bool) -> Iterator[Block]:
    """Blocks that may become chunks: headings only where there is nothing else (S-2)."""
    rest = [
        block
        for block in blocks
        if block.kind is not BlockKind.HEADING
        and not (block.kind is BlockKind.FRONTMATTER and front_matter_read)
        and block.text.strip()
    ]
    if rest:
        yield from rest
    else:
        yield from (block for block in blocks if block.kind is BlockKind.HEADING)


def _numbered(
    blocks: Sequence[Block], chunkers: Sequence[OwnedChunker], preset: str, sizing: Sizing
) -> Iterator[tuple[Piece, int]]:
    """Pieces with their ``seq_in_block``: per block, or per document for scope document."""
    claims = {kind: _claimant(chunkers, kind, preset) for kind in {b.kind for b in blocks}}
    whole: dict[int, list[Block]] = {}
    for block in blocks:
        place = claims[block.kind]
        if chunkers[place][0].scope == "document":
            whole.setdefault(place, []).append(block)
    for place, claimed in sorted(whole.items()):
        for index, piece in enumerate(chunkers[place][1].cut(claimed, sizing)):
            yield piece, index
    yield from _block_by_block(blocks, chunkers, claims, sizing)


def _block_by_block(
    blocks: Sequence[Block],
    chunkers: Sequence[OwnedChunker],
    claims: Mapping[BlockKind, int],
    sizing: Sizing,
) -> Iterator[tuple[Piece, int]]:
    seen: Counter[int] = Counter()
    for block in blocks:
        spec, chunker = chunkers[claims[block.kind]]
        if spec.scope == "document":
            continue
        for piece in chunker.cut([block], sizing):
            yield piece, seen[piece.block_seq]
            seen[piece.block_seq] += 1


def _claimant(chunkers: Sequence[OwnedChunker], kind: BlockKind, preset: str) -> int:
    for place, (spec, _) in enumerate(chunkers):
        if kind in spec.claims and (not spec.presets or preset in spec.presets):
            return place
    raise InternalError(f"no chunker claims {kind} blocks with preset {preset}")
