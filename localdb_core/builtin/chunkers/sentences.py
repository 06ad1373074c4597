"""Where text may be cut, from paragraphs down to characters, in any script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum

from localdb_core.builtin.chunkers.clusters import next_cut

# What closes a sentence, and what may still follow it: quotes, brackets.
_END = re.compile(r"""([.!?…؟۔։]+|[。！？｡．।॥።။។៕།]+)["'”’»)\]」』】）〉》]*""")
# Marks that end a sentence only before white space; decimals and names hold them too.
_NEEDS_SPACE = frozenset(".!?…؟۔։")
_LINE_END = re.compile(r"\n\s*")
_WORD = re.compile(r"\S+\s*")
_CLAUSE_ENDS = frozenset(",;:—–，、；：،؛၊៖")
_CLAUSE = re.compile(r"[^，、；：・၊៖]*[，、；：・၊៖]+|[^，、；：・၊៖]+")
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
# The end of a word of them; where such a script has spaces, they stand between phrases.
_PHRASE_END = re.compile("[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u4e00-\u9fff]")


class Boundary(IntEnum):
    """What ends where a cut is made; the higher, the better a place."""

    CHARACTER = 0
    WORD = 1
    CLAUSE = 2
    SENTENCE = 3
    LINE = 4
    PARAGRAPH = 5


Part = tuple[int, int, Boundary]


def is_structureless(text: str, *, longest_run: int, longest_line: int) -> bool:
    """Whether this is no prose but minified code, data or a dump (L-CHK-30).

    It is when it has a longer run without white space than ``longest_run`` characters,
    or a line above ``longest_line`` that goes on for ``longest_run`` characters without
    the end of a sentence: a chapter on one line is prose. So are scripts that do not
    separate their words.
    """
    if any(_is_unbroken(run, longest_run) for run in text.split()):
        return True
    return any(
        _is_unbroken(text[start:end], longest_run)
        for line in _long_lines(text, longest_line)
        for start, end, _ in _in_line(text, *line, Boundary.LINE)
    )


def _is_unbroken(part: str, limit: int) -> bool:
    return len(part) > limit and len(_UNSPACED.findall(part)) * 2 < len(part)


def _long_lines(text: str, limit: int) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.split("\n"):
        if len(line) > limit:
            yield start, start + len(line)
        start += len(line) + 1


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
        if not _ends_here(text, mark, end):
            continue
        while place < end and text[place].isspace():
            place += 1
        if place < end:
            yield start, place, Boundary.SENTENCE
            start = place
    yield start, end, last


def _ends_here(text: str, mark: re.Match[str], end: int) -> bool:
    place = mark.end()
    if mark.group(1)[-1] not in _NEEDS_SPACE:
        return not (mark.group() == "．" and text[place : place + 1].isdigit())
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
            pauses = shown[-1:] in _CLAUSE_ENDS or _PHRASE_END.match(shown[-1:])
            boundary = Boundary.CLAUSE if pauses else Boundary.WORD
            yield start, place, last if place == end else boundary
            start = place
    if start < end:
        yield start, end, last


def characters(text: str, part: Part, length: int) -> Iterator[Part]:
    """A word in runs of about ``length`` characters, never inside a cluster."""
    start, end, last = part
    while end - start > length:
        place = next_cut(text, start + max(1, length), start, end)
        if place >= end:
            break
        yield start, place, Boundary.CHARACTER
        start = place
    yield start, end, last
