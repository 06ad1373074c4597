"""Parser output to ordered, typed blocks (spec §4.2)."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localdb_core.domain import Block, BlockKind
from localdb_core.domain.frontmatter import split_front_matter
from localdb_core.pipeline.commonmark import Unstructured, block_tokens, engine
from localdb_core.pipeline.inline import Flattener
from localdb_core.pipeline.tables import table_block
from localdb_core.plugin import Document

if TYPE_CHECKING:
    from markdown_it.token import Token

LONGEST_HEADING = 1000
"""Characters; a longer one is running text, as it would stand in every trail below it."""

_NEWLINE = re.compile(r"\r\n?|\n")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_TASK = re.compile(r"\[[ xX]\][ \t]+")
_CONTAINERS = {
    "blockquote": "quote",
    "bullet_list": "list",
    "ordered_list": "list",
    "dl": "list",
    "list_item": "item",
    "dt": "item",
    "dd": "item",
}
_SEPARATORS = {"quote": " ", "list": "\n", "item": "\n", "": "\n\n"}


@dataclass(frozen=True, slots=True)
class Structure:
    """Blocks with dense ``seq``, and why they are paragraphs only, if they are."""

    blocks: tuple[Block, ...]
    problem: str | None = None


def to_blocks(document: Document) -> tuple[Block, ...]:
    """The document's blocks with dense ``seq``; blocks a parser gave are only numbered."""
    return structure_of(document).blocks


def structure_of(document: Document) -> Structure:
    """The document's blocks; a text too much for a Markdown reader is cut at blank lines."""
    problem = None
    if document.blocks is not None:
        blocks: Sequence[Block] = document.blocks
    else:
        blocks, problem = _from_markdown(document.markdown or "", document.page_starts)
    kept = (_plausible(block) for block in blocks if block.text.strip() or block.kind == "image")
    return Structure(tuple(block.numbered(seq) for seq, block in enumerate(kept)), problem)


def _plausible(block: Block) -> Block:
    if block.kind is BlockKind.HEADING and len(block.text) > LONGEST_HEADING:
        return Block.text_run(block.text, page=block.page)
    return block


def _from_markdown(
    markdown: str, page_starts: Sequence[tuple[int, int]]
) -> tuple[list[Block], str | None]:
    text = _NEWLINE.sub("\n", markdown.removeprefix("\ufeff")).replace("\x00", "\ufffd")
    front = split_front_matter(text)
    pages = _Pages(markdown, page_starts)
    blocks: list[Block] = []
    line = 0
    if front is not None:
        line = text.count("\n", 0, front.end)
        blocks.append(Block.frontmatter(front.body, format=front.format))
        if page_starts:
            blocks[0] = replace(blocks[0], page=pages.of_line(0))
        text = text[front.end :]
    environment: dict[str, object] = {}
    try:
        tokens = block_tokens(text, environment)
    except Unstructured as problem:
        return blocks + _paragraphs(text, line, pages), f"read without structure: {problem}"
    return blocks + _Builder(Flattener(engine(), environment), line, pages).build(tokens), None


def _paragraphs(text: str, first_line: int, pages: _Pages) -> list[Block]:
    body = _BLANK_LINES.sub("\n\n", text).strip()
    if not body:
        return []
    blank = len(text) - len(text.lstrip())
    line = first_line + text.count("\n", 0, blank)
    return [Block.text_run(body, page=pages.of_line(line))]


class _Pages:
    """Which page a line of the document stands on (L-PAR-28, L-DOM-51)."""

    def __init__(self, markdown: str, starts: Sequence[tuple[int, int]]) -> None:
        ordered = sorted(starts)
        self._offsets = [offset for offset, _ in ordered]
        self._numbers = [number for _, number in ordered]
        self._lines = _line_offsets(markdown) if ordered else []

    def of_line(self, line: int) -> int | None:
        """The page that holds the line's first byte; lines before the first page are on it."""
        if not self._lines:
            return None
        offset = self._lines[min(line, len(self._lines) - 1)]
        return self._numbers[max(0, bisect.bisect_right(self._offsets, offset) - 1)]


def _line_offsets(markdown: str) -> list[int]:
    """The byte offset of every line's first visible character."""
    offsets, place, start = [], 0, 0
    for newline in [*_NEWLINE.finditer(markdown), None]:
        end = len(markdown) if newline is None else newline.start()
        line = markdown[start:end]
        offsets.append(place + len(line) - len(line.lstrip(" \t")))
        after = "" if newline is None else newline.group()
        place += len(line.encode("utf-8", "surrogatepass")) + len(after)
        start = end + len(after)
    return offsets


class _Builder:
    """Walks block tokens and gathers running text between the other blocks (L-PAR-25)."""

    def __init__(self, flattener: Flattener, first_line: int, pages: _Pages) -> None:
        self._flat = flattener
        self._first_line = first_line
        self._pages = pages
        self._blocks: list[Block] = []
        self._text: list[str] = []
        self._text_line = 0
        self._containers: list[str] = []
        self._separator = ""
        self._line = 0

    def build(self, tokens: Sequence[Token]) -> list[Block]:
        """All blocks, in order."""
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if token.map:
                self._line = self._first_line + token.map[0]
            if token.type == "table_open":
                index = self._table(tokens, index)
            elif token.type == "heading_open":
                self._heading(tokens[index + 1], int(token.tag[1]))
                index += 2
            else:
                self._other(token)
            index += 1
        self._flush()
        return self._blocks

    def _other(self, token: Token) -> None:
        if token.type == "inline":
            self._inline(token)
        elif token.type in ("fence", "code_block"):
            self._flush()
            language = token.info.strip() or None
            content = token.content.removesuffix("\n")
            self._blocks.append(Block.code(content, language=language, page=self._page()))
        elif token.type == "html_block":
            self._add(self._flat.html(token.content))
        elif kind := _CONTAINERS.get(token.type.rpartition("_")[0]):
            if token.nesting == 1:
                self._enter(kind)
            else:
                self._leave(kind)

    def _enter(self, kind: str) -> None:
        if kind == "list" and self._separator == " ":
            self._separator = "\n"
        self._containers.append(kind)

    def _leave(self, kind: str) -> None:
        self._containers.pop()
        if kind == "list" and self._containers:
            self._separator = "\n"
        else:
            self._separator = self._here()

    def _here(self) -> str:
        return _SEPARATORS[self._containers[-1] if self._containers else ""]

    def _inline(self, token: Token) -> None:
        content = token.content
        if self._containers and self._containers[-1] == "item":
            content = _TASK.sub("", content, count=1) if _TASK.match(content) else content
        text, images = self._flat.flatten(content)
        self._add(text)
        self._images(images)

    def _heading(self, token: Token, level: int) -> None:
        self._flush()
        text, images = self._flat.flatten(token.content)
        if text:
            self._blocks.append(Block.heading(text, level=level, page=self._page()))
        self._images(images)

    def _table(self, tokens: Sequence[Token], index: int) -> int:
        self._flush()
        page = self._page()
        rows: list[list[str]] = []
        images: list[tuple[str, str | None]] = []
        while tokens[index].type != "table_close":
            token = tokens[index]
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                text, found = self._flat.flatten(token.content, keep_alt=True)
                rows[-1].append(text)
                images += found
            index += 1
        self._blocks.append(table_block(rows, page=page))
        self._images(images)
        return index

    def _images(self, images: Sequence[tuple[str, str | None]]) -> None:
        # After the paragraph they stand in: a picture must not cut a sentence in two.
        if images:
            self._flush()
        for alt, src in images:
            self._blocks.append(Block.image(alt=alt, src=src, page=self._page()))

    def _add(self, text: str) -> None:
        if not text:
            return
        if self._text:
            self._text.append(self._separator)
        else:
            self._text_line = self._line
        self._text.append(text)
        self._separator = self._here()

    def _flush(self) -> None:
        text = "".join(self._text).strip()
        if text:
            page = self._pages.of_line(self._text_line)
            self._blocks.append(Block.text_run(text, page=page))
        self._text = []

    def _page(self) -> int | None:
        return self._pages.of_line(self._line)
