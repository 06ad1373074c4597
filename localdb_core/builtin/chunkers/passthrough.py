"""Blocks that are one chunk each: references, images, bare headings."""

from __future__ import annotations

from collections.abc import Sequence

from localdb_core.builtin.chunkers.spans import pieces_of
from localdb_core.domain import Block, Piece
from localdb_core.plugin import PluginContext, Sizing


class PassthroughChunker:
    """One piece for each block that has text; its span is the whole text."""

    def __init__(self, context: PluginContext) -> None:
        del context

    def cut(self, blocks: Sequence[Block], sizing: Sizing) -> list[Piece]:
        """The blocks' texts as they are."""
        del sizing
        kept = [block for block in blocks if block.text.strip()]
        return [piece for block in kept for piece in pieces_of(block, [(0, len(block.text))])]
