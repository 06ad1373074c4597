"""What every chunker owes the pipeline, as tests to inherit.

class TestMyChunker(ChunkerContract):
    component = "mine/mine"

The plugin must be installed. Override :meth:`ChunkerContract.spec` and
:meth:`ChunkerContract.build` to test a chunker that is not.
"""

# ruff: noqa: D102 (the names of tests are sentences)

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localdb_core.domain import NO_SPAN, Block, BlockKind, Piece
from localdb_core.plugin import Chunker, ChunkerSpec, PluginContext, Sizing
from localdb_core.testing.component import attribute_of, find_spec, settings_of
from localdb_core.testing.hostile import HOSTILE

TEXT: Final = "\n\n".join(
    " ".join(
        f"Sentence {n} says that item {n * 7} costs {n} euros." for n in range(first, first + 9)
    )
    for first in range(0, 54, 9)
)
"""Running text of several paragraphs, too long for one chunk."""

MOST_MEASURED: Final = 64
"""How often, on average, each character of a long text may be measured."""

_TOKEN = re.compile(r"\w{1,4}|[^\w\s]")
_ANY_TEXT = settings(
    max_examples=25,
    deadline=None,
    database=None,
    # Several classes of one run inherit this test; that is the point of it.
    suppress_health_check=[HealthCheck.differing_executors],
)


def tokens(texts: Sequence[str], /) -> list[int]:
    """A small tokenizer to measure with: pieces of words and single marks."""
    return [len(_TOKEN.findall(text)) for text in texts]


class ChunkerContract:
    """Inherit, name the component.

    Attributes:
        component: ``plugin/name``.
        settings: the plugin's config section; its model is built from this.
        samples: documents of blocks it claims, cut beside those the contract makes.
        target: the largest chunk asked for, in pieces of words.
        keeps_target: False for a chunker that keeps blocks whole, or measures otherwise.
    """

    component: ClassVar[str]
    settings: ClassVar[Mapping[str, Any]] = {}  # Any: config values
    samples: ClassVar[Sequence[Sequence[Block]]] = ()
    target: ClassVar[int] = 40
    keeps_target: ClassVar[bool] = True

    @classmethod
    def spec(cls) -> ChunkerSpec:
        """The description under test; looked up by entry point unless overridden."""
        return find_spec(cls.component, ChunkerSpec)

    @classmethod
    def build(cls) -> Chunker:
        """A new chunker, as the host would build it."""
        context = PluginContext(
            plugin=cls.component.partition("/")[0],
            config=settings_of(cls.component, cls.settings),
        )
        chunker: Chunker = attribute_of(cls.spec().target)(context)
        return chunker

    def documents(self) -> list[list[Block]]:
        """One document for each claimed kind, one of all of them, and the samples."""
        kinds = [BlockKind(claim) for claim in self.spec().claims]
        alone = [[Block(kind, TEXT)] for kind in kinds]
        together = [Block(kind, f"{kind} {TEXT[:400]}", seq=n) for n, kind in enumerate(kinds * 2)]
        return [*alone, together, *map(list, self.samples)]

    def cut(self, blocks: Sequence[Block], chunker: Chunker | None = None) -> list[Piece]:
        """What the pipeline would get: block by block, or the whole document at once."""
        chunker = chunker or self.build()
        sizing = Sizing(target=self.target, measure=tokens)
        if self.spec().scope == "document":
            return list(chunker.cut(blocks, sizing))
        return [piece for block in blocks for piece in chunker.cut([block], sizing)]

    def test_the_description_claims_kinds_of_blocks_that_exist(self) -> None:
        claims = self.spec().claims

        assert claims, "a chunker that claims nothing is never asked"
        assert [BlockKind(claim) for claim in claims]

    def test_every_word_stands_in_a_chunk(self) -> None:
        for blocks in self.documents():
            pieces = self.cut(blocks)

            check(pieces, blocks)
            text = " ".join(piece.text for piece in pieces)
            lost = {word for block in blocks for word in block.text.split()} - set(text.split())
            assert not [word for word in lost if word not in text], f"lost: {sorted(lost)[:5]}"

    def test_chunks_are_no_larger_than_asked(self) -> None:
        """Whoever says ``keeps_target = False`` must need it: some chunk is larger."""
        cut = [self.cut(blocks) for blocks in self.documents()]

        largest = max(max(tokens([piece.text for piece in pieces])) for pieces in cut)
        assert (largest <= self.target) is self.keeps_target, f"{largest} tokens of {self.target}"

    def test_the_same_blocks_give_the_same_chunks(self) -> None:
        for blocks in self.documents():
            chunker = self.build()

            first = self.cut(blocks, chunker)

            assert first == self.cut(blocks, chunker) == self.cut(blocks)

    def test_places_in_the_document_change_no_text(self) -> None:
        """Chunk ids come from content; a paragraph added above must not change them all."""
        for blocks in self.documents():
            moved = [replace(block, seq=block.seq + 7) for block in blocks]

            before, after = self.cut(blocks), self.cut(moved)

            assert [(p.text, p.span, p.block_seq + 7) for p in before] == [
                (p.text, p.span, p.block_seq) for p in after
            ]

    def test_nothing_gives_no_chunks(self) -> None:
        empty = [
            Block(BlockKind(claim), " \n\t", seq=n) for n, claim in enumerate(self.spec().claims)
        ]

        assert self.cut(empty) == []
        assert list(self.build().cut([], Sizing(target=self.target, measure=tokens))) == []

    @pytest.mark.parametrize("number", range(len(HOSTILE)))
    def test_no_text_is_an_error(self, number: int) -> None:
        blocks = [Block(BlockKind(claim), HOSTILE[number]) for claim in self.spec().claims[:1]]

        check(self.cut(blocks), blocks)

    @_ANY_TEXT
    @given(text=st.text(max_size=400))
    def test_any_text_at_all_can_be_cut(self, text: str) -> None:
        for claim in self.spec().claims:
            blocks = [Block(BlockKind(claim), text)]

            check(self.cut(blocks), blocks)

    def test_a_long_line_is_not_measured_again_and_again(self) -> None:
        """Work grows with the text, not with its square; counted, not timed."""
        line = "word " * 20_000
        measured = 0

        def counting(texts: Sequence[str], /) -> list[int]:
            nonlocal measured
            measured += sum(map(len, texts))
            return tokens(texts)

        block = Block(BlockKind(self.spec().claims[0]), line)
        self.build().cut([block], Sizing(target=self.target, measure=counting))

        assert measured <= MOST_MEASURED * len(line)

    def test_nothing_is_printed(self, capfd: pytest.CaptureFixture[str]) -> None:
        for blocks in self.documents():
            self.cut(blocks)

        assert capfd.readouterr().out == ""


def check(pieces: Sequence[Piece], blocks: Sequence[Block]) -> None:
    """Assert what the pipeline relies on: known blocks, in order, exact spans, some text."""
    by_seq = {block.seq: block for block in blocks}
    for piece in pieces:
        assert piece.text.strip(), "a chunk without text"
        assert set(piece.window_block_seqs) | {piece.block_seq} <= set(by_seq)
        block = by_seq[piece.block_seq]
        assert piece.block_kind == block.kind
        if piece.span != NO_SPAN:
            raw = block.text.encode("utf-8", "surrogatepass")[piece.span.start : piece.span.end]
            assert raw.decode("utf-8", "surrogatepass") == piece.text
    assert [piece.block_seq for piece in pieces] == sorted(piece.block_seq for piece in pieces)
