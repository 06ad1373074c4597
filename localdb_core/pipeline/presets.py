"""Presets: how large chunks are, and which preset a file gets (spec §5.1, §5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace

from localdb_core.domain import InvalidRequest
from localdb_core.domain.formats import CODE_SUFFIXES, LOCKFILES, suffix_of
from localdb_core.plugin import Embedder, Measure, Sizing

CHARACTERS_PER_TOKEN = 4
"""Scales token numbers when there is no tokenizer (L-CHK-01)."""

CHARACTERS_OF_A_TOKEN = 8
"""The most that count as one token. A tokenizer that does not know a script takes a whole
sentence of it, or a page of base64, for one unknown token; no chunk may grow by that."""

SPECIAL_TOKENS = 2


@dataclass(frozen=True, slots=True)
class Preset:
    """Chunk sizes in tokens; ``code_limit`` is always characters (D-07)."""

    target: int = 256
    overlap: int = 0
    code_limit: int = 3000
    window_turns: int = 6
    stride_turns: int = 3

    @property
    def numbers(self) -> tuple[int, ...]:
        """The sizes in the order of the fields."""
        return astuple(self)

    @classmethod
    def named(cls, numbers: Sequence[int]) -> dict[str, int]:
        """The inverse of :attr:`numbers`, for messages; bears numbers of another version."""
        return dict(zip((field.name for field in fields(cls)), numbers, strict=False))


PRESETS = {"prose": Preset(), "code": Preset(), "messages": Preset(target=512)}

_CODE_NAMES = (*CODE_SUFFIXES, ".xlsx", ".xls")


def presets_with(overrides: Mapping[str, str]) -> dict[str, Preset]:
    """The presets under ``defaults.indexing.chunking.preset_overrides``.

    A number for ``prose`` or ``messages`` is their target in tokens, one for ``code`` the
    limit of code blocks in characters, in files of every preset (D-07). The config has
    judged names and numbers already.
    """
    presets = dict(PRESETS)
    for name, number in overrides.items():
        if name == "code":
            presets = {n: replace(p, code_limit=int(number)) for n, p in presets.items()}
        else:
            presets[name] = replace(presets[name], target=int(number))
    return presets


def check_preset(name: str) -> str:
    """The name, if there is such a preset. Raises InvalidRequest otherwise."""
    if name not in PRESETS:
        raise InvalidRequest(f"unknown preset {name!r}; there are {', '.join(sorted(PRESETS))}")
    return name


def preset_for(source_preset: str, mime: str | None, name: str) -> str:
    """The preset of one file: a source's own choice is final unless it is ``prose``."""
    if check_preset(source_preset) != "prose":
        return source_preset
    if mime == "application/json" or (mime or "").startswith("text/x-"):
        return "code"
    if mime == "text/plain":
        return "prose"
    return "code" if name in LOCKFILES or suffix_of(name) in _CODE_NAMES else "prose"


def characters(texts: Sequence[str], /) -> list[int]:
    """Sizes in characters."""
    return [len(text) for text in texts]


class TokenMeasure:
    """Sizes in an embedder's tokens, without the ones it adds to every text.

    Never less than the true number, and more where tokens would be implausibly long.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.added = embedder.count_tokens([""])[0]
        """Prefix and special tokens of every input."""

    def __call__(self, texts: Sequence[str], /) -> list[int]:
        """One size per text, in one call of the embedder."""
        counts = self._embedder.count_tokens(texts)
        return [
            max(count - self.added, len(text) // CHARACTERS_OF_A_TOKEN)
            for text, count in zip(texts, counts, strict=True)
        ]


def sizing_for(
    preset: str,
    measure: Measure | None = None,
    *,
    max_tokens: int | None = None,
    added: int = SPECIAL_TOKENS,
    presets: Mapping[str, Preset] = PRESETS,
) -> Sizing:
    """Sizes for one preset.

    Args:
        preset: its name; InvalidRequest when there is none.
        measure: sizes in tokens; None counts characters and scales the numbers.
        max_tokens: the embedder's longest input; a chunk is never longer.
        added: what the embedder adds to every input (:attr:`TokenMeasure.added`).
        presets: the numbers in force (:func:`presets_with`).
    """
    sizes = presets[check_preset(preset)]
    target, scale = sizes.target, 1 if measure is not None else CHARACTERS_PER_TOKEN
    if max_tokens is not None:
        target = max(1, min(target, max_tokens - added))
    return Sizing(
        target=target * scale,
        measure=measure or characters,
        overlap=sizes.overlap * scale,
        code_limit=sizes.code_limit,
        window_turns=sizes.window_turns,
        stride_turns=sizes.stride_turns,
    )
