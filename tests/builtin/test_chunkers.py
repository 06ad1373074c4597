"""The chunkers: sizes, spans, and that no word is lost."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localdb_core.builtin.chunkers.code import CodeChunker
from localdb_core.builtin.chunkers.messages import MessageChunker
from localdb_core.builtin.chunkers.passthrough import PassthroughChunker
from localdb_core.builtin.chunkers.prose import ProseChunker
from localdb_core.builtin.chunkers.table import TableChunker
from localdb_core.domain import NO_SPAN, Block, BlockKind, Piece
from localdb_core.plugin import PluginContext, Sizing

CONTEXT = PluginContext(plugin="core")
_TOKEN = re.compile(r"\w{1,4}|[^\w\s]")


def tokens(texts: Sequence[str], /) -> list[int]:
    """A small tokenizer: pieces of words and single marks."""
    return [len(_TOKEN.findall(text)) for text in texts]


def characters(texts: Sequence[str], /) -> list[int]:
    return [len(text) for text in texts]


def sizes(target: int, measure=tokens, **more) -> Sizing:
    return Sizing(target=target, measure=measure, **more)


def prose(text: str, sizing: Sizing, seq: int = 0) -> list[Piece]:
    return ProseChunker(CONTEXT).cut([Block.text_run(text).numbered(seq)], sizing)


def assert_exact(text: str, pieces: Sequence[Piece], *, gaps: bool = True) -> None:
    """Spans slice back, stand in order, and only white space lies between them."""
    raw = text.encode()
    place = 0
    for piece in pieces:
        assert raw[piece.span.start : piece.span.end].decode() == piece.text
        if gaps:
            assert raw[place : piece.span.start].decode().strip() == ""
        place = piece.span.end
    assert raw[place:].decode().strip() == ""


LOREM = "\n\n".join(
    " ".join(
        f"Sentence number {n} says that item {n * 7} costs {n}.50 euros, e.g. in May."
        for n in range(first, first + 15)
    )
    for first in range(0, 90, 15)
)
SCRIPTS = {
    "latin": LOREM,
    "cyrillic": "Первое предложение о лесах и реках. Второе говорит о море! А третье? " * 40,
    "chinese": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并以兄弟精神相对待。"
    * 60,
    "japanese": "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。" * 60,
    "thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ" * 60,
    "khmer": "មនុស្សទាំងអស់កើតមកមានសេរីភាពនិងសមភាព។ " * 60,
    "hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है। " * 40,
    "arabic": "يولد جميع الناس أحراراً ومتساوين في الكرامة والحقوق؟ وهم قد وهبوا العقل. " * 40,
    "emoji": "👩‍👩‍👧‍👦 family. 🇩🇪 flag! e\u0301 accent. " * 80,
}


@pytest.mark.req("L-CHK-31", "L-CHK-32", "L-DOM-20")
@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("measure", [tokens, characters])
def test_prose_of_any_script_is_cut_exactly_and_well_filled(script: str, measure) -> None:
    text = SCRIPTS[script].strip()
    target = 64 if measure is tokens else 200

    pieces = prose(text, sizes(target, measure))

    filled = measure([piece.text for piece in pieces])
    assert_exact(text, pieces)
    assert max(filled) <= target
    assert all(piece.text == piece.text.strip() for piece in pieces)
    assert sum(filled[:-1]) / len(filled[:-1]) >= 0.65 * target


@pytest.mark.req("L-CHK-31")
def test_a_cut_is_made_at_the_best_pause_in_reach() -> None:
    sentence = "One two three four five six seven eight. "
    text = (sentence * 6).strip() + "\n\n" + (sentence * 6).strip()

    by_paragraph = prose(text, sizes(72))
    by_sentence = prose(text, sizes(40))

    assert [piece.text.count("One") for piece in by_paragraph] == [6, 6]
    assert all(piece.text.endswith("eight.") for piece in by_sentence)


@pytest.mark.req("L-CHK-31")
def test_an_abbreviation_does_not_end_a_sentence() -> None:
    text = "It was Dr. Smith, e.g. Mr. J. Smith of No. 7, who said so. " * 8

    pieces = prose(text.strip(), sizes(30))

    assert all(piece.text.endswith("so.") for piece in pieces)


@pytest.mark.req("L-CHK-31")
def test_a_sentence_above_the_target_is_cut_at_clauses_then_words_then_characters() -> None:
    words = ", ".join(f"word{n} and some" for n in range(60))
    unbroken = "y" * 300

    by_clause = prose(words, sizes(20))
    by_character = prose(f"Short start. {unbroken} end.", sizes(50, characters))

    assert all(piece.text.endswith((",", "some")) for piece in by_clause)
    assert_exact(words, by_clause)
    assert_exact(f"Short start. {unbroken} end.", by_character)
    assert max(len(piece.text) for piece in by_character) <= 50


@pytest.mark.req("L-CHK-31")
def test_composed_characters_are_not_torn() -> None:
    text = "ก็" * 400

    pieces = prose(text, sizes(30, characters))

    assert not any(piece.text.startswith("็") for piece in pieces)


@pytest.mark.req("L-CHK-31")
def test_overlap_repeats_the_end_of_the_chunk_before() -> None:
    pieces = prose(LOREM, sizes(64, overlap=30))
    unused = prose(LOREM, sizes(64, overlap=48))

    shared = [one.span.end - two.span.start for one, two in zip(pieces, pieces[1:], strict=False)]
    assert max(tokens([piece.text for piece in pieces])) <= 64
    assert_exact(LOREM, pieces, gaps=False)
    assert all(length > 0 for length in shared)
    assert unused == prose(LOREM, sizes(64))


@pytest.mark.req("L-CHK-10")
def test_white_space_alone_is_no_chunk() -> None:
    assert prose(" \n\n ", sizes(10)) == []
    assert prose("\n  A.  \n", sizes(10))[0].text == "A."


def test_sizes_that_do_not_add_up_are_measured_again() -> None:
    def strange(texts: Sequence[str], /) -> list[int]:
        return [len(text) if len(text) < 40 else 3 * len(text) for text in texts]

    pieces = prose(LOREM, sizes(100, strange))

    assert max(strange([piece.text for piece in pieces])) <= 100
    assert_exact(LOREM, pieces)


@pytest.mark.req("L-CHK-31")
def test_a_block_is_measured_in_a_few_calls() -> None:
    calls = []

    def counting(texts: Sequence[str], /) -> list[int]:
        calls.append(len(texts))
        return tokens(texts)

    prose(LOREM, sizes(64, counting))
    prose("Short.", sizes(64, counting))

    assert len(calls) <= 4


@pytest.mark.req("L-CHK-30")
def test_structureless_text_is_cut_like_code() -> None:
    minified = "{" + ",".join(f'"k{n}":{n}' for n in range(2000)) + "}"
    long_line = "word " * 500

    for text in (minified, long_line):
        pieces = prose(text, sizes(32))
        assert_exact(text, pieces)
        assert all(len(piece.text) <= 32 for piece in pieces)
        assert len(pieces[0].text) >= 30


@pytest.mark.req("L-CHK-30")
def test_unspaced_scripts_are_prose() -> None:
    text = SCRIPTS["chinese"].replace("\n", "")[:1900]

    pieces = prose(text, sizes(100, characters))

    assert all(piece.text[-1] in "。，" for piece in pieces[:-1])


def test_a_megabyte_on_one_line_is_cut_in_linear_time() -> None:
    for text in (
        "word " * 200_000,
        "x" * 1_000_000,
        "漢" * 300_000,
        "a. " * 300_000,
        " \n" * 300_000,
    ):
        assert_exact(text, prose(text, sizes(256, characters)))


TEXTS = st.text(max_size=400) | st.text(alphabet="ab .,\n漢。กัé👍\u0301'\"", max_size=400)


@pytest.mark.req("L-CHK-32", "L-CHK-31", "L-DOM-20", "L-DOM-21")
@settings(max_examples=150, deadline=None)
@given(text=TEXTS, target=st.integers(1, 60), overlap=st.integers(0, 30))
def test_any_prose_slices_back_within_bounds(text: str, target: int, overlap: int) -> None:
    sizing = sizes(target, characters, overlap=overlap)

    pieces = prose(text, sizing, seq=3)

    assert_exact(text, pieces, gaps=overlap == 0)
    assert pieces == prose(text, sizing, seq=3)
    assert {piece.block_seq for piece in pieces} <= {3}
    covered = "".join(piece.text for piece in pieces)
    if overlap == 0:
        assert "".join(covered.split()) == "".join(text.split())
    assert all(len(piece.text) <= target for piece in pieces)


def code(text: str, limit: int) -> list[Piece]:
    return CodeChunker(CONTEXT).cut([Block.code(text)], sizes(5, code_limit=limit))


@pytest.mark.req("L-CHK-40")
def test_code_is_packed_by_whole_lines() -> None:
    pieces = code("aa\nbb\ncc\ndd\n", 6)

    assert [piece.text for piece in pieces] == ["aa\nbb\n", "cc\ndd\n"]


@pytest.mark.req("L-CHK-40")
def test_code_lines_count_as_bytes() -> None:
    assert [piece.text for piece in code("éé\néé\n", 8)] == ["éé\n", "éé\n"]


@pytest.mark.req("L-CHK-41")
def test_a_long_line_backs_off_to_white_space_or_is_cut_hard() -> None:
    assert [p.text for p in code("x\naaaa bbbb cccc\ny", 10)] == [
        "x\n",
        "aaaa bbbb ",
        "cccc\n",
        "y",
    ]
    assert [p.text for p in code("a bbbbbbbbbbbbbbb", 10)] == ["a bbbbbbbb", "bbbbbbb"]


@pytest.mark.req("L-CHK-03")
def test_the_code_limit_is_the_presets_and_not_the_prose_target() -> None:
    assert len(code("line of code\n" * 100, 3000)) == 1


@pytest.mark.req("L-CHK-32", "L-CHK-40", "L-CHK-41")
@settings(max_examples=150, deadline=None)
@given(text=st.text(alphabet="ab \n\té漢", max_size=300), limit=st.integers(1, 40))
def test_any_code_slices_back_within_its_limit(text: str, limit: int) -> None:
    pieces = code(text, limit)

    assert_exact(text, pieces)
    assert all(len(piece.text) <= limit for piece in pieces)


def table(text: str, target: int) -> list[Piece]:
    return TableChunker(CONTEXT).cut(
        [Block.table(text, headers=[], rows=0)], sizes(target, characters, code_limit=3000)
    )


HEADER = "| n | name |\n| --- | --- |"


@pytest.mark.req("L-CHK-51", "L-DOM-22")
def test_every_chunk_of_a_table_is_a_table() -> None:
    rows = [f"| {n} | name {n} |" for n in range(40)]

    pieces = table("\n".join([HEADER, *rows]), 120)

    assert all(piece.text.startswith(HEADER + "\n") for piece in pieces)
    assert all(piece.span == NO_SPAN and len(piece.text) <= 120 for piece in pieces)
    assert [line for p in pieces for line in p.text.split("\n")[2:]] == rows
    assert len(pieces[0].text) > 90


@pytest.mark.req("L-CHK-51")
def test_a_table_without_rows_is_one_chunk() -> None:
    assert [piece.text for piece in table(HEADER, 100)] == [HEADER]


@pytest.mark.req("L-CHK-50", "L-DOM-22")
@pytest.mark.parametrize(
    "text",
    ["no pipes\n| --- |", "| a |\n| x |\n| y |", "| a |\n|  |", "| a | b |", "| a |\n\n| - |"],
)
def test_what_is_no_table_is_cut_like_code(text: str) -> None:
    pieces = table(text, 100)

    assert_exact(text, pieces)
    assert pieces[0].span != NO_SPAN


@pytest.mark.req("L-CHK-52")
def test_a_row_too_big_is_cut_and_its_spans_point_into_the_block() -> None:
    big = "| 2 | " + "größe " * 40 + "|"
    text = "\n".join([HEADER, "| 1 | a |", big, "| 3 | c |"])

    pieces = table(text, 80)

    raw = text.encode()
    middle = [piece for piece in pieces if piece.span != NO_SPAN]
    assert pieces[0].text == f"{HEADER}\n| 1 | a |"
    assert pieces[-1].text == f"{HEADER}\n| 3 | c |"
    assert "".join(piece.text for piece in middle) == big
    assert all(raw[p.span.start : p.span.end].decode() == p.text for p in middle)


def test_a_header_that_fills_a_chunk_is_not_lost() -> None:
    text = "| " + "header " * 20 + "|\n| --- |\n| row |"

    pieces = table(text, 60)

    assert_exact(text, pieces)


def message(seq: int, text: str, **details) -> Block:
    return Block(BlockKind.MESSAGE, text, seq=seq, details={"sender": "Ann", **details})


def turns(count: int) -> list[Block]:
    return [message(seq, f"turn {seq}") for seq in range(count)]


def windows(blocks: Sequence[Block], target: int = 1000, **more) -> list[Piece]:
    return MessageChunker(CONTEXT).cut(blocks, sizes(target, characters, **more))


@pytest.mark.req("L-CHK-60")
def test_turns_say_who_and_when() -> None:
    blocks = [
        message(0, "Hi", timestamp="2026-01-02"),
        message(1, "Ho"),
        Block(BlockKind.SEGMENT, "Hm", 2, {"speaker": "Bob", "start_ms": 0, "end_ms": 900}),
        Block(BlockKind.SEGMENT, "Ah", 3, {"start_ms": 900, "end_ms": 950}),
        message(4, "  "),
    ]

    (piece,) = windows(blocks)

    assert piece.text == "[Ann] (2026-01-02): Hi\n\n[Ann]: Ho\n\n[Bob] (0-900): Hm\n\n(900-950): Ah"
    assert piece.window_block_seqs == (0, 1, 2, 3)
    assert piece.span == NO_SPAN


@pytest.mark.req("L-CHK-61", "L-CHK-63", "L-DOM-23")
def test_windows_of_turns_overlap_by_the_stride() -> None:
    pieces = windows(turns(10))

    assert [piece.window_block_seqs for piece in pieces] == [
        (0, 1, 2, 3, 4, 5),
        (3, 4, 5, 6, 7, 8),
        (6, 7, 8, 9),
    ]
    assert [piece.block_seq for piece in pieces] == [0, 3, 6]


@pytest.mark.req("L-CHK-61")
@given(
    lengths=st.lists(st.integers(1, 80), max_size=20),
    window=st.integers(0, 7),
    stride=st.integers(0, 9),
)
@settings(deadline=None)
def test_no_turn_is_skipped(lengths: list[int], window: int, stride: int) -> None:
    blocks = [message(seq, "x" * length) for seq, length in enumerate(lengths)]

    pieces = windows(blocks, 60, window_turns=window, stride_turns=stride)

    assert {seq for piece in pieces for seq in piece.window_block_seqs} == set(range(len(blocks)))
    assert all(len(piece.text) <= 60 for piece in pieces)


@pytest.mark.req("L-CHK-62", "L-DOM-22")
def test_an_over_long_turn_is_cut_and_each_piece_says_who() -> None:
    text = "Eine Straße führt weiter. " * 20

    pieces = windows([message(0, "short"), message(1, text), message(2, "end")], 120)

    cut = [piece for piece in pieces if piece.window_block_seqs == (1,)]
    raw = text.encode()
    assert len(cut) > 2
    assert all(piece.text.startswith("[Ann]: Eine") for piece in cut)
    assert all(
        raw[p.span.start : p.span.end].decode() == p.text.removeprefix("[Ann]: ") for p in cut
    )


@pytest.mark.req("L-CHK-10")
def test_a_block_passes_as_one_chunk_with_its_whole_span() -> None:
    blocks = [Block.image(alt="Öl", src=None), Block.image(alt="", src="x").numbered(1)]

    (piece,) = PassthroughChunker(CONTEXT).cut(blocks, sizes(1))

    assert (piece.text, piece.span.start, piece.span.end) == ("Öl", 0, 3)
