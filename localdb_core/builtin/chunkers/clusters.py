"""What a reader sees as one character: no cut is made inside it.

The rules of Unicode's grapheme clusters (UAX 29) told by ``unicodedata`` instead of by
tables of our own: combining marks, emoji sequences, flags, Hangul syllables, Indic
conjuncts, CR LF. Where the two differ ours joins more, which only moves a cut a little;
that is worth less than a compiled dependency of core.
"""

from __future__ import annotations

import unicodedata

LONGEST = 64
"""Characters of a cluster; whatever claims to be longer is cut all the same."""

_ZWJ = "\u200d"
# Zero-width (non-)joiner, Thai and Lao AM, half-width Japanese voice marks.
_EXTENDING = frozenset("\u200c\u200d\u0e33\u0eb3\uff9e\uff9f")
# Vowels of Thai, Lao and New Tai Lue written before their consonant; Arabic number signs.
_LEADING = frozenset("\u0e40\u0e41\u0e42\u0e43\u0e44\u0ec0\u0ec1\u0ec2\u0ec3\u0ec4") | frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2\u0d4e\U000110bd"
)
# Signs of the virama's class that end a syllable instead of joining two consonants.
_FINAL = frozenset("\u0e3a\u0eba\u0bcd\u103a")
_VIRAMA = 9


def next_cut(text: str, place: int, start: int, end: int) -> int:
    """The first place from ``place`` on that tears no cluster, at most ``end``.

    ``start``, before ``place``, must be the beginning of a cluster.
    """
    last = min(end, place + LONGEST)
    while place < last and is_inside(text, place, start):
        place += 1
    return place


def last_cut(text: str, place: int, start: int) -> int:
    """The last place up to ``place`` that tears no cluster; ``place`` when there is none."""
    first = max(start, place - LONGEST)
    for back in range(place, first, -1):
        if not is_inside(text, back, start):
            return back
    return place


def is_inside(text: str, place: int, start: int = 0) -> bool:
    """Whether the characters on both sides of a place belong together.

    Flags are pairs: where one begins is counted from ``start``, the beginning of a cluster.
    """
    before, after = text[place - 1], text[place]
    if before < "\u0300" and after < "\u0300":
        return before == "\r" and after == "\n"
    return (
        _extends(after)
        or before == _ZWJ
        or before in _LEADING
        or _is_syllable(before, after)
        or (_is_flag(before) and _is_flag(after) and _is_odd(text, place, start))
        or _is_conjunct(text, place)
    )


def _extends(char: str) -> bool:
    return (
        unicodedata.category(char)[0] == "M"
        or char in _EXTENDING
        or "\U0001f3fb" <= char <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= char <= "\U000e007f"  # tags, as in the flag of Wales
    )


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _is_odd(text: str, place: int, start: int) -> bool:
    run = place
    while run > start and _is_flag(text[run - 1]):
        run -= 1
    return (place - run) % 2 == 1


def _is_syllable(before: str, after: str) -> bool:
    """Hangul: leading consonants, vowels and trailing consonants, composed or not."""
    if _is_leading_jamo(before):
        return _is_leading_jamo(after) or _is_vowel_jamo(after) or "가" <= after <= "힣"
    if _is_vowel_jamo(before) or ("가" <= before <= "힣" and (ord(before) - 0xAC00) % 28 == 0):
        return _is_vowel_jamo(after) or _is_trailing_jamo(after)
    return (_is_trailing_jamo(before) or "가" <= before <= "힣") and _is_trailing_jamo(after)


def _is_leading_jamo(char: str) -> bool:
    return "\u1100" <= char <= "\u115f" or "\ua960" <= char <= "\ua97c"


def _is_vowel_jamo(char: str) -> bool:
    return "\u1160" <= char <= "\u11a7" or "\ud7b0" <= char <= "\ud7c6"


def _is_trailing_jamo(char: str) -> bool:
    return "\u11a8" <= char <= "\u11ff" or "\ud7cb" <= char <= "\ud7fb"


def _is_conjunct(text: str, place: int) -> bool:
    """A consonant after a virama, which may have a mark or two behind it."""
    if unicodedata.category(text[place]) != "Lo":
        return False
    for char in reversed(text[max(0, place - 3) : place]):
        if unicodedata.combining(char) == _VIRAMA:
            return char not in _FINAL
        if not _extends(char):
            return False
    return False
