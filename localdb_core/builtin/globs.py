"""Glob patterns over relative paths: ``*`` and ``?`` never cross ``/``, ``**`` does."""

from __future__ import annotations

import re
from collections.abc import Sequence

_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|\{[^{}]*\}|.", re.DOTALL)
MAGIC = re.compile(r"[*?\[{]")


class Globs:
    """Several patterns; a path matches when one of them does.

    Globs(("**/*.md", "docs/{a,b}/**")).match("docs/a/x.txt")
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._literal = frozenset(map(_tidy, patterns))
        parts = [_translate(_tidy(pattern)) for pattern in patterns]
        self._regex = re.compile("|".join(parts), re.DOTALL) if parts else None

    def match(self, path: str) -> bool:
        """Whether the whole path matches, or is one of the patterns letter for letter."""
        if path in self._literal:
            return True
        return self._regex is not None and self._regex.fullmatch(path) is not None


def _tidy(pattern: str) -> str:
    return pattern.removeprefix("./").rstrip("/") or pattern


def _translate(pattern: str) -> str:
    return "(?:" + "".join(map(_piece, _TOKEN.findall(pattern))) + ")"


def _piece(token: str) -> str:
    simple = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if token in simple:
        return simple[token]
    if len(token) > 2 and token[0] == "[":
        return _character_class(token)
    if len(token) > 1 and token[0] == "{":
        return "(?:" + "|".join(_translate(part) for part in token[1:-1].split(",")) + ")"
    return re.escape(token)


def _character_class(token: str) -> str:
    inner = token[1:-1]
    negated = inner.startswith("!")
    members = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner.removeprefix("!"))
    pattern = f"(?!/)[{'^' if negated else ''}{members}]"
    try:
        re.compile(pattern)
    except re.error:  # such as a range that runs backwards: nobody meant a class
        return re.escape(token)
    return pattern
