"""The kinds of components, and the hook and description each belongs to."""

from __future__ import annotations

from typing import Final, Literal, get_args

Kind = Literal[
    "parser", "embedder", "index", "ranker", "tool", "source", "chunker", "surface", "resource"
]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
