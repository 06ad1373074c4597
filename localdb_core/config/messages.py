"""What pydantic found, in our words: the key first, then what it must be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, get_args

from localdb_core.config.model import Config, Section

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

Place = Sequence[int | str]

_SHAPES: Final = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "string_type": "text",
    "string_unicode": "text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping of keys",
    "model_type": "a mapping of keys",
    "model_attributes_type": "a mapping of keys",
}


def explain(error: ValidationError) -> str:
    """One line about everything that is wrong."""
    return "; ".join(dict.fromkeys(_line(detail) for detail in error.errors(include_url=False)))


def _line(detail: ErrorDetails) -> str:
    key, kind = dotted(detail["loc"]), detail["type"]
    at_key = detail["loc"][-1:] == ("[key]",)
    if kind == "invalid_key" or (at_key and kind != "value_error"):
        return _no_text(detail)
    if kind == "extra_forbidden":
        return _unknown(detail["loc"])
    if kind == "missing":
        return f"{key} is missing"
    if kind in _SHAPES:
        return f"{key} must be {_SHAPES[kind]}{_instead(detail)}"
    said = _RANGES.get(kind)
    if said is not None:
        return f"{key} {said(detail.get('ctx', {}))}"
    return f"{key} {detail['msg'].removeprefix('Value error, ')}"


def _instead(detail: ErrorDetails) -> str:
    """What was written, but nothing of a plugin's section: that may be a secret (L-INV-09)."""
    if detail["loc"][:2] == ("plugins", "config"):
        return ""
    return f", not {_shown(detail['input'])}"


def _at_least(limits: dict[str, Any]) -> str:  # Any: numbers
    return "must be greater than zero" if limits["ge"] == 1 else f"must be at least {limits['ge']}"


_RANGES: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "greater_than_equal": _at_least,
    "less_than_equal": lambda limits: f"must be at most {limits['le']}",
    "string_too_short": lambda _: "must not be empty",
}


def dotted(place: Place) -> str:
    """``providers[0].kind`` for ``("providers", 0, "kind")``."""
    key = ""
    for part in place:
        if isinstance(part, int):
            key += f"[{part}]"
        elif part != "[key]":
            key += f".{part}" if key else str(part)
    return key or "the config"


def _no_text(detail: ErrorDetails) -> str:
    """``server: the key 1 must be text``; pydantic's place ends with the key itself."""
    *above, last = detail["loc"]
    if last == "[key]":
        above = above[:-1]
    where = f"{dotted(above)}: " if above else ""
    return f"{where}the key {_shown(detail['input'])} must be text"


def _unknown(place: Place) -> str:
    *above, name = place
    near = get_close_matches(str(name), known_keys(above), n=1)
    hint = f"; did you mean {dotted((*above, near[0]))}?" if near else ""
    return f"{dotted(place)} is not a known key{hint}"


def known_keys(place: Place) -> list[str]:
    """The keys that may stand at a place of the file."""
    section: type[Section] | None = Config
    for part in place:
        if isinstance(part, str) and section is not None and part in section.model_fields:
            section = _section(section.model_fields[part].annotation)
    if section is None:
        return []
    return [field.alias or name for name, field in section.model_fields.items()]


def _section(annotation: Any) -> type[Section] | None:  # Any: a type annotation
    for kind in (annotation, *get_args(annotation)):
        if isinstance(kind, type) and issubclass(kind, Section):
            return kind
    return None


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
