"""Boundaries for excerpts (L-SRCH-20)."""

from __future__ import annotations

from typing import Final

ELLIPSIS: Final = "…"

_ENDINGS: Final = ".!?"
_CLOSERS: Final = "\"')]）"


def cut(text: str, cap: int) -> tuple[str, bool]:
    """The beginning of ``text``, about ``cap`` characters, and whether anything was left out.

    Ends at a blank line, else a sentence, else a word; never longer than
    ``cap + cap // 5``. The caller appends :data:`ELLIPSIS` when it was shortened.
    """
    if len(text) <= cap:
        return text, False
    start, stop = cap // 2, min(cap + cap // 5, len(text))
    end = _blank_line(text, start, stop) or _sentence(text, start, stop) or _word(text, cap) or cap
    kept = text[:end]
    return kept.rstrip() or kept, end < len(text)


def excerpt(text: str, cap: int) -> str:
    """:func:`cut` with an ellipsis where something was left out."""
    kept, shortened = cut(text, cap)
    return kept + ELLIPSIS if shortened else kept


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def _blank_line(text: str, start: int, stop: int) -> int:
    return max(text.rfind("\n\n", start, stop), 0)


def _sentence(text: str, start: int, stop: int) -> int:
    for place in range(stop - 1, start - 1, -1):
        if text[place] not in _ENDINGS:
            continue
        end = place + 1
        if end < stop and text[end] in _CLOSERS:
            end += 1
        # The character after the window decides, too: "3." before "14" ends no sentence.
        if end == len(text) or text[end].isspace():
            return end
    return 0


def _word(text: str, cap: int) -> int:
    for place in range(min(cap, len(text) - 1), 0, -1):
        if text[place].isspace():
            return place
    return 0
