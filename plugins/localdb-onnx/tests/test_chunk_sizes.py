"""Chunks measured with the model's own tokenizer never exceed what the model reads."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import pytest
from localdb_onnx.tokenizer import Tokenizer, bert_tokenizer

from localdb_core.builtin.plugin import localdb_chunkers
from localdb_core.domain import Block, BlockKind, Chunk
from localdb_core.domain.ids import ResourceId
from localdb_core.pipeline.chunk import chunk_document
from localdb_core.pipeline.presets import TokenMeasure, sizing_for
from localdb_core.pipeline.structure import to_blocks
from localdb_core.pipeline.trail import embedding_texts
from localdb_core.plugin import Document, PluginContext

LONGEST = 256
TEXTS = {
    "english": "The lease may be ended by either side. Notice is given in writing, 3 months ahead. "
    * 120,
    "hyphens": "state-of-the-art, e.g. co-operation/re-entry (2026-01-02T03:04:05Z). " * 120,
    "russian": "Первое предложение о лесах и реках. Второе говорит о море! А третье? " * 60,
    "chinese": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。" * 100,
    "korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. " * 60,
    "korean without spaces": "가나다라마바사아자차카타파하" * 300,
    "thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ" * 60,
    "emoji": "👩‍👩‍👧‍👦 family. 🇩🇪 flag! 👍🏽 " * 200,
    "base64": ("QUJD" * 40 + " ") * 200,
    "brackets": "(" * 10_000,
    "one line": "So it was said. " * 2_000,
    "table": "| name | price |\n| --- | --- |\n"
    + "".join(f"| thing number {n} | {n}.50 € |\n" for n in range(500)),
    "wide rows": "| a |\n|---|\n" + f"| {'größer ' * 400}|\n" * 5,
    "long header": f"| {'header ' * 300}|\n|---|\n| row |\n" + "| row |\n" * 50,
    "list": "- one thing\n- another thing\n  - below it\n" * 200,
}


class _Counting:
    """The tokenizer as the pipeline sees an embedder; counts its calls."""

    card = None

    def __init__(self) -> None:
        self.tokenizer = Tokenizer(bert_tokenizer(), max_tokens=LONGEST)
        self.calls = 0

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        self.calls += 1
        return self.tokenizer.count(texts)


@pytest.fixture(scope="module")
def embedder() -> _Counting:
    return _Counting()


def chunked(embedder: _Counting, blocks: Sequence[Block], preset: str = "prose") -> list[Chunk]:
    measure = TokenMeasure(embedder)  # type: ignore[arg-type]
    specs = localdb_chunkers()
    chunkers = []
    for spec in specs:
        module, _, attribute = spec.target.partition(":")
        build = getattr(importlib.import_module(module), attribute)
        chunkers.append((spec, build(PluginContext(plugin="core"))))
    return chunk_document(
        blocks,
        resource_id=ResourceId("ab" * 32),
        chunkers=chunkers,
        preset=preset,
        sizing=sizing_for(preset, measure, max_tokens=LONGEST, added=measure.added),
    )


@pytest.mark.req("L-CHK-01", "L-CHK-12", "L-CHK-31", "L-CHK-51")
@pytest.mark.parametrize("script", TEXTS)
def test_no_chunk_with_its_trail_is_longer_than_the_model_reads(
    script: str, embedder: _Counting
) -> None:
    markdown = f"# A heading of some length\n\n## And one below\n\n{TEXTS[script]}"
    blocks = to_blocks(Document(markdown=markdown))

    chunks = chunked(embedder, blocks)

    measure = TokenMeasure(embedder)  # type: ignore[arg-type]
    texts = embedding_texts(chunks, "The title", limit=LONGEST - measure.added, measure=measure)
    assert chunks
    assert max(embedder.tokenizer.count(texts)) <= LONGEST
    assert max(len(chunk.text) for chunk in chunks) < 8 * LONGEST


@pytest.mark.req("L-CHK-01", "L-CHK-31")
@pytest.mark.parametrize("script", TEXTS)
def test_the_tokenizer_is_asked_a_few_times_for_a_block(script: str, embedder: _Counting) -> None:
    blocks = to_blocks(Document(markdown=TEXTS[script]))
    before = embedder.calls

    chunked(embedder, blocks)

    assert embedder.calls - before <= 1 + 7 * len(blocks)


@pytest.mark.req("L-CHK-31")
def test_english_prose_fills_its_chunks(embedder: _Counting) -> None:
    chunks = chunked(embedder, [Block.text_run(TEXTS["english"].strip()).numbered(0)])

    sizes = embedder.tokenizer.count([chunk.text for chunk in chunks[:-1]])
    assert min(sizes) >= 0.75 * LONGEST


@pytest.mark.req("L-CHK-61", "L-CHK-62")
def test_windows_of_turns_fit_the_model_and_no_turn_is_lost(embedder: _Counting) -> None:
    talk = [
        Block(BlockKind.MESSAGE, "Some words were said. " * (n % 80), n, {"sender": "Ann"})
        for n in range(300)
    ]

    chunks = chunked(embedder, talk, preset="messages")

    seen = {seq for chunk in chunks for seq in chunk.window_block_seqs}
    assert max(embedder.tokenizer.count([chunk.text for chunk in chunks])) <= LONGEST
    assert seen == {block.seq for block in talk if block.text.strip()}
