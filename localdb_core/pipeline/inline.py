"""Inline Markdown and HTML to plain text (L-PAR-26)."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST = 200_000
MOST_MARKS = 2_000
MOST_BRACKETS = 400
"""Beyond any of these, a paragraph is taken as it is: nobody wrote it as markup.

The reader looks ahead from each opening bracket, so these cost it most.
"""

Image = tuple[str, str | None]

_MARK = re.compile(r"[\\`*_~\[\]!<&]")
_PLAIN = re.compile(r"[^\\`*_~\[\]<&]*")
_SPACE = re.compile(r"[ \t]*\n[ \t]*")
_TAG = re.compile(r"<[^<>]*>")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_HIDDEN = re.compile(r"<(script|style)\b[^<>]*>", re.IGNORECASE)
_BREAKING = re.compile(
    r"</?(?:p|div|br|hr|li|ul|ol|dl|dt|dd|tr|td|th|h[1-6]|section|table|details|summary)\b[^<>]*>",
    re.IGNORECASE,
)


class Flattener:
    """Text of paragraphs, cells and headings of one document."""

    def __init__(self, engine: MarkdownIt, environment: dict[str, object]) -> None:
        self._engine = engine
        self._environment = environment

    def flatten(self, content: str, *, keep_alt: bool = False) -> tuple[str, list[Image]]:
        """Plain text and the images in it; ``keep_alt`` leaves their alt text in place."""
        if _PLAIN.fullmatch(content) or self._is_noise(content):
            return _one_line(content), []
        tokens: list[Token] = []
        self._engine.inline.parse(content, self._engine, self._environment, tokens)
        images: list[Image] = []
        parts: list[str] = []
        gap = False  # the text so far ends in a space, and the next must not begin with one
        for token in tokens:
            text = _text(token)
            if token.type == "image":
                alt = _one_line(_text_of(token.children or []))
                images.append((alt, _source(token)))
                text = alt if keep_alt else ""
            if text.isspace() or not text:
                gap = gap or bool(parts and (text or parts[-1].endswith(" ")))
                continue
            parts.append(" " + text.lstrip(" ") if gap else text)
            gap = False
            if text.endswith(" ") and token.type == "text":
                parts[-1], gap = parts[-1].rstrip(" "), True
        return _one_line("".join(parts)), images

    @staticmethod
    def _is_noise(content: str) -> bool:
        if len(content) <= MOST_BRACKETS:
            return False
        if content.count("[") > MOST_BRACKETS:
            return True
        return len(content) > LONGEST or len(_MARK.findall(content)) > MOST_MARKS

    @staticmethod
    def html(content: str) -> str:
        """The words of an HTML block."""
        shown = _without_hidden(_without_comments(content))
        shown = _BREAKING.sub("\n", shown)
        lines = (" ".join(line.split()) for line in _TAG.sub("", shown).split("\n"))
        return html.unescape("\n".join(line for line in lines if line))


def _text(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak") or _BREAK.fullmatch(token.content):
        return " "
    if token.type in ("text", "text_special", "code_inline"):
        return token.content
    return _text_of(token.children) if token.children else ""


def _text_of(tokens: list[Token]) -> str:
    return "".join(map(_text, tokens))


def _source(token: Token) -> str | None:
    source = token.attrGet("src")
    return str(source) if source else None


def _one_line(text: str) -> str:
    return (_SPACE.sub(" ", text) if "\n" in text else text).strip()


def _without_comments(text: str) -> str:
    kept, place = [], 0
    while (start := text.find("<!--", place)) >= 0:
        kept.append(text[place:start])
        end = text.find("-->", start + 4)
        if end < 0:
            return "".join(kept)
        place = end + 3
    kept.append(text[place:])
    return "".join(kept)


def _without_hidden(text: str) -> str:
    kept, place = [], 0
    lowered = text.lower()
    while opening := _HIDDEN.search(text, place):
        kept.append(text[place : opening.start()])
        end = lowered.find(f"</{opening.group(1).lower()}", opening.end())
        if end < 0:
            return "".join(kept)
        place = end
    kept.append(text[place:])
    return "".join(kept)
