"""Plain lines as Markdown that reads back as the same words."""

from __future__ import annotations

import re

# What would be markup inside a line: escapes, code, emphasis, tags, entities, links,
# footnotes, strikethrough.
_INLINE = re.compile(
    r"""\\(?=[!-/:-@\[-`{-~]|$)     # a backslash that would escape, or break the line
      | `
      | \*(?!\s) | (?<=\S)\*        # not a star that stands alone
      | (?<![^\W_])_ | _(?![^\W_])  # not the underscore inside a_name
      | <(?=[A-Za-z/!?])
      | &(?=\#?\w{1,32};)
      | \](?=[(\[:]) | \[(?=\^)
      | ~(?=~) | (?<=~)~
    """,
    re.VERBOSE,
)
_NUMBERED = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
# What would be structure at the start of a line: headings, quotes, lists, underlines
# and rules, tables, definitions.
_STRUCTURE = re.compile(
    r"\#{1,6}(?=\s|$) | > | [-+*](?=\s|$) | =+\s*$ | -+\s*(?=\||$) | -+: | [|:] | ~(?=\s)",
    re.VERBOSE,
)
_TRAILING_HASHES = re.compile(r"#+$")


def escape_line(line: str) -> str:
    """One line of running text; leading white space would make it code, so it goes."""
    line = line.strip()
    if _STRUCTURE.match(line):
        return "\\" + line[0] + _inline(line[1:])
    if numbered := _NUMBERED.match(line):
        digits, mark = numbered.groups()
        return f"{digits}\\{mark}" + _inline(line[numbered.end() :])
    return _inline(line)


def heading_line(text: str, *, level: int) -> str:
    """An ATX heading; closing hashes of the text itself stay text."""
    escaped = _inline(" ".join(text.split()))
    escaped = _TRAILING_HASHES.sub(lambda hashes: hashes[0].replace("#", "\\#"), escaped)
    return f"{'#' * min(max(level, 1), 6)} {escaped}"


def _inline(text: str) -> str:
    return _INLINE.sub(lambda found: "\\" + found[0], text)
