"""The kinds of components, and the hook and description each belongs to."""

from __future__ import annotations

from typing import Final, Literal, get_args

Kind = Literal[
    "parser", "embedder", "index", "ranker", "tool", "source", "chunker", "surface", "resource"
]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

SURFACE_KINDS: Final[tuple[Kind, ...]] = ("surface", "resource")
"""Kinds that go with a tool: nobody makes a plugin of one of them alone."""

PLUGIN_KINDS: Final = tuple(kind for kind in KINDS if kind not in SURFACE_KINDS)
"""Kinds that ``plugin new`` makes a plugin of."""
