"""Shortening a text for people, at the best boundary near a soft limit (spec §7.1)."""

from __future__ import annotations

import re

# A terminator, at most one closing mark, then white space or the end of the text.
_SENTENCE_END = re.compile(r"[.!?][\"')\]）]?(?=\s|\Z)")


def cut(text: str, cap: int) -> tuple[str, bool]:
    """The text, shortened to about ``cap`` code points, and whether words were left out.

    The result is at most ``cap + cap // 5`` long and carries no ellipsis; whoever
    renders it appends ``…`` when the second value is true.
    """
    if len(text) <= cap:
        return text, False
    end = _boundary(text, cap)
    kept = text[:end].rstrip() or text[:end]
    return kept, bool(text[end:].strip())


def _boundary(text: str, cap: int) -> int:
    first, last = cap // 2, min(cap + cap // 5, len(text))
    blank_line = text.rfind("\n\n", first, last)
    if blank_line > 0:
        return blank_line
    sentence = _last_sentence_end(text, first, last)
    if sentence:
        return sentence
    return next((place for place in range(cap, 0, -1) if text[place].isspace()), cap)


def _last_sentence_end(text: str, first: int, last: int) -> int:
    found = 0
    # No end position here: the look-ahead must see the character after the window.
    for match in _SENTENCE_END.finditer(text, first):
        if match.end() > last:
            break
        found = match.end()
    return found
