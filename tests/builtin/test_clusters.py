"""No cut falls inside what a reader sees as one character."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localdb_core.builtin.chunkers.clusters import LONGEST, is_inside, last_cut, next_cut
from localdb_core.builtin.chunkers.code import CodeChunker
from localdb_core.builtin.chunkers.prose import ProseChunker
from localdb_core.domain import Block, Piece
from localdb_core.plugin import PluginContext, Sizing

CONTEXT = PluginContext(plugin="core")
WHOLE = {
    "accent": "e\u0301\u0323",
    "family": "👩‍👩‍👧‍👦",
    "skin tone": "👍🏽",
    "keycap": "1\ufe0f\u20e3",
    "flag": "🇩🇪",
    "flag of Wales": "\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
    "jamo": "\u1112\u1161\u11ab",
    "syllable and jamo": "가\u11a8",
    "Devanagari": "क्षि",
    "Devanagari with joiner": "क्\u200dष",
    "Bengali": "স্ত্র",
    "Tamil": "நி",
    "Thai": "น้ำ",
    "Thai leading vowel": "เก",
    "Lao": "ນ້ຳ",
    "Khmer": "ស្ត្រី",
    "Burmese": "က္ကို",
    "half-width Japanese": "ｶﾞ",
    "line end": "\r\n",
}
APART = ["ab", "a\n", "漢字", "🇩🇪🇫🇷", "가나", "กา", "ကမ", "👍👎", "न म"]


@pytest.mark.parametrize("cluster", WHOLE.values(), ids=WHOLE)
def test_a_cluster_has_no_place_for_a_cut(cluster: str) -> None:
    assert all(is_inside(cluster, place) for place in range(1, len(cluster)))
    assert next_cut(f"x{cluster}x", 2, 0, len(cluster) + 2) == len(cluster) + 1
    assert last_cut(f"x{cluster}x", len(cluster), 0) == 1


@pytest.mark.parametrize("pair", APART)
def test_whole_characters_may_be_parted(pair: str) -> None:
    assert not is_inside(pair, len(pair) // 2)


def test_a_cluster_without_end_is_cut_all_the_same() -> None:
    endless = "a" + "\u0301" * 1000

    assert next_cut(endless, 10, 0, len(endless)) == 10 + LONGEST
    assert last_cut(endless, 500, 0) == 500


def cuts(pieces: Sequence[Piece]) -> list[int]:
    return [place for piece in pieces for place in (piece.span.start, piece.span.end)]


def whole_text(parts: Sequence[str]) -> tuple[str, set[int]]:
    """Clusters in a row, and the byte offsets at which they meet."""
    meet = itertools.accumulate((len(part.encode()) for part in parts), initial=0)
    return "".join(parts), set(meet)


CLUSTERS = st.lists(st.sampled_from([*WHOLE.values(), "a", " ", "漢", "。", "\n", ". "]))


@pytest.mark.req("L-CHK-31", "L-CHK-32", "L-CHK-41")
@settings(max_examples=150, deadline=None)
@given(parts=CLUSTERS, target=st.integers(20, 40))
def test_no_chunk_of_prose_or_code_begins_or_ends_inside_a_cluster(
    parts: list[str], target: int
) -> None:
    # What follows a flag, a letter and so on must not join it.
    text, meet = whole_text([piece for part in parts for piece in (part, "x")])
    sizing = Sizing(target, lambda texts: [len(one) for one in texts], code_limit=target)

    prose = ProseChunker(CONTEXT).cut([Block.text_run(text)], sizing)
    code = CodeChunker(CONTEXT).cut([Block.code(text)], sizing)

    inside_line_end = {place for place in cuts(prose) if text.encode()[place:].startswith(b"\r\n")}
    assert set(cuts(prose)) - inside_line_end <= meet | {
        place - 1 for place in meet if text.encode()[:place].endswith((b" ", b"\n"))
    }
    assert set(cuts(code)) <= meet | {
        place - 1 for place in meet if text.encode()[:place].endswith(b". ")
    }
    assert all(len(piece.text) <= target for piece in [*prose, *code])


@pytest.mark.req("L-CHK-31")
def test_a_cluster_above_the_target_is_cut_rather_than_the_bound_broken() -> None:
    text = "\u1112\u1161\u11ab" * 5
    sizing = Sizing(2, lambda texts: [len(one) for one in texts])

    pieces = ProseChunker(CONTEXT).cut([Block.text_run(text)], sizing)

    assert "".join(piece.text for piece in pieces) == text
    assert max(len(piece.text) for piece in pieces) <= 2


ENDS = {
    "chinese": ("人人生而自由，在尊严和权利上一律平等", "。"),
    "japanese": ("吾輩は猫である、名前はまだ無いと言う", "！」"),
    "khmer": ("មនុស្សទាំងអស់កើតមកមានសេរីភាពនិងសមភាព", "។"),
    "burmese": ("လူတိုင်းသည်တူညီလွတ်လပ်သောဂုဏ်သိက္ခာ", "။"),
    "tibetan": ("འགྲོ་བ་མིའི་རིགས་རྒྱུད", "།"),
    "thai phrases": ("มนุษย์ทั้งหลายเกิดมามีอิสระ", " "),
    "lao phrases": ("ມະນຸດທຸກຄົນເກີດມາມີກຽດສັກສີ", " "),
}


@pytest.mark.req("L-CHK-31")
@pytest.mark.parametrize("script", ENDS)
def test_scripts_without_spaces_are_cut_after_their_own_marks(script: str) -> None:
    sentence, mark = ENDS[script]
    text = (sentence + mark) * 40
    sizing = Sizing(200, lambda texts: [len(one) for one in texts])

    pieces = ProseChunker(CONTEXT).cut([Block.text_run(text)], sizing)

    assert len(pieces) > 3
    assert all(piece.text.endswith((sentence + mark).strip()) for piece in pieces)


@pytest.mark.req("L-CHK-31")
def test_a_full_width_point_between_digits_ends_nothing() -> None:
    text = ("円周率は３．１４である" * 3 + "。") * 20
    sizing = Sizing(60, lambda texts: [len(one) for one in texts])

    pieces = ProseChunker(CONTEXT).cut([Block.text_run(text)], sizing)

    assert {piece.text[-1] for piece in pieces} == {"。"}
