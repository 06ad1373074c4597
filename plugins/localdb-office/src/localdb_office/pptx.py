"""PowerPoint files: every slide with its title, texts, tables, chart titles and notes."""

from __future__ import annotations

from collections.abc import Iterator

from localdb_core.plugin import Progress
from localdb_office.markdown import escape, escape_inline, heading, pipe_table
from localdb_office.package import Element, Package, child, descendants, local

_MAIN = "ppt/presentation.xml"
_TITLES = ("title", "ctrTitle")
_FURNITURE = ("dt", "ftr", "sldNum", "hdr", "sldImg")
_SKIPPED = ("Fallback", "extLst")
_INDENT = "    "


def read_pptx(package: Package, progress: Progress) -> tuple[list[str], str | None]:
    """The slides as Markdown, one each, and the title of the first that has one."""
    main = package.main_part(_MAIN)
    related = package.related(main)
    root = package.xml(main)
    order = child(root, "sldIdLst")
    identifiers = [_relation(e) for e in order] if order is not None else []
    names = [related[i][1] for i in identifiers if i in related]
    slides, first_title = [], None
    for number, name in enumerate(names, 1):
        text, title = _slide(package, name)
        slides.append(text)
        first_title = first_title or title
        progress(number, len(names))
    return slides, first_title


def _relation(element: Element) -> str:
    # "id" stands there twice: the slide's own, and the relationship's in a namespace.
    return next((str(v) for k, v in element.attrib.items() if k.endswith("}id")), "")


def _slide(package: Package, name: str) -> tuple[str, str | None]:
    root = package.xml(name)
    tree = child(root, "cSld", "spTree")
    if tree is None:
        return "", None
    related = package.related(name)
    title: str | None = None
    parts: list[str] = []
    for shape in _shapes(tree):
        kind = _placeholder(shape)
        if title is None and kind in _TITLES:
            title = " ".join(" ".join(_paragraphs(shape)).split()) or None
        elif kind not in _FURNITURE:
            parts.extend(_shape(package, shape, related))
    parts.extend(_notes(package, related))
    if title:
        parts.insert(0, heading(title, level=2))
    return "\n\n".join(part for part in parts if part), title


def _shapes(tree: Element) -> Iterator[Element]:
    """Shapes in reading order, through groups."""
    for element in tree:
        name = local(element)
        if name in ("sp", "graphicFrame", "cxnSp"):
            yield element
        elif name in ("grpSp", "AlternateContent", "Choice"):
            yield from _shapes(element)


def _placeholder(shape: Element) -> str:
    found = next(descendants(shape, "ph"), None)
    return (found.get("type") or "body") if found is not None else ""


def _shape(package: Package, shape: Element, related: dict[str, tuple[str, str]]) -> list[str]:
    if local(shape) != "graphicFrame":
        return [_text_frame(shape)]
    tables = [_table(table) for table in descendants(shape, "tbl")]
    charts = [_relation(e) for e in descendants(shape, "chart", "relIds")]
    for chart in charts:
        kind, name = related.get(chart, ("", ""))
        root = package.xml(name) if kind == "chart" else None
        if root is not None:
            tables.append(_chart(root))
    return tables or [_text_frame(shape)]


def _text_frame(shape: Element) -> str:
    """Paragraphs; those below the first level are list items."""
    lines: list[str] = []
    depth = -1
    for paragraph in _paragraph_elements(shape):
        text = " ".join(_text(paragraph).split())
        if not text:
            continue
        level = _level(paragraph)
        if level or _is_bullet(paragraph):
            depth = min(level, depth + 1)
            separator = "\n" if lines and lines[-1].lstrip().startswith("- ") else "\n\n"
            lines.append(f"{separator if lines else ''}{_INDENT * depth}- {escape_inline(text)}")
        else:
            depth = -1
            lines.append(f"{chr(10) * 2 if lines else ''}{escape(text)}")
    return "".join(lines)


def _paragraph_elements(shape: Element) -> Iterator[Element]:
    for element in shape:
        if local(element) == "p":
            yield element
        elif local(element) not in _SKIPPED:
            yield from _paragraph_elements(element)


def _paragraphs(shape: Element) -> list[str]:
    return [_text(paragraph) for paragraph in _paragraph_elements(shape)]


def _text(paragraph: Element) -> str:
    return "".join(
        (e.text or "") if local(e) == "t" else " " for e in descendants(paragraph, "t", "br")
    )


def _level(paragraph: Element) -> int:
    properties = child(paragraph, "pPr")
    value = properties.get("lvl") if properties is not None else None
    return min(int(value), 8) if value and value.isdecimal() else 0


def _is_bullet(paragraph: Element) -> bool:
    properties = child(paragraph, "pPr")
    return any(child(properties, name) is not None for name in ("buChar", "buAutoNum"))


def _table(table: Element) -> str:
    rows = [
        [" ".join(_paragraphs(cell)) for cell in row if local(cell) == "tc"]
        for row in table
        if local(row) == "tr"
    ]
    return pipe_table(rows)


def _chart(root: Element) -> str:
    """Title, then categories and series as a table."""
    title = child(root, "chart", "title")
    text = " ".join(_paragraphs(title)) if title is not None else ""
    columns: list[list[str]] = []
    for series in descendants(root, "ser"):
        categories = child(series, "cat")
        if categories is not None and not columns:
            columns.append(["", *_values(categories)])
        values = child(series, "val")
        named = child(series, "tx")
        columns.append(
            [
                " ".join(_values(named)) if named is not None else "",
                *(_values(values) if values is not None else ()),
            ]
        )
    height = max(map(len, columns), default=0)
    rows = [[column[i] if i < len(column) else "" for column in columns] for i in range(height)]
    return "\n\n".join(part for part in (escape(text), pipe_table(rows)) if part)


def _values(element: Element) -> list[str]:
    return [e.text or "" for e in descendants(element, "v")]


def _notes(package: Package, related: dict[str, tuple[str, str]]) -> list[str]:
    name = next((target for kind, target in related.values() if kind == "notesSlide"), "")
    root = package.xml(name)
    tree = child(root, "cSld", "spTree")
    if tree is None:
        return []
    texts = [_text_frame(s) for s in _shapes(tree) if _placeholder(s) not in _FURNITURE]
    return [text for text in texts if text]
