"""Plain text as Markdown that means the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SPECIAL = re.compile(r"([\\`*\[\]<>~|&])|(?<![^\W_])(_)|(_)(?![^\W_])")
_AT_START = re.compile(r"^(#{1,6}(?=\s|$)|[-+=](?=[-+=\s]|$)|\d{1,9}(?=[.)](?:\s|$)))")
_SPACE = re.compile(r"\s+")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")


def escape(text: str) -> str:
    """One line of running text; white space is collapsed."""
    line = escape_inline(text)
    start = _AT_START.match(line)
    if start is None:
        return line
    # "1." becomes "1\.", every other mark gets its backslash in front.
    if start[0][0].isdecimal():
        return f"{start[0]}\\{line[start.end() :]}"
    return f"\\{line}"


def escape_inline(text: str) -> str:
    """Text inside a line: a cell, or a heading."""
    clean = _SPACE.sub(" ", _UNPRINTABLE.sub("", text)).strip()
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", clean)


def heading(text: str, *, level: int) -> str:
    """A heading; levels beyond six count as six."""
    return f"{'#' * max(1, min(6, level))} {escape_inline(text)}"


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """A table whose first row is the header; short rows are padded."""
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    padded = [[escape_inline(cell) for cell in row] + [""] * (width - len(row)) for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in padded]
    lines.insert(1, f"|{' --- |' * width}")
    return "\n".join(lines)
