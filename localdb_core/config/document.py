"""From a file to the mapping that is written in it: strict, bounded YAML."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final

import yaml

from localdb_core.domain.errors import InvalidConfig
from localdb_core.domain.smallfile import read_small_file

Mapped = dict[Hashable, Any]  # Any: YAML values

SIZE_LIMIT: Final = 256 * 1024
"""Bytes of a config; some hundred times what anybody writes."""

NODE_LIMIT: Final = 50_000
"""Values after every alias is written out: a few lines of aliases can mean billions."""


def read_text(path: Path) -> str:
    """The text of a config file. Raises InvalidConfig, which names the file."""
    try:
        raw = read_small_file(path, limit=SIZE_LIMIT)
    except FileNotFoundError:
        if path.is_symlink():
            raise InvalidConfig(f"{path} is a link that leads nowhere; mend or remove it") from None
        raise InvalidConfig(f"there is no file {path}; make one with: localdb init") from None
    except OSError as error:
        raise InvalidConfig(f"cannot read {path}: {error.strerror or error}") from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InvalidConfig(f"{path} line {line}: not UTF-8 text; save the file as UTF-8") from None


def read_mapping(text: str, origin: str) -> Mapped:
    """The mapping written in ``text``. Raises InvalidConfig, which names ``origin``."""
    try:
        value = _value(text)
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


def _value(text: str) -> Any:  # Any: YAML values
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if _written_out(node, {}) > NODE_LIMIT:
            raise ValueError(f"its aliases stand for more than {NODE_LIMIT:,} values")
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _written_out(node: yaml.Node, known: dict[int, int]) -> int:
    """How many nodes there are if each alias is replaced by what it stands for."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) in known:
        if not known[id(node)]:  # its count is not finished: we are inside it
            raise ValueError(f"line {node.start_mark.line + 1}: an alias stands inside itself")
        return known[id(node)]
    known[id(node)] = 0
    below = node.value
    if isinstance(node, yaml.MappingNode):
        below = [part for pair in node.value for part in pair]
    known[id(node)] = 1 + sum(_written_out(part, known) for part in below)
    return known[id(node)]


class _Loader(yaml.SafeLoader):
    """Plain YAML in which a key may stand once only; builds plain values."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Mapped:
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
