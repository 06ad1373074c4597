"""Where front matter ends: read as metadata by a parser, kept as a block by the pipeline."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_LENGTH = 64 * 1024
"""A fence that closes further away than this is two horizontal rules, not front matter."""

_OPENING = re.compile(r"(---|\+\+\+)[ \t]*(?:\r\n|\n)")
_CLOSING = {
    "---": re.compile(r"^---[ \t]*(?:\r\n|\n|\Z)", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*(?:\r\n|\n|\Z)", re.MULTILINE),
}
_FORMATS = {"---": "yaml", "+++": "toml"}


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The body between the fences, and where the document goes on (in characters)."""

    format: str
    body: str
    end: int


def split_front_matter(text: str) -> FrontMatter | None:
    """The front matter a text begins with (L-PAR-20), or None."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    fence = opening.group(1)
    closing = _CLOSING[fence].search(text, opening.end(), opening.end() + MAX_LENGTH)
    if closing is None:
        return None
    body = text[opening.end() : closing.start()].rstrip("\r\n")
    return FrontMatter(_FORMATS[fence], body, closing.end())
