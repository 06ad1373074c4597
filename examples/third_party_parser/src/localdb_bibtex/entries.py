"""The grammar: entries with their fields, macros replaced, damage named by its line.

Every step goes forward only, and braces are counted, not followed, so that time grows
with the file's size whatever is in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Self

from localdb_core.domain import ExtractionFailed

_START = re.compile(r"^[ \t]*@[ \t]*[^\W\d]\w*[ \t]*[{(]", re.MULTILINE)
_ENTRY = re.compile(r"@[ \t]*([^\W\d]\w*)[ \t]*([{(])")
_SPACE = re.compile(r"\s*")
_KEYS: Final = {"}": re.compile(r"[^,{}\s]*"), ")": re.compile(r"[^,{})\s]*")}
_NAME = re.compile(r"[^\W\d][^\s{}(),=\"#%'@]*")
_NUMBER = re.compile(r"\d+")
_BRACE = re.compile(r"[{}]")
_QUOTE_OR_BRACE = re.compile(r"[\"{}]")

_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_TOLD: Final = 5
"""Damaged places that are named; one line has to hold them."""

_GROWTH: Final = 10
_GROWTH_FREE: Final = 1_000_000
"""Characters that macros may make of a file: so many times its size, and these besides."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One reference: lower-case type and field names, values as they were written."""

    type: str
    key: str
    fields: dict[str, str]
    line: int


@dataclass
class Bibliography:
    """What a file holds, and what is wrong with it.

    Attributes:
        allowance: characters that may still be made of macros and inherited fields.
        damage: the first damaged places, with their lines.
        damaged: how many there are.
    """

    allowance: int
    entries: list[Entry] = field(default_factory=list)
    damage: list[str] = field(default_factory=list)
    damaged: int = 0

    @classmethod
    def of(cls, text: str) -> Self:
        """An empty one for this text."""
        return cls(allowance=len(text) * _GROWTH + _GROWTH_FREE)

    def complain(self, line: int, what: str) -> None:
        """Note what is wrong in a line."""
        self.damaged += 1
        if len(self.damage) < _TOLD:
            self.damage.append(f"line {line}: {what}")

    def spend(self, size: int) -> None:
        """Raises ExtractionFailed when values have grown beyond all proportion."""
        self.allowance -= size
        if self.allowance < 0:
            raise ExtractionFailed(
                "its @string macros or crossrefs grow to many times the file's size; "
                "write those values out, or split the file"
            )


class _Damaged(Exception):
    """The entry ends here; what is wrong, and the offset."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(what)
        self.at = at


def looks_like_bibtex(text: str) -> bool:
    """Whether there is anything that begins like an entry."""
    return _ENTRY.search(text) is not None


def read(text: str, into: Bibliography) -> Iterator[int]:
    """Read entry by entry; yields how far it came.

    An entry that does not end goes no further than the next line that begins one, so
    a brace that was forgotten costs one reference. Raises ExtractionFailed.
    """
    macros = {name[:3].lower(): name for name in _MONTHS}
    starts = [match.start() for match in _START.finditer(text)]
    if not starts or _ENTRY.search(text, 0, starts[0]):
        starts.insert(0, 0)
    lines = _Lines(text)
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        _Piece(text, start, end, lines, macros, into).read()
        yield end


class _Lines:
    """Line numbers of offsets that never go back, so that each line is counted once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line = 1
        self._counted = 0

    def of(self, at: int) -> int:
        """The line of an offset, from 1."""
        self._line += self._text.count("\n", self._counted, at)
        self._counted = max(self._counted, at)
        return self._line


class _Piece:
    """The text from one line that begins an entry to the next one."""

    def __init__(
        self,
        text: str,
        start: int,
        end: int,
        lines: _Lines,
        macros: dict[str, str],
        found: Bibliography,
    ) -> None:
        self._text = text
        self._at = start
        self._end = end
        self._lines = lines
        self._macros = macros
        self._found = found

    def read(self) -> None:
        """Everything in it; what stands between entries is a comment."""
        while head := _ENTRY.search(self._text, self._at, self._end):
            self._at = head.end()
            line = self._lines.of(head.start())
            try:
                self._entry(head[1].lower(), "}" if head[2] == "{" else ")", line)
            except _Damaged as damaged:
                what = f"{damaged} (@{head[1][:40]} of line {line})"
                self._found.complain(self._lines.of(damaged.at), what)
                return

    def _entry(self, kind: str, closing: str, line: int) -> None:
        if kind == "comment":
            return  # what is in it is skipped like any text between entries
        if kind == "preamble":
            self._value()
        elif kind == "string":
            for name, value in self._fields(closing):
                self._macros[name] = value
            return
        else:
            self._reference(kind, closing, line)
            return
        self._expect(closing)

    def _reference(self, kind: str, closing: str, line: int) -> None:
        self._skip()
        key = self._take(_KEYS[closing])
        entry = Entry(kind, key, {}, line)
        self._skip()
        ends_at_once = self._peek() == closing
        if not ends_at_once:
            self._expect(",")
        try:
            for name, value in self._fields(closing):
                entry.fields.setdefault(name, value)
        finally:  # what was read before the damage is worth keeping
            if entry.fields or ends_at_once:
                self._found.entries.append(entry)

    def _fields(self, closing: str) -> Iterator[tuple[str, str]]:
        """``name = value`` with commas between, up to the end of the entry."""
        while True:
            self._skip()
            if self._peek() == closing:
                self._at += 1
                return
            name = self._take(_NAME).lower()
            if not name:
                raise _Damaged(self._instead("a field's name"), self._at)
            self._expect("=")
            yield name, self._value()
            self._skip()
            if self._peek() == ",":
                self._at += 1
            elif self._peek() != closing:
                raise _Damaged(self._instead(f"',' or '{closing}'"), self._at)

    def _value(self) -> str:
        """Braces, quotes, numbers and macros, joined by ``#``."""
        parts = [self._part()]
        while True:
            self._skip()
            if self._peek() != "#":
                return "".join(parts)
            self._at += 1
            parts.append(self._part())

    def _part(self) -> str:
        self._skip()
        match self._peek():
            case "{":
                return self._enclosed(_BRACE, "}")
            case '"':
                return self._enclosed(_QUOTE_OR_BRACE, '"')
        if number := self._take(_NUMBER):
            return number
        name = self._take(_NAME)
        if not name:
            raise _Damaged(self._instead("a value"), self._at)
        value = self._macros.get(name.lower())
        if value is None:
            what = f"no @string defines '{name[:40]}'"
            self._found.complain(self._lines.of(self._at), what)
            return name
        self._found.spend(len(value))
        return value

    def _enclosed(self, marks: re.Pattern[str], closing: str) -> str:
        """What is between here and the mark that closes it, outside of inner braces."""
        begun, depth = self._at, 0
        self._at += 1
        for mark in marks.finditer(self._text, self._at, self._end):
            if depth == 0 and mark[0] == closing:
                inside = self._text[self._at : mark.start()]
                self._at = mark.end()
                return inside
            depth += {"{": 1, "}": -1}.get(mark[0], 0)
            if depth < 0:
                raise _Damaged("a '}' without its '{'", mark.start())
        raise _Damaged(f"no '{closing}' ends the value that begins here", begun)

    def _skip(self) -> None:
        self._take(_SPACE)

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at, self._end)
        if found is None:
            return ""
        self._at = found.end()
        return found[0]

    def _peek(self) -> str:
        return self._text[self._at] if self._at < self._end else ""

    def _expect(self, mark: str) -> None:
        self._skip()
        if self._peek() != mark:
            raise _Damaged(self._instead(f"'{mark}'"), self._at)
        self._at += 1

    def _instead(self, wanted: str) -> str:
        there = self._peek()
        return f"expected {wanted}, " + (f"found {there!r}" if there else "the entry ends")
