"""Authors and editors, as a reader would write them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from localdb_bibtex.latex import plain

_SPLIT = re.compile(r"[{}]|\s+and\s+|,", re.IGNORECASE)
OTHERS = "others"


def people(value: str) -> tuple[str, ...]:
    """``First von Last`` of each. A name in braces, such as a company's, stays whole."""
    found = (_person(parts) for parts in _split(value))
    return tuple(name for name in found if name)


def _split(value: str) -> Iterator[list[str]]:
    """Each person's name at its commas; neither ``and`` nor a comma counts within braces."""
    depth = begun = 0
    parts: list[str] = []
    for mark in _SPLIT.finditer(value):
        if mark[0] in "{}":
            depth += 1 if mark[0] == "{" else -1
        elif depth == 0:
            parts.append(value[begun : mark.start()])
            begun = mark.end()
            if mark[0] != ",":
                yield parts
                parts = []
    yield [*parts, value[begun:]]


def _person(parts: list[str]) -> str:
    """From ``First von Last``, ``von Last, First`` or ``von Last, Jr, First``."""
    written = [plain(part) for part in parts]
    last, *between = written[:-1] if len(written) > 1 else written
    first = written[-1] if len(written) > 1 else ""
    return " ".join(filter(None, (first, last, *between)))
