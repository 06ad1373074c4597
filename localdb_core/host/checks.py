"""Type-checks what a hook answers; annotations promise nothing at run time."""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import fields
from itertools import islice
from types import UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from localdb_core.host.guard import Refused
from localdb_core.plugin import (
    CORE_SURFACE,
    ParserSpec,
    RankerSpec,
    ResourceSpec,
    Spec,
    SurfaceSpec,
    ToolSpec,
)

S = TypeVar("S", bound=Spec)

MOST: Final = 1000
"""Descriptions that one hook of one plugin may return; a generator may never end."""

MAX_NAME: Final = 64
"""Hosts put their own words before a tool's name and cap the whole at 128."""

ALL_SURFACES: Final = "all"
"""Stands for every surface; no surface may be called so."""

_WIRE_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_FLAG: Final = re.compile(r"[a-z][a-z0-9-]*")
_TAKEN_FLAGS: Final = frozenset(
    ("config", "help", "json", "no-plugins", "store", "strict-plugins", "surface")
    + ("verbose", "version", "yes")
)


def sift(answer: object, of: type[S]) -> tuple[list[S], list[str]]:
    """The usable descriptions in a hook's answer, and what is wrong with the others.

    Consumes generators and closes coroutines. Raises Refused when the answer is
    no collection at all, and whatever a generator raises.
    """
    good: dict[str, S] = {}
    faults: list[str] = []
    hints = _hints(of)
    for item in _items(answer, of):
        fault = _fault(item, of, hints)
        if fault is None and isinstance(item, of):
            if item.name in good:
                faults.append(f"two {of.__name__} are named {item.name!r}")
            else:
                good[item.name] = item
        else:
            faults.append(fault or "")
    return list(good.values()), faults


def _items(answer: object, of: type[Spec]) -> list[object]:
    if inspect.iscoroutine(answer):
        answer.close()
        raise Refused("returned a coroutine; hooks are plain functions")
    if isinstance(answer, AsyncGenerator):
        raise Refused("returned an async generator; hooks are plain functions")
    if isinstance(answer, Spec):
        raise Refused(f"returned a bare {type(answer).__name__}; return a list of them")
    if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
        raise Refused(f"returned {_short(answer)}; return a list of {of.__name__}")
    items = list(islice(answer, MOST + 1))
    if len(items) > MOST:
        raise Refused(f"returned more than {MOST} descriptions")
    return items


def _fault(item: object, of: type[Spec], hints: Mapping[str, Any]) -> str | None:
    """What is wrong with one element, or None."""
    if not isinstance(item, of):
        if inspect.iscoroutine(item):
            item.close()
        return f"{_short(item)} is no {of.__name__}"
    for name, hint in hints.items():
        value = getattr(item, name)
        if not _fits(value, hint):
            return f"{of.__name__} {item.name!r}: {name} is {_short(value)}"
    return _broken_rule(item)


def _broken_rule(spec: Spec) -> str | None:
    """Rules that a type cannot express."""
    label = f"{type(spec).__name__} {spec.name!r}"
    if not spec.name or "/" in spec.name or spec.name != spec.name.strip():
        return f"{label}: a name is not empty and has no slash"
    for target in _targets(spec):
        module, colon, attribute = target.partition(":")
        if not (module and colon and attribute):
            return f"{label}: {target!r} is not written module:attribute"
    if isinstance(spec, RankerSpec) and spec.top is not None and spec.top < 1:
        return f"{label}: top is {spec.top}; a ranker sees at least one hit"
    if isinstance(spec, ParserSpec):
        return _broken_claim(spec, label)
    if isinstance(spec, ToolSpec | SurfaceSpec | ResourceSpec):
        return _broken_offer(spec, label)
    return None


def _targets(spec: Spec) -> list[str]:
    if isinstance(spec, SurfaceSpec):
        return []  # it has no code
    if isinstance(spec, ToolSpec):
        return [spec.target, spec.arguments, *([] if spec.result is None else [spec.result])]
    return [spec.target]


def _broken_offer(spec: ToolSpec | SurfaceSpec | ResourceSpec, label: str) -> str | None:
    """What is offered to agents has names that every host accepts."""
    surface = spec.name if isinstance(spec, SurfaceSpec) else spec.surface
    names = [surface, spec.name] if isinstance(spec, ToolSpec) else [surface]
    for name in names:
        if len(name) > MAX_NAME or not _WIRE_NAME.fullmatch(name):
            return f"{label}: {_short(name)} is not 1 to {MAX_NAME} of A-Z a-z 0-9 _ -"
    if surface == ALL_SURFACES:
        return f"{label}: 'all' stands for every surface and is not one"
    if not isinstance(spec, ToolSpec) and surface == CORE_SURFACE:
        return f"{label}: the surface 'core' is the contract's and takes nothing more"
    if isinstance(spec, SurfaceSpec):
        return _broken_surface(spec, label)
    return None


def _broken_surface(spec: SurfaceSpec, label: str) -> str | None:
    names = [flag.name for flag in spec.flags]
    for name in names:
        if not _FLAG.fullmatch(str(name)) or name in _TAKEN_FLAGS:
            return f"{label}: {_short(name)} cannot be a flag"
    if len(set(names)) < len(names):
        return f"{label}: two flags have one name"
    if spec.result_cap is not None and spec.result_cap < 1:
        return f"{label}: result_cap is {spec.result_cap}; an answer has at least one byte"
    return None


def _broken_claim(spec: ParserSpec, label: str) -> str | None:
    for suffix in spec.suffixes:
        if not suffix.startswith(".") or suffix != suffix.lower():
            return f"{label}: suffix {suffix!r} is written with its dot and in lower case"
    if b"" in spec.magic or "" in spec.filenames:
        return f"{label}: an empty claim would match everything"
    return None


def _hints(kind: type[Spec]) -> dict[str, Any]:  # Any: a type hint may be any object
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _fits(value: object, hint: Any) -> bool:  # Any: see above
    """Whether a value has the type of a spec's field; only the shapes that specs use."""
    origin = get_origin(hint)
    if origin is Literal:
        return value in get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, option) for option in get_args(hint))
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(v, get_args(hint)[0]) for v in value)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, hint) if isinstance(hint, type) else True


def _short(value: object) -> str:
    """A value in a message: its repr, but never a long one."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
