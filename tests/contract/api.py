"""Describes the public plugin API, and writes it down.

    python tests/contract/api.py            compare with api_v1.json
    python tests/contract/api.py --write    write it; a change needs another API_VERSION first

``versions`` in the file holds a digest for each API version, so the file cannot be made to
fit without raising ``API_VERSION`` in ``localdb_core/version.py``. Minor: something new,
with a default. Major: something removed, renamed, required or of another meaning.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import re
import sys
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args

from localdb_core import plugin
from localdb_core.plugin.hookspecs import LocaldbSpec
from localdb_core.version import API_VERSION

FILE = Path(__file__).with_name("api_v1.json")
VERSION = ".".join(map(str, API_VERSION))

TESTING = {
    "app": ["make_app"],
    "chunker": ["ChunkerContract"],
    "client": ["StdioClient"],
    "embedder": ["EmbedderContract"],
    "index": ["DenseIndexContract"],
    "memory": ["FakeEmbedder", "MemoryIndex", "OverlapRanker"],
    "parser": ["ParserContract", "Sample"],
    "plugin": ["PluginContract"],
    "ranker": ["RankerContract"],
    "sparse": ["SparseIndexContract"],
    "source": ["SourceContract", "source_row"],
    "tool": ["ToolContract"],
}
"""What authors may use of ``localdb_core.testing``."""

Described = dict[str, Any]  # Any: JSON values


def surface() -> Described:
    """Everything public, as JSON."""
    return {
        "localdb_core.plugin": {
            name: described(getattr(plugin, name))
            for name in plugin.__all__
            if name != "API_VERSION"
        },
        "hooks": {
            name: signature(member)
            for name, member in vars(LocaldbSpec).items()
            if inspect.isfunction(member)
        },
        "localdb_core.testing": {
            f"{module}.{name}": described(
                getattr(importlib.import_module(f"localdb_core.testing.{module}"), name)
            )
            for module, names in TESTING.items()
            for name in names
        },
    }


def described(thing: Any) -> Described | str:  # Any: whatever is public
    """One public name."""
    if inspect.isclass(thing):
        return _class(thing)
    if inspect.isfunction(thing):
        return signature(thing)
    if get_args(thing):
        return str(thing)
    return repr(thing) if isinstance(thing, str | int | tuple) else type(thing).__name__


def signature(function: Any) -> str:  # Any: a function, or what wraps one
    """Names, annotations and defaults."""
    return _steady(str(inspect.signature(function)))


def _steady(text: str) -> str:
    """A function or module that is a default is its name, not where it lies."""
    text = re.sub(r"<function (\S+) at 0x[0-9a-f]+>", r"\1", text)
    return re.sub(r"<module '(\S+)' from '[^']*'>", r"\1", text)


def _class(kind: type) -> Described:
    made: Described = {"bases": [base.__name__ for base in kind.__bases__ if base is not object]}
    if issubclass(kind, Enum):
        return made | {"members": {member.name: member.value for member in kind}}
    if is_dataclass(kind):
        made["frozen"] = kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
        made["fields"] = {field.name: _field(field) for field in fields(kind)}
    elif annotations := vars(kind).get("__annotations__"):
        made["attributes"] = {
            name: f"{hint} = {vars(kind)[name]!r}" if name in vars(kind) else str(hint)
            for name, hint in annotations.items()
            if not name.startswith("_")
        }
    if (
        not is_dataclass(kind)
        and "__init__" in vars(kind)
        and not getattr(kind, "_is_protocol", False)
    ):
        made["made by"] = signature(vars(kind)["__init__"])
    members = {
        name: _member(member)
        for name, member in sorted(vars(kind).items())
        if _is_public(name, member)
    }
    return made | ({"members": members} if members else {})


def _field(field: Field[Any]) -> str:  # Any: its type
    default = field.default
    if field.default_factory is not MISSING:
        return f"{field.type} = {field.default_factory.__name__}()"
    shown = f"Path({str(default)!r})" if isinstance(default, Path) else _steady(repr(default))
    return str(field.type) if default is MISSING else f"{field.type} = {shown}"


def _is_public(name: str, member: object) -> bool:
    """Tests of a contract may come and go; what an author overrides or calls may not."""
    if name.startswith(("_", "test_", "pytest_")) or type(member).__name__ == "member_descriptor":
        return False
    return inspect.isfunction(getattr(member, "__func__", member)) or isinstance(member, property)


def _member(member: Any) -> str:  # Any: a function, property, class or static method
    if isinstance(member, property):
        return f"property {signature(member.fget)}"
    prefix = "" if inspect.isfunction(member) else f"{type(member).__name__} "
    return prefix + signature(getattr(member, "__func__", member))


def digest(found: Described) -> str:
    """A hash of a surface."""
    text = json.dumps(found, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def faults(found: Described, written: Described) -> list[str]:
    """What is wrong with the file, given the surface there is; nothing is well."""
    wrong = []
    if written.get("surface") != found:
        wrong.append("the public API is not what tests/contract/api_v1.json says: " + VERSION)
    versions = written.get("versions", {})
    if versions.get(VERSION, digest(found)) != digest(found):
        wrong.append(f"API {VERSION} was written down with another surface; raise API_VERSION")
    elif VERSION not in versions:
        wrong.append(f"API {VERSION} is not written down")
    return wrong


def renewed(found: Described, written: Described) -> Described:
    """The file's new content. Raises ValueError if ``API_VERSION`` has to be raised first."""
    versions = dict(written.get("versions", {}))
    if versions.setdefault(VERSION, digest(found)) != digest(found):
        raise ValueError(
            f"the API changed and is still called {VERSION}; raise API_VERSION in"
            " localdb_core/version.py (minor: additions with defaults, major: all else)"
        )
    return {"versions": versions, "surface": found}


def main(arguments: list[str]) -> int:
    """Compare, or write."""
    found = surface()
    written = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    if arguments == ["--write"]:
        try:
            made = renewed(found, written)
        except ValueError as error:
            print(error, file=sys.stderr)
            return 1
        FILE.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
        return 0
    wrong = faults(found, written)
    print("\n".join(wrong) or f"plugin API {VERSION} is as written down")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
