"""Small pieces of Markdown, and docstrings turned into it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Mapping, Sequence

_ROLE = re.compile(r":(?:class|meth|mod|data|func|attr):`~?([^`]+)`")
_ROW = re.compile(r"\s\((?:spec §[\d.]+|[A-Z]+(?:-[A-Z]+)?-\d+)\)")
"""A row of the specification, which readers of these pages need not have."""
_SECTION = re.compile(r"^(Args|Attributes|Raises|Returns):$", re.MULTILINE)
_FIELD = re.compile(r"^    (\w[\w, ]*): ?", re.MULTILINE)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars within cells are escaped and line breaks become spaces."""
    lines = [_row(header), _row(["---"] * len(header)), *map(_row, rows)]
    return "\n".join(lines) + "\n\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def code(text: str) -> str:
    """Code within a line; nothing for nothing."""
    return f"`{text}`" if text else ""


def fence(text: str, language: str = "text") -> str:
    """A block of code."""
    return f"```{language}\n{text.rstrip()}\n```\n\n"


def inline(text: str) -> str:
    """The marks of a docstring's line as those of Markdown."""
    text = _ROLE.sub(lambda found: f"``{found[1].removeprefix('localdb_core.plugin.')}``", text)
    text = _ROW.sub("", text)
    # Outside of code, < would begin an element.
    parts = text.split("``")
    parts[::2] = [part.replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def prose(docstring: str | None) -> str:
    """A docstring up to its list of fields, paragraph by paragraph; examples become blocks."""
    text = _SECTION.split(inspect.cleandoc(docstring or ""))[0]
    paragraphs = [part for part in text.strip().split("\n\n") if part]
    return "".join(_paragraph(part) for part in paragraphs)


def _paragraph(text: str) -> str:
    return fence(text, "text") if _is_code(text) else f"{inline(text)}\n\n"


def _is_code(text: str) -> bool:
    """Whether a paragraph is Python; a sentence hardly ever is."""
    try:
        found = ast.parse(text)
    except SyntaxError:
        return False
    return not isinstance(found.body[0], ast.Expr) or isinstance(found.body[0].value, ast.Call)


def after_fields(docstring: str | None) -> str:
    """The paragraphs that follow the list of fields."""
    parts = _SECTION.split(inspect.cleandoc(docstring or ""))
    rest = parts[-1].split("\n\n") if len(parts) > 1 else []
    kept = [part for part in rest if part.strip() and not part.lstrip("\n").startswith("    ")]
    return "".join(_paragraph(part) for part in kept)


def fields(docstring: str | None, section: str = "Attributes") -> Mapping[str, str]:
    """What a docstring says of each field; ``a, b: …`` is said of both."""
    parts = _SECTION.split(inspect.cleandoc(docstring or ""))
    named = dict(zip(parts[1::2], parts[2::2], strict=True))
    body = named.get(section, "").lstrip("\n")
    # Not indented any more: the list has ended.
    body = re.split(r"^(?=\S)", body, maxsplit=1, flags=re.MULTILINE)[0]
    pieces = _FIELD.split(body)
    told = {}
    for names, text in zip(pieces[1::2], pieces[2::2], strict=True):
        for name in names.split(", "):
            told[name] = inline(" ".join(text.split()))
    return told
