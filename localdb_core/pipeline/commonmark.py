"""The CommonMark reader, and how much work a text may be for it.

The library's work grows with the text times its nesting: a paragraph that goes on below
a quote 38 deep costs 38 visits a line. What people write costs one to three.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

LONGEST: Final = 16 * 1024 * 1024
"""Characters."""

DEEPEST: Final = 40
"""Quotes and lists within each other."""

VISITS_PER_LINE: Final = 8
FREE_VISITS: Final = 10_000

_NESTED = re.compile(rf"^(?:[ \t]*(?:>|[-+*](?=[ \t])|\d{{1,9}}[.)](?=[ \t]))){{{DEEPEST}}}", re.M)
_LEFT = "visits left"
_TERMINATES = ("paragraph", "reference", "blockquote", "list")


class Unstructured(Exception):
    """Nobody wrote this as Markdown: it is too long or too deep for its structure to mean much.

    The message says why, in words that can follow the document's name.
    """


@lru_cache(maxsize=1)
def engine() -> MarkdownIt:
    """CommonMark with tables, strikethrough, definition lists and footnotes."""
    from markdown_it import MarkdownIt  # 40 ms
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    made = MarkdownIt("commonmark", {"maxNesting": DEEPEST})
    made.enable(["table", "strikethrough"])
    made.use(deflist_plugin)
    made.use(footnote_plugin, inline=False, move_to_end=False)
    made.block.ruler.before("table", "visits", _visit, {"alt": list(_TERMINATES)})
    return made


def block_tokens(text: str, environment: dict[str, object]) -> list[Token]:
    """The block tokens of a text; references it defines go into the environment.

    Raises:
        Unstructured: it is too long, too deep or too much work.
    """
    if len(text) > LONGEST:
        raise Unstructured(f"longer than {LONGEST // 1024**2} MiB")
    if _NESTED.search(text):
        raise Unstructured(f"nested {DEEPEST} deep")
    reader, tokens = engine(), list["Token"]()
    environment[_LEFT] = VISITS_PER_LINE * text.count("\n") + FREE_VISITS
    reader.block.parse(text, reader, environment, tokens)
    if any(token.level >= DEEPEST - 1 for token in tokens):
        raise Unstructured(f"nested {DEEPEST} deep")
    return tokens


def _visit(state: StateBlock, _start: int, _end: int, _silent: bool) -> bool:  # noqa: FBT001 - the library's signature
    """A rule that takes nothing and counts how often the reader looks at a line."""
    left = state.env[_LEFT] = state.env.get(_LEFT, FREE_VISITS) - 1
    if left < 0:
        raise Unstructured("nested too deep for so long a text")
    return False
