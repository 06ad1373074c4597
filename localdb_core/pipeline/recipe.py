"""How a document was made, kept beside it: what a later run compares before it looks at it.

The record stands in ``resources.chunking`` as compact JSON. It never goes on the wire.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Final

from blake3 import blake3

from localdb_core.domain.ids import CHUNK_ALGORITHM
from localdb_core.host.owned import Owned
from localdb_core.host.resolve import Chain
from localdb_core.pipeline.presets import Preset
from localdb_core.plugin import ChunkerSpec, ParserSpec, Spec

CHARACTERS: Final = "characters"
"""The measure of a document that was cut without an embedder."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What one document was cut with, and which parsers had their say about it.

    Attributes:
        preset, sizes: the preset of the file and its numbers, before a model caps them.
        measure: fingerprint of the embedder whose tokens were counted, or CHARACTERS.
        chunkers: the chunker of each block kind it has, as :func:`label` writes it.
        front_matter_read: its front matter became metadata, so it is no chunk.
        chain: digest of the parser chain it was last held against.
        declined: parsers that claimed the file before the one that read it, by label.
    """

    preset: str
    sizes: tuple[int, ...]
    measure: str
    chunkers: Mapping[str, str]
    front_matter_read: bool = False
    chain: str = ""
    declined: tuple[str, ...] = ()
    algorithm: str = CHUNK_ALGORITHM

    def to_text(self) -> str:
        """Compact JSON."""
        return json.dumps(asdict(self), separators=(",", ":"), sort_keys=True)


@lru_cache(maxsize=4096)  # most documents of a store share a few recipes
def read_recipe(text: str) -> Recipe | None:
    """The inverse of :meth:`Recipe.to_text`; None for a document from before it was kept."""
    try:
        value = json.loads(text)
        value["sizes"] = tuple(value["sizes"])
        value["declined"] = tuple(value["declined"])
        return Recipe(**value)
    except (ValueError, KeyError, TypeError):
        return None


def label(owned: Owned[Spec]) -> str:
    """``plugin/name version``: changes when the component or its version does."""
    version = getattr(owned.value, "version", "")
    return f"{owned.full_id} {version}"


@dataclass(frozen=True)
class Cutting:
    """How documents are cut now: the chunkers in the order they are asked, and the sizes."""

    chunkers: Sequence[Owned[ChunkerSpec]]
    presets: Mapping[str, Preset]

    def chunker(self, kind: str, preset: str) -> str | None:
        """Label of the chunker that gets blocks of this kind; None when nobody does."""
        for owned in self.chunkers:
            spec = owned.value
            if kind in spec.claims and (not spec.presets or preset in spec.presets):
                return label(owned)
        return None

    def sizes(self, preset: str) -> tuple[int, ...]:
        """The numbers of a preset, in the order of its fields."""
        return self.presets[preset].numbers

    def difference(self, recipe: Recipe, preset: str, measure: str | None) -> str | None:
        """Why a document would be cut otherwise now; None when it would not.

        ``measure`` None says nothing about the measure: there is no embedder now.
        """
        if recipe.algorithm != CHUNK_ALGORITHM:
            return f"texts are cut by {CHUNK_ALGORITHM}, no longer by {recipe.algorithm}"
        if recipe.preset != preset:
            return f"its preset is {preset}, no longer {recipe.preset}"
        if recipe.sizes != self.sizes(preset):
            return f"another chunk size ({_changed(recipe.sizes, self.sizes(preset))})"
        if measure is not None and recipe.measure != measure:
            return "its size was measured by another model"
        for kind, was_cut_by in recipe.chunkers.items():
            if (now_by := self.chunker(kind, preset)) != was_cut_by:
                return f"its {kind} is cut by {now_by}, no longer by {was_cut_by}"
        return None


def _changed(was: Sequence[int], now: Sequence[int]) -> str:
    old, new = Preset.named(was), Preset.named(now)
    return ", ".join(
        f"{key} {old.get(key)} to {new[key]}" for key in new if old.get(key) != new[key]
    )


def chain_digest(chain: Chain) -> str:
    """Changes when a parser comes, goes, moves, claims other files or has a new version."""
    described = [[label(owned), *_claims(owned.value)] for owned in chain.parsers]
    split = len(chain.configured)
    return blake3(json.dumps([split, described]).encode()).hexdigest(length=8)


def _claims(spec: ParserSpec) -> list[list[str]]:
    magic = [prefix.hex() for prefix in spec.magic]
    return [list(spec.media_types), list(spec.suffixes), list(spec.filenames), magic]
