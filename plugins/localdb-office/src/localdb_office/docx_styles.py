"""Styles and numbering of a Word file: which paragraph is a heading or a list item."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from localdb_office.package import Element, Package, attribute, child, descendants, local

_HEADING = re.compile(r"heading\s*([1-9])", re.IGNORECASE)
_BODY_LEVEL = 9  # outline level of body text
_UNNUMBERED = ("bullet", "none")
_MOST_BASES = 20  # styles based on each other; a longer chain is a circle


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph style decides for us; ``level`` 0 is no heading."""

    level: int = 0
    title: bool = False
    num_id: str | None = None
    list_level: int | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a list."""

    ordered: bool
    start: int = 1


@dataclass(slots=True)
class Styles:
    """Paragraph styles by id."""

    by_id: dict[str, Style] = field(default_factory=dict)

    @classmethod
    def read(cls, package: Package, part: str | None) -> Styles:
        """From ``styles.xml``; a file without it has no headings but outline levels."""
        root = package.xml(part) if part else None
        if root is None:
            return cls()
        elements = {attribute(e, "styleId") or "": e for e in root if local(e) == "style"}
        return cls({name: _resolve(name, elements) for name in elements})

    def of(self, paragraph: Element) -> Style:
        """The style of a paragraph, its own settings included."""
        properties = child(paragraph, "pPr")
        reference = child(properties, "pStyle")
        name = attribute(reference, "val") if reference is not None else None
        return _overridden(self.by_id.get(name or "", Style()), properties)


def _resolve(name: str, elements: dict[str, Element]) -> Style:
    chain: list[Element] = []
    while name in elements and len(chain) < _MOST_BASES:
        chain.append(elements[name])
        base = child(elements[name], "basedOn")
        name = (attribute(base, "val") or "") if base is not None else ""
    style = Style()
    for element in reversed(chain):
        named = child(element, "name")
        label = (attribute(named, "val") or "") if named is not None else ""
        found = _HEADING.fullmatch(label.strip())
        if found:
            style = replace(style, level=int(found[1]))
        elif label.strip().lower() == "title":
            style = replace(style, level=1, title=True)
        style = _overridden(style, child(element, "pPr"))
    return style


def _overridden(style: Style, properties: Element | None) -> Style:
    outline = child(properties, "outlineLvl")
    if outline is not None:
        value = _number(attribute(outline, "val"), _BODY_LEVEL)
        style = replace(style, level=value + 1 if value < _BODY_LEVEL else 0)
    numbering = child(properties, "numPr")
    if numbering is None:
        return style
    num_id, list_level = child(numbering, "numId"), child(numbering, "ilvl")
    if num_id is not None:
        style = replace(style, num_id=attribute(num_id, "val"))
    if list_level is not None:
        style = replace(style, list_level=_number(attribute(list_level, "val"), 0))
    return style


class Numbering:
    """Lists: how each level is marked, and how far each has counted."""

    def __init__(self, levels: dict[str, dict[int, Level]]) -> None:
        self._levels = levels
        self._counts: dict[str, dict[int, int]] = {}

    @classmethod
    def read(cls, package: Package, part: str | None) -> Numbering:
        """From ``numbering.xml``, if there is one."""
        root = package.xml(part) if part else None
        if root is None:
            return cls({})
        abstract = {
            attribute(e, "abstractNumId"): _levels(e) for e in root if local(e) == "abstractNum"
        }
        levels: dict[str, dict[int, Level]] = {}
        for number in (e for e in root if local(e) == "num"):
            link = child(number, "abstractNumId")
            target = attribute(link, "val") if link is not None else None
            levels[attribute(number, "numId") or ""] = {
                **abstract.get(target, {}),
                **{k: v for o in descendants(number, "lvlOverride") for k, v in _levels(o).items()},
            }
        return cls(levels)

    def marker(self, num_id: str, level: int) -> str:
        """``-``, or the next number of this level; deeper levels start again."""
        counts = self._counts.setdefault(num_id, {})
        for deeper in [key for key in counts if key > level]:
            del counts[deeper]
        shape = self._levels.get(num_id, {}).get(level, Level(ordered=False))
        if not shape.ordered:
            return "-"
        counts[level] = counts.get(level, shape.start - 1) + 1
        return f"{counts[level]}."


def _levels(element: Element) -> dict[int, Level]:
    found: dict[int, Level] = {}
    for level in (e for e in element if local(e) == "lvl"):
        kind, start = child(level, "numFmt"), child(level, "start")
        name = attribute(kind, "val") if kind is not None else "decimal"
        first = _number(attribute(start, "val"), 1) if start is not None else 1
        found[_number(attribute(level, "ilvl"), 0)] = Level(
            ordered=name not in _UNNUMBERED, start=first
        )
    return found


def _number(value: str | None, default: int) -> int:
    return int(value) if value and value.isdecimal() and len(value) < 9 else default
