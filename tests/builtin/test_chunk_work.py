"""How much work cutting is, counted: calls of the measure, characters, function calls."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import pytest

from localdb_core.builtin.chunkers.code import CodeChunker
from localdb_core.builtin.chunkers.messages import MessageChunker
from localdb_core.builtin.chunkers.prose import ProseChunker
from localdb_core.builtin.chunkers.table import TableChunker
from localdb_core.domain import Block, BlockKind, Piece
from localdb_core.plugin import Chunker, PluginContext, Sizing

CONTEXT = PluginContext(plugin="core")
MEGABYTE = 1_000_000


class CountingMeasure:
    """Quarters of the characters, and how often and for how much it was asked."""

    def __init__(self) -> None:
        self.calls = 0
        self.characters = 0

    def __call__(self, texts: Sequence[str], /) -> list[int]:
        self.calls += 1
        self.characters += sum(map(len, texts))
        return [-(-len(text) // 4) for text in texts]


def cut(chunker: Chunker, *blocks: Block, target: int = 256) -> tuple[list[Piece], CountingMeasure]:
    measure = CountingMeasure()
    return chunker.cut(blocks, Sizing(target, measure)), measure


def function_calls(action: Callable[[], object]) -> int:
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


# Each makes a text of about so many characters.
HOSTILE: dict[str, Callable[[int], str]] = {
    "words on one line": lambda size: "word " * (size // 5),
    "sentences on one line": lambda size: "It is so. " * (size // 10),
    "no white space": lambda size: "x" * size,
    "brackets": lambda size: "(" * size,
    "white space inside": lambda size: "a" + " " * size + "b",
    "blank lines inside": lambda size: "a" + "\n" * size + "b",
    "full stops": lambda size: "." * size,
    "spaced full stops": lambda size: ". " * (size // 2),
    "chinese without marks": lambda size: "漢" * size,
    "thai without spaces": lambda size: "มนุษย์" * (size // 6),
    "flags": lambda size: "🇩🇪" * (size // 2),
    "marks on one letter": lambda size: "漢" + "\u0301" * size,
    "joiners": lambda size: "漢\u200d" * (size // 2),
    "viramas": lambda size: "क्" * (size // 2),
    "zero width": lambda size: "\u200b" * size,
    "short lines": lambda size: "a\n" * (size // 2),
    "paragraphs": lambda size: "a\n\n" * (size // 3),
}


@pytest.mark.req("L-CHK-30", "L-CHK-31")
@pytest.mark.parametrize("shape", HOSTILE)
@pytest.mark.parametrize("chunker", [ProseChunker(CONTEXT), CodeChunker(CONTEXT)])
def test_twice_the_text_is_at_most_twice_the_work(shape: str, chunker: Chunker) -> None:
    small, large = (Block.text_run(HOSTILE[shape](size)) for size in (4_000, 8_000))

    little, much = (
        function_calls(lambda block=block: cut(chunker, block, target=50))
        for block in (small, large)
    )

    assert much <= 2.2 * little + 500


@pytest.mark.req("L-CHK-30", "L-CHK-31")
@pytest.mark.parametrize("shape", HOSTILE)
def test_the_measure_is_asked_a_few_times_whatever_the_text(shape: str) -> None:
    text = HOSTILE[shape](20_000)

    pieces, measure = cut(ProseChunker(CONTEXT), Block.text_run(text))

    assert measure.calls <= 8
    assert measure.characters <= 6 * len(text)
    assert all(-(-len(piece.text) // 4) <= 256 for piece in pieces)


@pytest.mark.req("L-CHK-30")
@pytest.mark.parametrize("text", ["word " * MEGABYTE, "x" * (5 * MEGABYTE)], ids=["words", "run"])
def test_five_megabytes_on_one_line_are_measured_once(text: str) -> None:
    pieces, measure = cut(ProseChunker(CONTEXT), Block.text_run(text))

    assert measure.calls == 1
    assert sum(len(piece.text) for piece in pieces) >= len(text) - 1


@pytest.mark.req("L-CHK-51")
def test_a_table_of_a_hundred_thousand_rows_is_measured_in_a_few_calls() -> None:
    rows = "".join(f"\n| {n} | name {n} |" for n in range(100_000))
    block = Block.table("| n | name |\n| --- | --- |" + rows, headers=[], rows=100_000)

    pieces, measure = cut(TableChunker(CONTEXT), block)

    assert sum(piece.text.count("\n") - 1 for piece in pieces) == 100_000
    assert measure.calls <= 3
    assert measure.characters <= 3 * len(block.text)


@pytest.mark.req("L-CHK-52")
def test_many_rows_too_big_are_cut_in_a_few_calls_and_linear_work() -> None:
    def table(rows: int) -> Block:
        body = f"\n| {'größe ' * 60}|" * rows
        return Block.table(f"| a |\n| --- |{body}", headers=[], rows=rows)

    work = [
        function_calls(lambda n=n: cut(TableChunker(CONTEXT), table(n), target=64))
        for n in (100, 200)
    ]
    pieces, measure = cut(TableChunker(CONTEXT), table(2000), target=64)

    assert measure.calls <= 4
    assert len(pieces) >= 2000
    assert work[1] <= 2.2 * work[0]


@pytest.mark.req("L-CHK-61")
def test_windows_are_measured_together() -> None:
    talk = [Block(BlockKind.MESSAGE, "word " * (n % 90), n, {"sender": "Ann"}) for n in range(2000)]

    pieces, measure = cut(MessageChunker(CONTEXT), *talk)

    assert measure.calls <= 4
    assert len(pieces) > 400


@pytest.mark.req("L-CHK-61")
def test_a_window_that_measures_more_than_its_turns_is_halved() -> None:
    def strange(texts: Sequence[str], /) -> list[int]:
        return [len(text) * (3 if text.count("[Ann]") > 2 else 1) for text in texts]

    talk = [Block(BlockKind.MESSAGE, "x" * 20, n, {"sender": "Ann"}) for n in range(12)]

    pieces = MessageChunker(CONTEXT).cut(talk, Sizing(200, strange))

    assert max(strange([piece.text for piece in pieces])) <= 200
    assert {seq for piece in pieces for seq in piece.window_block_seqs} == set(range(12))


@pytest.mark.req("L-CHK-62")
def test_a_name_longer_than_a_chunk_leaves_room_for_what_was_said() -> None:
    turn = Block(BlockKind.MESSAGE, "It is so. " * 300, 0, {"sender": "A" * 5000})

    pieces, measure = cut(MessageChunker(CONTEXT), turn)

    assert max(measure([piece.text for piece in pieces])) <= 256
    assert sum(piece.text.count("It is so.") for piece in pieces) == 300


CHAPTER = (
    "The river was high that year. It carried wood, nets and once a boat! Who owned it? " * 400
)


@pytest.mark.req("L-CHK-30", "L-CHK-31")
def test_a_chapter_on_one_line_is_prose() -> None:
    pieces, _ = cut(ProseChunker(CONTEXT), Block.text_run(CHAPTER.strip()))

    assert len(CHAPTER) > 64 * 256
    assert all(piece.text[-1] in ".!?" for piece in pieces)
    assert min(len(piece.text) for piece in pieces[:-1]) > 700


@pytest.mark.req("L-CHK-30")
def test_a_long_line_without_sentences_is_still_cut_like_code() -> None:
    minified = "function a ( b ) { return b + 1 } ; " * 600
    mixed = CHAPTER + minified

    for text in (minified, mixed):
        pieces, _ = cut(ProseChunker(CONTEXT), Block.text_run(text))
        assert max(len(piece.text) for piece in pieces) <= 256


@pytest.mark.req("L-CHK-30", "L-CHK-31")
def test_a_long_line_of_thai_is_prose() -> None:
    text = "มนุษย์ทั้งหลายเกิดมามีอิสระ " * 1000

    pieces, _ = cut(ProseChunker(CONTEXT), Block.text_run(text))

    assert all(piece.text.endswith("อิสระ") for piece in pieces)
    assert min(len(piece.text) for piece in pieces[:-1]) > 700
