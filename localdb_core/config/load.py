"""Read the config file; every failure says which key or line, and what to do (L-CFG-11)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml

from localdb_core.config.messages import explain
from localdb_core.config.model import Config, Section
from localdb_core.domain.errors import InvalidConfig

_Map = dict[Hashable, Any]  # Any: YAML values


def load_config(path: Path) -> Config:
    """The config in ``path``. Raises InvalidConfig, whatever is wrong with it."""
    return parse_config(_text(path), origin=str(path))


def parse_config(text: str, *, origin: str = "the config") -> Config:
    """The config written in ``text``. Raises InvalidConfig; ``origin`` is named in it."""
    from pydantic import ValidationError

    value = _mapping(text, origin)
    if "version" not in value:
        raise InvalidConfig("version is missing; add the line: version: 1")
    try:
        return Config.model_validate(_without_empty_sections(value, Config))
    except ValidationError as error:
        raise InvalidConfig(explain(error)) from None


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise InvalidConfig(f"there is no file {path}; make one with: localdb init") from None
    except OSError as error:
        raise InvalidConfig(f"cannot read {path}: {error.strerror or error}") from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InvalidConfig(f"{path} line {line}: not UTF-8 text; save the file as UTF-8") from None


def _mapping(text: str, origin: str) -> _Map:
    try:
        # A subclass of the safe loader: builds plain values only.
        value = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise InvalidConfig(f"{origin} {_problem(error, text)}") from None
    except RecursionError:
        raise InvalidConfig(f"{origin}: nested too deeply") from None
    except ValueError as error:  # such as a date with 13 months
        raise InvalidConfig(f"{origin}: {error}") from None
    if value is None:
        raise InvalidConfig(f"{origin} is empty; add the line: version: 1")
    if not isinstance(value, dict):
        raise InvalidConfig(f"{origin} must be a mapping of keys, such as: version: 1")
    return value


def _without_empty_sections(value: Mapping[Hashable, Any], section: type[Section]) -> _Map:
    """``server:`` with all its keys commented out is the same as no ``server:``."""
    kept: _Map = {}
    for key, below in value.items():
        field = section.model_fields.get(str(key))
        usual = field.get_default(call_default_factory=True) if field else None
        if below is None and isinstance(usual, Section | dict | tuple):
            continue
        if isinstance(below, dict) and isinstance(usual, Section):
            below = _without_empty_sections(below, type(usual))
        kept[key] = below
    return kept


class _Loader(yaml.SafeLoader):
    """Plain YAML in which a key may stand once only."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> _Map:
        """The mapping. Raises ConstructorError at a repeated key."""
        seen: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag.endswith(":merge"):
                continue
            line = key.start_mark.line + 1
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None,
                    None,
                    f"the key {key.value} is already set in line {seen[key.value]}",
                    key.start_mark,
                )
            seen[key.value] = line
        return super().construct_mapping(node, deep=deep)


def _problem(error: yaml.YAMLError, text: str) -> str:
    """``line 3, column 2: what is wrong``."""
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, int(error.position)) + 1
        return f"line {line}: the character U+{_code_point(error):04X} is not allowed"
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return f"is not YAML: {error}"
    mark = error.problem_mark
    place = f"line {mark.line + 1}, column {mark.column + 1}"
    lines = text.splitlines()
    if "\\t" in (error.problem or "") or _tab_at(lines, mark.line):
        return f"{place}: there is a tab; indent with spaces"
    return f"{place}: {error.problem or error.context}"


def _code_point(error: yaml.reader.ReaderError) -> int:
    return error.character if isinstance(error.character, int) else ord(error.character)


def _tab_at(lines: list[str], number: int) -> bool:
    line = lines[number] if number < len(lines) else ""
    return "\t" in line[: len(line) - len(line.lstrip())]
