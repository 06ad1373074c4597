"""Texts that no index may mistake for its query syntax, or choke on."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

VOCABULARY: Final = ("zebra", "quartz", "violin", "harbour", "lantern", "tundra")
"""Words no stemmer and no stop list changes into each other."""

_MARKS: Final = st.text("\"'*()[]{}<>-+^~:;,.!?/\\&|$#@%=…«»“”\x00\t", max_size=3)
_WORD: Final = st.sampled_from(VOCABULARY).flatmap(
    lambda word: st.sampled_from([word, word.upper(), word.title()])
)

MARKED: Final = st.lists(
    st.one_of(st.tuples(_MARKS, _WORD, _MARKS).map("".join), _MARKS), max_size=5
).map(" ".join)
"""Questions of known words, with marks of every query syntax before, behind and between."""

ANYTHING: Final = st.text(st.characters(), max_size=60)
"""Questions of any characters at all, lone surrogates too."""

HOSTILE: Final = (
    '"',
    "'; drop table chunks; --",
    "-zebra",
    "zebra*",
    "zebra NEAR/3 quartz",
    "NOT zebra",
    "AND OR NOT",
    "((((zebra",
    "text:zebra^9~2",
    "[a TO z]",
    "zebra\x00quartz",
    "\x00",
    "\ud800",
    "zebra \udfff",
    "🦓🦓 zebra 👩\u200d🚀",
    "図書館で本を読む",
    "\u202ezebra",
    "x" * 100_000,
    " ".join(f"word{n}" for n in range(10_000)),
)
