"""Word files: the body in order, with headings, lists, tables, text boxes and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from localdb_core.plugin import Progress
from localdb_office.docx_styles import Numbering, Style, Styles
from localdb_office.markdown import escape, escape_inline, heading, pipe_table
from localdb_office.package import Element, Package, attribute, child, descendants, local
from localdb_office.symbol import symbol, translated

_MAIN = "word/document.xml"
# Deleted text, the second copy of a drawing for old readers, and field codes.
_SKIPPED = frozenset({"del", "moveFrom", "Fallback", "pPr", "rPr", "instrText", "delText", "tbl"})
_CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011"}
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_PRIVATE = re.compile("[\uf000-\uf0ff]")  # symbol fonts keep their characters there
_REPORT_EVERY = 200  # paragraphs
_INDENT = "    "  # wide enough below "- " and below "10. "


@dataclass(slots=True)
class Word:
    """One Word file being read: what was written so far, and what it needs to know."""

    styles: Styles
    numbering: Numbering
    notes: dict[str, dict[str, Element]]
    progress: Progress
    parts: list[str] = field(default_factory=list)
    pending: list[Element] = field(default_factory=list)
    references: list[Element] = field(default_factory=list)
    title: str | None = None
    first_heading: str | None = None
    list_depth: int = -1
    done: int = 0

    def blocks(self, container: Element) -> None:
        """Write the paragraphs and tables below an element."""
        for element in _block_elements(container):
            if local(element) == "tbl":
                self._table(element)
            else:
                self._paragraph(element)
            while self.pending:
                self.blocks(self.pending.pop(0))

    def markdown(self) -> str:
        """Everything written, notes last."""
        for number, note in enumerate(self.references, 1):  # a note may refer to another
            text = " ".join(self.text(p) for p in descendants(note, "p"))
            self._write(f"{escape(f'[{number}] {text}')}")
        return "\n\n".join(part for part in self.parts if part)

    def text(self, element: Element) -> str:
        """The text of a paragraph; text boxes in it wait for their turn."""
        pieces: list[str] = []
        stack = [iter(element)]
        while stack:
            node = next(stack[-1], None)
            if node is None:
                stack.pop()
                continue
            name = local(node)
            if name == "txbxContent":
                self.pending.append(node)
            elif name not in _SKIPPED:
                pieces.append(self._piece(name, node))
                stack.append(iter(node))
        return "".join(pieces)

    def _piece(self, name: str, node: Element) -> str:
        if name == "t":
            return _readable(node)
        if name in _CHARACTERS:
            return _CHARACTERS[name]
        if name == "sym":
            return symbol(attribute(node, "font") or "", attribute(node, "char") or "")
        if name in _NOTES:
            note = self.notes[_NOTES[name]].get(attribute(node, "id") or "")
            if note is not None:
                self.references.append(note)
                return f"[{len(self.references)}]"
        return ""

    def _paragraph(self, paragraph: Element) -> None:
        self.done += 1
        if self.done % _REPORT_EVERY == 0:
            self.progress(self.done, None)
        style = self.styles.of(paragraph)
        text = " ".join(self.text(paragraph).split())
        if not text:
            return
        if style.level:
            self._remember(text, style)
            self._write(heading(text, level=style.level))
        elif style.num_id and style.num_id != "0":
            self._item(text, style)
        else:
            self._write(escape(text))

    def _remember(self, text: str, style: Style) -> None:
        if style.title and self.title is None:
            self.title = text
        if style.level == 1 and self.first_heading is None:
            self.first_heading = text

    def _item(self, text: str, style: Style) -> None:
        level = style.list_level or 0
        marker = self.numbering.marker(style.num_id or "", level)
        depth = min(level, self.list_depth + 1)  # a skipped level would look like code
        line = f"{_INDENT * depth}{marker} {escape_inline(text)}"
        if self.list_depth >= 0:
            self.parts[-1] += f"\n{line}"
        else:
            self.parts.append(line)
        self.list_depth = depth

    def _write(self, part: str) -> None:
        self.parts.append(part)
        self.list_depth = -1

    def _table(self, table: Element) -> None:
        rows = [self._row(row) for row in _children(table, "tr")]
        rows = [row for row in rows if any(_text_below(cell) for cell in row)]
        if rows and max(map(len, rows)) == 1:  # a frame around text
            for (cell,) in rows:
                self.blocks(cell)
            return
        texts = [[self._cell(cell) for cell in row] for row in rows]
        if texts:
            self._write(pipe_table(texts))

    def _row(self, row: Element) -> list[Element | None]:
        cells: list[Element | None] = []
        for cell in _children(row, "tc"):
            properties = child(cell, "tcPr")
            merged, span = child(properties, "vMerge"), child(properties, "gridSpan")
            continued = merged is not None and attribute(merged, "val") != "restart"
            cells.append(None if continued else cell)
            width = attribute(span, "val") if span is not None else None
            if width and width.isdecimal():
                cells.extend([None] * (min(int(width), 64) - 1))
        return cells

    def _cell(self, cell: Element | None) -> str:
        if cell is None:
            return ""
        return " ".join(filter(None, (self.text(p).strip() for p in descendants(cell, "p"))))


def read_docx(package: Package, progress: Progress) -> tuple[str, str | None]:
    """The document as Markdown, and its title as it stands in the text."""
    main = package.main_part(_MAIN)
    related = dict(package.related(main).values())
    root = package.xml(main)
    word = Word(
        styles=Styles.read(package, related.get("styles")),
        numbering=Numbering.read(package, related.get("numbering")),
        notes={kind: _notes(package, related.get(kind)) for kind in _NOTES.values()},
        progress=progress,
    )
    body = child(root, "body")
    if body is not None:
        word.blocks(body)
    return word.markdown(), word.title or word.first_heading


def _notes(package: Package, part: str | None) -> dict[str, Element]:
    root = package.xml(part) if part else None
    return {attribute(note, "id") or "": note for note in root} if root is not None else {}


def _readable(node: Element) -> str:
    text = node.text or ""
    if text.isascii() or not _PRIVATE.search(text):
        return text
    fonts = child(node.getparent(), "rPr", "rFonts")
    return translated(attribute(fonts, "ascii") or "" if fonts is not None else "", text)


def _block_elements(container: Element) -> Iterator[Element]:
    """Paragraphs and tables, through content controls and insertions."""
    for element in container:
        name = local(element)
        if name in ("p", "tbl"):
            yield element
        elif name not in _SKIPPED:
            yield from _block_elements(element)


def _children(element: Element, name: str) -> Iterator[Element]:
    """Rows of a table or cells of a row, also those in content controls."""
    for inner in element:
        if local(inner) == name:
            yield inner
        elif local(inner) in ("sdt", "sdtContent", "ins", "customXml"):
            yield from _children(inner, name)


def _text_below(cell: Element | None) -> bool:
    return cell is not None and any((t.text or "").strip() for t in descendants(cell, "t"))
