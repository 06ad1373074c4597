"""The snippet algorithm, as a table of cases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localdb_core.domain.snippet import cut

pytestmark = pytest.mark.req("L-SRCH-20")


@pytest.mark.parametrize(
    ("text", "cap", "kept", "shortened"),
    [
        ("short", 5, "short", False),
        ("", 1, "", False),
        ("One line.\n\nAnother one. And more", 20, "One line.\n\nAnother one.", True),
        ("One line of it\n\nand. then more words", 20, "One line of it", True),
        ("First one. Second goes on and on", 12, "First one.", True),
        ('He said "stop." and went away', 15, 'He said "stop."', True),
        ("He waited. (Very long.) and went", 23, "He waited. (Very long.)", True),
        ("version 3.11 or newer is needed", 12, "version 3.11", True),
        ("ends exactly here.", 16, "ends exactly here.", False),
        ("ends exactly here.   ", 16, "ends exactly here.", False),
        ("some words without any stop", 12, "some words", True),
        ("abcde fghij", 5, "abcde", True),
        ("abcdefghij", 4, "abcd", True),
        (" bcdefghij", 4, " bcd", True),
        ("          x", 4, "    ", True),
        ("ab", 1, "a", True),
    ],
)
def test_a_text_is_cut_at_the_best_boundary(text, cap, kept, shortened):
    assert cut(text, cap) == (kept, shortened)


def test_a_stop_at_the_edge_of_the_window_counts_only_before_white_space():
    # The window of cap 10 ends at 12; the character after it decides.
    assert cut("aaaa bbbbbb. c", 10) == ("aaaa bbbbbb.", True)
    assert cut("aaaa bbbbbb.c d", 10) == ("aaaa", True)


def test_a_blank_line_before_the_window_is_not_used():
    assert cut("a\n\nbbbb cccc dddd", 12) == ("a\n\nbbbb cccc", True)


@pytest.mark.parametrize("cap", range(1, 60))
def test_the_result_is_a_prefix_and_never_much_longer_than_the_cap(cap):
    text = "Yes. No, and\n\nperhaps (one says!) maybe; nobody knows?\t " * 3

    kept, shortened = cut(text, cap)

    assert text.startswith(kept)
    assert 0 < len(kept) <= cap + cap // 5
    assert shortened


def naive(text, cap):
    """The rules one after the other, place by place."""
    if len(text) <= cap:
        return text
    first, last = cap // 2, min(cap + cap // 5, len(text))
    window = range(first, last)
    ends = []
    for rule in (
        [n for n in window if text[n : n + 2] == "\n\n" and n + 2 <= last],
        [n for n in range(first + 1, last + 1) if ends_a_sentence(text, n, first)],
        [n for n in range(cap + 1) if text[n].isspace()],
        [cap],
    ):
        ends = [n for n in rule if n > 0]
        if ends:
            break
    kept = text[: max(ends)]
    return kept.rstrip() or kept


def ends_a_sentence(text, end, first):
    """Whether a sentence ends right before this place, its mark inside the window."""
    if end < len(text) and not text[end].isspace():
        return False
    closed = end - 2 >= first and text[end - 1] in "\"')]）" and text[end - 2] in ".!?"
    return text[end - 1] in ".!?" or closed


@given(
    text=st.lists(
        st.sampled_from(
            [*"ab.!?\"')]） \n\t", "\n\n", ". ", "e\u0301", "漢", "👍", "\u3000", "\x85"]
        )
    ).map("".join)
    | st.text(),
    cap=st.integers(1, 40),
)
def test_any_text_is_cut_where_the_rules_say(text, cap):
    kept, shortened = cut(text, cap)

    assert kept == naive(text, cap)
    assert text.startswith(kept)
    assert len(kept) <= max(cap + cap // 5, 1)
    assert shortened == bool(text[len(kept) :].strip()) or len(text) <= cap
