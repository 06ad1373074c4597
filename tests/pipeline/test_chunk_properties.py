"""Chunks of any document in any script: spans slice back, nothing crosses a block, none is lost."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localdb_core.builtin.plugin import localdb_chunkers
from localdb_core.domain import NO_SPAN, Block, BlockKind, Chunk
from localdb_core.domain.ids import ResourceId, chunk_id
from localdb_core.pipeline.chunk import chunk_document
from localdb_core.plugin import PluginContext, Sizing

RESOURCE = ResourceId("cd" * 32)
TURNS = (BlockKind.MESSAGE, BlockKind.SEGMENT)

# Letters of many scripts, marks that combine, joiners, signs outside the first plane,
# every kind of white space and of sentence end.
PIECES = [
    *(
        "word",
        "Straße",
        "Река",
        "漢字",
        "かな",
        "ภาษา",
        "ខ្មែរ",
        "हिन्दी",
        "عربى",
        "שלום",
        "e\u0301",
        "👩‍👧",
        "🇩🇪",
    ),
    *(" ", "  ", "\n", "\n\n", "\t", "\u3000", "\u2028", "\u00a0", "\r\n", "\x0b"),
    *(".", "! ", "? ", "。", "؟", "।", ", ", ";", '"', ")", "|", "#", "`", "-", "\x00", "\ufeff"),
]
TEXT = st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=40)
ROW = st.lists(TEXT.map(lambda text: text.replace("\n", " ")), min_size=1, max_size=3)


def table(rows: Sequence[Sequence[str]]) -> Block:
    width = max(map(len, rows))
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    return Block.table("\n".join(lines), headers=list(rows[0]), rows=len(rows) - 1)


BLOCK = st.one_of(
    st.builds(Block.text_run, TEXT),
    st.builds(Block.code, TEXT),
    st.builds(lambda text, level: Block.heading(text, level=level), TEXT, st.integers(1, 6)),
    st.builds(lambda text: Block.image(alt=text, src=None), TEXT),
    st.lists(ROW, min_size=1, max_size=5).map(table),
    st.builds(lambda text: Block.table(text, headers=[], rows=0), TEXT),
    st.builds(
        lambda kind, text: Block(kind, text, details={"sender": "Ann"}),
        st.sampled_from(TURNS),
        TEXT,
    ),
)
SIZING = st.builds(
    lambda target, overlap, limit: Sizing(
        target=target,
        measure=lambda texts: [len(text) for text in texts],
        overlap=overlap,
        code_limit=limit,
        window_turns=3,
        stride_turns=2,
    ),
    target=st.integers(1, 40),
    overlap=st.sampled_from([0, 0, 5]),
    limit=st.integers(1, 40),
)


def cut(blocks: Sequence[Block], preset: str, sizing: Sizing) -> list[Chunk]:
    chunkers = []
    for spec in localdb_chunkers():
        module, _, attribute = spec.target.partition(":")
        build = getattr(importlib.import_module(module), attribute)
        chunkers.append((spec, build(PluginContext(plugin="core"))))
    return chunk_document(
        blocks, resource_id=RESOURCE, chunkers=chunkers, preset=preset, sizing=sizing
    )


@pytest.mark.req("L-CHK-11", "L-CHK-32", "L-DOM-20", "L-DOM-21", "L-DOM-22")
@given(st.lists(BLOCK, max_size=6), st.sampled_from(["prose", "code", "messages"]), SIZING)
def test_every_chunker_keeps_to_the_text_of_its_block(
    given_blocks: list[Block], preset: str, sizing: Sizing
) -> None:
    blocks = [block.numbered(seq) for seq, block in enumerate(given_blocks)]

    chunks = cut(blocks, preset, sizing)

    assert chunks == cut(blocks, preset, sizing)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    for chunk in chunks:
        assert_slices_back(blocks[chunk.block_seq], chunk)
        assert chunk.text.strip() or chunk.block_kind is BlockKind.CODE
        assert chunk.id == chunk_id(
            RESOURCE, block_seq=chunk.block_seq, text=chunk.text, seq_in_block=chunk.seq_in_block
        )
    for block in blocks:
        if block.kind in (BlockKind.TEXT, BlockKind.CODE) and block.text.strip():
            assert_covered(block, [chunk for chunk in chunks if chunk.block_seq == block.seq])


def assert_slices_back(block: Block, chunk: Chunk) -> None:
    raw = block.text.encode("utf-8", "surrogatepass")
    sliced = raw[chunk.span.start : chunk.span.end].decode("utf-8", "surrogatepass")
    assert chunk.block_kind == block.kind
    assert chunk.span.end <= len(raw)
    if chunk.span == NO_SPAN:
        assert chunk.block_kind in (BlockKind.TABLE, *TURNS)
        assert bool(chunk.window_block_seqs) == (chunk.block_kind in TURNS)
    elif chunk.block_kind in TURNS:
        assert chunk.text.endswith(sliced)
        # Who speaks is left out where the limit has no room for it.
        assert chunk.text.removesuffix(sliced) in ("[Ann]: ", "[Ann]:", "")
    else:
        assert sliced == chunk.text


def assert_covered(block: Block, chunks: Sequence[Chunk]) -> None:
    """Chunks stand in order, and only white space lies between them."""
    raw = block.text.encode("utf-8", "surrogatepass")
    place = 0
    for number, chunk in enumerate(chunks):
        assert chunk.seq_in_block == number
        assert raw[place : chunk.span.start].decode("utf-8", "surrogatepass").strip() == ""
        place = chunk.span.end
    assert raw[place:].decode("utf-8", "surrogatepass").strip() == ""
