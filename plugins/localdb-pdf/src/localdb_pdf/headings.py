"""Which lines of a page are headings: those the outline names, unless they cannot be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pypdf import PdfReader

_MOST_BOOKMARKS = 20_000
_LONGEST = 200
_JOINED = 2  # a title may be wrapped over so many lines
_ENDINGS = tuple(",;-\u2014(")
_FUNCTION_WORDS = frozenset(
    "and the of to with an from by as than into onto upon".split()  # noqa: SIM905 - one line
)
_NUMBER = re.compile(
    r"(?:(?:chapter|section|part|appendix)\s+)?(?:\d+|[A-Z]|[IVXLC]+)(?:\.\d+)*[.):]?\s+",
    re.IGNORECASE,
)
_SENTENCE_BREAK = re.compile(r"\w{3,}[.!?]\s+\S")
_SHELL = re.compile(r"[$%>#]\s|\.{0,2}/\w|[A-Z_]+=\S|[A-Z]:\\")


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the outline; ``depth`` counts from 1."""

    title: str
    depth: int


def bookmarks_by_page(reader: PdfReader) -> dict[int, list[Bookmark]]:
    """The outline by page index, in its own order; empty when it cannot be read."""
    pages: dict[int, list[Bookmark]] = {}
    try:
        for count, (entry, depth) in enumerate(_walk(reader.outline, 1)):
            if count >= _MOST_BOOKMARKS:
                break
            page = reader.get_destination_page_number(entry)
            if page is not None and entry.title:
                pages.setdefault(page, []).append(Bookmark(str(entry.title), depth))
    except Exception:  # noqa: BLE001 - a damaged outline may raise anything; the text still counts
        return {}
    return pages


def _walk(entries: Sequence[Any], depth: int) -> Iterator[tuple[Any, int]]:
    """Destinations with their depth. Any: pypdf nests lists in lists."""
    for entry in entries:
        if isinstance(entry, list):
            yield from _walk(entry, depth + 1)
        else:
            yield entry, depth


def find_headings(
    lines: Sequence[str], bookmarks: Sequence[Bookmark]
) -> Mapping[int, tuple[int, str, int]]:
    """First line → (lines it takes, its text, its level), for each bookmark found."""
    keys = [_keys(line) for line in lines]
    found: dict[int, tuple[int, str, int]] = {}
    taken: set[int] = set()
    for bookmark in bookmarks:
        place = _place(lines, keys, _keys(bookmark.title), taken)
        if place is None:
            continue
        first, count = place
        text = " ".join(lines[first : first + count])
        taken.update(range(first, first + count))
        if "\n" not in bookmark.title.strip() and may_be_heading(text):
            found[first] = (count, text, bookmark.depth)
    return found


def _place(
    lines: Sequence[str], keys: Sequence[frozenset[str]], wanted: frozenset[str], taken: set[int]
) -> tuple[int, int] | None:
    for first in range(len(lines)):
        if first in taken or not keys[first]:
            continue
        if keys[first] & wanted:
            return first, 1
        if any(title.startswith(key) for title in wanted for key in keys[first]):
            joined = " ".join(lines[first : first + _JOINED])
            if _keys(joined) & wanted and first + 1 not in taken:
                return first, _JOINED
    return None


def _keys(text: str) -> frozenset[str]:
    """What two spellings of one title share: letters and digits, with or without its number."""
    spellings = (_letters(text), _letters(_NUMBER.sub("", text.strip(), count=1)))
    return frozenset(key for key in spellings if key)


def _letters(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


def may_be_heading(text: str) -> bool:
    """Whether a line can stand as a heading; doubtful ones stay running text."""
    text = text.strip()
    if not text or len(text) > _LONGEST or "\n" in text:
        return False
    if text[0].islower() or text.endswith(_ENDINGS):
        return False
    if text.split()[-1].lower() in _FUNCTION_WORDS:
        return False
    return not (_SENTENCE_BREAK.search(_NUMBER.sub("", text, count=1)) or _SHELL.match(text))
