"""``plugin-api.md`` and ``domain.md``: the public names of ``localdb_core``'s two packages."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from generate.markdown import after_fields, code, fence, fields, prose, table
from localdb_core import domain, plugin

_INTRO = """\
# Plugin API

Every public name of `localdb_core.plugin`, API version {version}. What hooks return is in
[Hooks](hooks.md), and the values that go in and out, such as `Block` and `Metadata`, in
[Domain](domain.md). Protocols are what you write: a class with these methods, nothing to inherit.

"""
_DOMAIN = """\
# Domain

The values that plugins take and give: every public name of `localdb_core.domain` but the errors,
which [Errors](errors.md) lists. A plugin imports them from there.

"""


def page() -> str:
    """One section for each name."""
    names = sorted(plugin.__all__, key=str.casefold)
    return _INTRO.format(version=plugin.API_VERSION) + "".join(
        section(name, getattr(plugin, name)) for name in names
    )


def domain_page() -> str:
    """One section for each name of ``localdb_core.domain`` that is no error."""
    values = ((name, getattr(domain, name)) for name in sorted(domain.__all__, key=str.casefold))
    return _DOMAIN + "".join(section(name, value) for name, value in values if not _fails(value))


def _fails(value: Any) -> bool:  # Any: whatever is public
    return inspect.isclass(value) and issubclass(value, BaseException)


def section(name: str, value: Any) -> str:  # Any: whatever is public
    """The section of one public name."""
    if name.endswith("Spec") and issubclass(value, plugin.Spec) and value is not plugin.Spec:
        return f"## {name}\n\nSee [Hooks](hooks.md#{name.lower()}).\n\n"
    if inspect.isclass(value):
        return f"## {name}\n\n" + describe(value)
    if inspect.isfunction(value):
        return f"## {name}\n\n" + fence(_signature(name, value)) + prose(value.__doc__)
    told = _told(name)
    shown = value if get_origin(value) is None else " | ".join(map(_short, get_args(value)))
    written = "" if callable(value) and get_origin(value) is None else f"{code(str(shown))}\n\n"
    return f"## {name}\n\n{written}{prose(told)}"


def describe(cls: type) -> str:
    """A class: what it is, its fields, its methods."""
    text = prose(cls.__doc__)
    above = next((base for base in cls.__mro__[1:] if base.__name__ in plugin.__all__), None)
    if above is not None:
        name = above.__name__
        text += f"It has everything that [{code(name)}](#{name.lower()}) has, and:\n\n"
    if dataclasses.is_dataclass(cls):
        text += field_table(cls, without=above)
    if issubclass(cls, enum.Enum):
        text += " | ".join(code(repr(member.value)) for member in cls) + "\n\n"
    text += after_fields(cls.__doc__)
    return text + "".join(_method(cls, name, value) for name, value in _methods(cls))


def field_table(cls: type, *, without: type | None = None) -> str:
    """Name, type, default and meaning of a dataclass's fields, those of its bases included.

    Fields that ``without`` has too are left out.
    """
    told: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        for title in ("Args", "Attributes"):
            told |= fields(base.__doc__, title)
    rows = [
        (code(field.name), code(_type(cls, field)), code(_default(field)), told.get(field.name, ""))
        for field in dataclasses.fields(cls)
        if not field.name.startswith("_")
        and field.name not in getattr(without, "__dataclass_fields__", {})
    ]
    return table(("Field", "Type", "Default", ""), rows) if rows else ""


def _type(cls: type, field: dataclasses.Field[Any]) -> str:
    """The annotation as it is written; a name of some literals is those literals."""
    written = field.type if isinstance(field.type, str) else field.type.__name__
    written = written.partition("  #")[0]
    for base in cls.__mro__:
        alias = getattr(sys.modules[base.__module__], written, None)
        if get_origin(alias) is Literal:
            return " | ".join(repr(value) for value in get_args(alias))
    return written


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        if callable(field.default):  # whose repr holds an address
            return str(field.default.__name__)
        return "Path()" if field.default == Path() else repr(field.default)
    return "…" if field.default_factory is not dataclasses.MISSING else ""


def _methods(cls: type) -> Iterator[tuple[str, Any]]:
    """The class's own methods, as far as they are documented."""
    for name, value in vars(cls).items():
        function = _function(value)
        shown = not name.startswith("_") or name == "__call__"
        if shown and inspect.isfunction(function) and function.__doc__:
            yield name, value


def _function(value: Any) -> Any:  # Any: whatever stands in a class
    """The function below a property or a class method."""
    return getattr(value, "__func__", getattr(value, "fget", value))


def _method(cls: type, name: str, value: Any) -> str:
    # Any: function, property or class method
    function = _function(value)
    title = f"### {cls.__name__}.{name}\n\n"
    said = prose(function.__doc__)
    raised = fields(function.__doc__, "Raises")
    if raised:
        said += "".join(f"- raises {code(error)}: {why}\n" for error, why in raised.items()) + "\n"
    if isinstance(value, property):
        return title + said
    return title + fence(_signature(name, function)) + said


def _signature(name: str, function: Any) -> str:  # Any: any function
    signature = inspect.signature(function)
    kept = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
    return name + bare(signature.replace(parameters=kept))


def bare(signature: object) -> str:
    """A signature without the quotes around its annotations."""
    return re.sub(r"'([^']+)'", r"\1", str(signature))


def _short(value: Any) -> str:  # Any: a type or the value of a literal
    return value.__name__ if inspect.isclass(value) else repr(value)


def _told(name: str) -> str:
    """The string below an assignment, wherever in the package it stands."""
    for module in sorted(sys.modules):
        if module.startswith("localdb_core.plugin."):
            found = _below(sys.modules[module], name)
            if found:
                return found
    return ""


def _below(module: Any, name: str) -> str:  # Any: a module
    lines = inspect.getsource(module).splitlines()
    for number, line in enumerate(lines):
        if line.startswith((f"{name} =", f"{name}:")) and lines[number + 1 :]:
            text = "\n".join(lines[number + 1 :])
            if text.startswith('"""'):
                return text[3:].partition('"""')[0]
    return ""
