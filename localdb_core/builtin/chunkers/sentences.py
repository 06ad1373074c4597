"""Where text may be cut, from paragraphs down to characters, in any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import IntEnum

# What closes a sentence, and what may still follow it: quotes, brackets.
_END = re.compile(r"""([.!?…]+|[。！？｡．।॥؟۔։።၊။។៕]+)["'”’»)\]」』】）〉》]*""")
_FULL_WIDTH = frozenset("。！？｡．")
_LINE_END = re.compile(r"\n\s*")
_WORD = re.compile(r"\S+\s*")
_CLAUSE_ENDS = frozenset(",;:—–，、；：،؛")
_CLAUSE = re.compile(r"[^，、；：・]*[，、；：・]+|[^，、；：・]+")
_ABBREVIATION = re.compile(
    "al|approx|art|cf|ch|chap|dept|dr|eds?|eg|etc|figs?|hr|ie|inc|jr|mme|mrs?|ms|nos?|nr|op|pp?"
    "|prof|resp|rev|sec|sr|st|vgl|vol|vs"
)
# Scripts written without spaces between words.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf"
    "\u3005-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
    "\U00020000-\U0003ffff]"
)
_JOINERS = frozenset("\u200d\u200c\u0e33\u0eb3")


class Boundary(IntEnum):
    """What ends where a cut is made; the higher, the better a place."""

    CHARACTER = 0
    WORD = 1
    CLAUSE = 2
    SENTENCE = 3
    LINE = 4
    PARAGRAPH = 5


Part = tuple[int, int, Boundary]


def is_structureless(text: str, limit: int) -> bool:
    """Whether a longer run without white space than ``limit`` is no prose (L-CHK-30).

    Scripts that do not separate words are prose all the same.
    """
    for run in text.split():
        if len(run) > limit and len(_UNSPACED.findall(run)) * 2 < len(run):
            return True
    return False


def sentences(text: str) -> Iterator[Part]:
    """Consecutive parts that cover the text, white space at their ends included."""
    start = 0
    for newline in _LINE_END.finditer(text):
        if newline.start() == start or newline.end() == len(text):
            continue
        boundary = Boundary.PARAGRAPH if newline.group().count("\n") > 1 else Boundary.LINE
        yield from _in_line(text, start, newline.end(), boundary)
        start = newline.end()
    if start < len(text):
        yield from _in_line(text, start, len(text), Boundary.PARAGRAPH)


def _in_line(text: str, start: int, end: int, last: Boundary) -> Iterator[Part]:
    for mark in _END.finditer(text, start, end):
        place = mark.end()
        if mark.group(1)[-1] not in _FULL_WIDTH and not _ends_here(text, mark, end):
            continue
        while place < end and text[place].isspace():
            place += 1
        if place < end:
            yield start, place, Boundary.SENTENCE
            start = place
    yield start, end, last


def _ends_here(text: str, mark: re.Match[str], end: int) -> bool:
    place = mark.end()
    if place >= end or not text[place].isspace():
        return False
    after = text[place : place + 8].lstrip()[:1]
    if after.islower():
        return False
    if mark.group(1) != ".":
        return True
    word = text[max(0, mark.start() - 12) : mark.start()].split()[-1:]
    before = word[0].lstrip("([\"'“‘").lower() if word else ""
    is_initial = len(before) == 1 and before.isalpha()
    is_short = _ABBREVIATION.fullmatch(before) or before.endswith((".g", ".e", ".b"))
    return not is_initial and not is_short


def words(text: str, part: Part) -> Iterator[Part]:
    """A sentence in words; in unspaced scripts, in clauses."""
    start, end, last = part
    for word in _WORD.finditer(text, start, end):
        for clause in _CLAUSE.finditer(text, word.start(), word.end()):
            place = end if word.end() == end and clause.end() == word.end() else clause.end()
            shown = clause.group().rstrip()
            boundary = Boundary.CLAUSE if shown[-1:] in _CLAUSE_ENDS else Boundary.WORD
            if clause.end() < word.end():
                boundary = Boundary.CLAUSE
            yield start, place, last if place == end else boundary
            start = place
    if start < end:
        yield start, end, last


def characters(text: str, part: Part, length: int) -> Iterator[Part]:
    """A word in runs of about ``length`` characters, never inside one that is composed."""
    start, end, last = part
    while end - start > length:
        place = start + max(1, length)
        while place < end and _continues(text, place):
            place += 1
        if place >= end:
            break
        yield start, place, Boundary.CHARACTER
        start = place
    yield start, end, last


def _continues(text: str, place: int) -> bool:
    char = text[place]
    return char in _JOINERS or text[place - 1] == "\u200d" or unicodedata.category(char)[0] == "M"
