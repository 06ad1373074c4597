"""Read the config file; every failure says which key or line, and what to do (L-CFG-11)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

from localdb_core.config.document import Mapped, read_mapping, read_text
from localdb_core.config.messages import explain
from localdb_core.config.model import Config, Section
from localdb_core.domain.errors import InvalidConfig


def load_config(path: Path) -> Config:
    """The config in ``path``. Raises InvalidConfig, whatever is wrong with it."""
    return parse_config(read_text(path), origin=str(path))


def parse_config(text: str, *, origin: str = "the config") -> Config:
    """The config written in ``text``. Raises InvalidConfig; ``origin`` is named in it."""
    from pydantic import ValidationError

    value = read_mapping(text, origin)
    if "version" not in value:
        raise InvalidConfig("version is missing; add the line: version: 1")
    try:
        return Config.model_validate(_without_empty_sections(value, Config))
    except ValidationError as error:
        raise InvalidConfig(explain(error)) from None


def may_be_empty(usual: object) -> bool:
    """Whether a key of this default may stand there without a value."""
    return isinstance(usual, Section | dict | tuple)


def _without_empty_sections(value: Mapping[Hashable, Any], section: type[Section]) -> Mapped:
    """``server:`` with all its keys commented out is the same as no ``server:``."""
    kept: Mapped = {}
    for key, below in value.items():
        field = section.model_fields.get(str(key))
        usual = field.get_default(call_default_factory=True) if field else None
        if below is None and may_be_empty(usual):
            continue
        if isinstance(below, dict) and isinstance(usual, Section):
            below = _without_empty_sections(below, type(usual))
        kept[key] = below
    return kept
