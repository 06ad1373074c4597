"""From elements to Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import lxml.html
from bs4 import BeautifulSoup, Tag
from lxml import etree
from lxml.html import HtmlElement
from markdownify import MarkdownConverter

from localdb_html.simplify import LANGUAGE_KEY, NUMBER_KEY, simplify
from localdb_html.tables import straighten

_DEEP = 200  # nested elements; markdownify recurses three frames for each
_FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)
_SAFE_LINK = re.compile(r"^(?!\s*(?:javascript|data|vbscript):)", re.IGNORECASE)
_BARE_PIPE = re.compile(r"(?<!\\)((?:\\\\)*)\|")
_BLANK_LINES = re.compile(r"\n{3,}")
_TRAILING = re.compile(r"^ +$", re.MULTILINE)
_SPACE = re.compile(r"\s+")
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_BLOCK_TAGS = frozenset(
    [
        "address",
        "article",
        "blockquote",
        "body",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "form",
        "header",
        "hr",
        "li",
        "main",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tr",
        "ul",
    ]
) | frozenset(_HEADINGS)


def to_markdown(elements: Sequence[HtmlElement], *, depth: int) -> str:
    """The elements as CommonMark with tables, joined by blank lines.

    ``depth`` is how deep the page is nested; too deep means paragraphs and headings only.
    """
    convert = _plain if depth > _DEEP else _convert
    return "\n\n".join(part for part in map(convert, elements) if part)


def _convert(element: HtmlElement) -> str:
    straighten(element)
    simplify(element)
    source = lxml.html.tostring(element, encoding="unicode", with_tail=False)
    try:
        soup = BeautifulSoup(source, "lxml", element_classes={Tag: _Tag})
        text: str = _Converter().convert_soup(soup)
    except RecursionError:
        return _plain(element)
    return _BLANK_LINES.sub("\n\n", text).strip()


def _plain(element: HtmlElement) -> str:
    """Paragraphs and headings only, without recursion, for pages nested absurdly deep."""
    escape = _Converter().escape
    parts: list[str] = []
    for event, node in etree.iterwalk(element, events=("start", "end")):
        if node.tag in _BLOCK_TAGS:
            parts.append("\n\n")
        if event == "start":
            parts.append(_HEADINGS.get(node.tag, "") + " " if node.tag in _HEADINGS else "")
            text = node.text
        else:
            text = node.tail if node is not element else None
        parts.append(escape(_SPACE.sub(" ", text), set()) if text else "")
    lines = (_SPACE.sub(" ", part).strip() for part in "".join(parts).split("\n\n"))
    return "\n\n".join(line for line in lines if line.strip("#"))


class _Tag(Tag):
    """markdownify asks every tag whether it stands in ``pre``; after simplify none does."""

    def find_parent(self, name: Any = None, *args: Any, **kwargs: Any) -> Tag | None:
        return None if name == "pre" else super().find_parent(name, *args, **kwargs)


_Base: Any = MarkdownConverter  # its stubs leave out most of what a subclass may override


class _Converter(_Base):  # type: ignore[misc]  # see _Base
    """markdownify's rules, with those of real pages and of our block reader."""

    class Options:
        heading_style = "atx"
        autolinks = False
        escape_misc = True  # without it "<name>" in running text would be read as a tag
        table_infer_header = True

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A link; blocks inside one cannot be linked in Markdown."""
        href = str(el.get("href") or "").strip()
        if "\n" in text or "_noformat" in parent_tags or not href or not _SAFE_LINK.match(href):
            return text
        if not text.strip():
            return ""
        el["href"] = f"<{href}>" if re.search(r"[\s()]", href) else href
        el.attrs.pop("title", None)
        return str(super().convert_a(el, text, parent_tags))

    def convert_b(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Strong text, unless it holds whole paragraphs."""
        return text if "\n\n" in text else str(super().convert_b(el, text, parent_tags))

    convert_strong = convert_b

    def convert_em(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Emphasis, unless it holds whole paragraphs."""
        return text if "\n\n" in text else str(super().convert_em(el, text, parent_tags))

    convert_i = convert_em

    def convert_dt(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A term is a paragraph: CommonMark has no definition lists."""
        return str(self.convert_p(el, text, parent_tags))

    def convert_dd(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A definition keeps its own blocks, unindented, so that code in it stays code."""
        return str(self.convert_div(el, text, parent_tags))

    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: set[str]) -> str:  # noqa: N802
        """A heading; an empty one is none."""
        return str(super().convert_hN(n, el, text, parent_tags)) if text.strip() else ""

    def convert_hr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A rule that cannot be taken for front matter."""
        return "\n\n***\n\n"

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """An image by address; embedded data is not text."""
        source = str(el.get("src") or "")
        if not source or source.startswith("data:"):
            source = str(el.get("data-src") or "")
        alt = self.escape(_SPACE.sub(" ", str(el.get("alt") or "")).strip(), parent_tags)
        if "_inline" in parent_tags or "a" in parent_tags:
            return str(alt)
        if not source or source.startswith("data:"):
            return str(alt)
        address = f"<{source}>" if re.search(r"[\s()]", source) else source
        return f"![{alt}]({address})"

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A list item, with the number it was given."""
        text = text.strip()
        if not text:
            return "\n"
        number = el.get(NUMBER_KEY)
        bullet = f"{number}. " if number else "- "
        lines = text.replace("\n", "\n" + " " * len(bullet))
        return f"{bullet}{_TRAILING.sub('', lines)}\n"

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A fence longer than any in the code; code spans inside table cells."""
        code = el.get_text().strip("\n")
        if not code.strip():
            return ""
        if "_inline" in parent_tags:
            return f" {code.strip()} "
        longest = max((len(run) for run in _FENCE.findall(code)), default=2)
        fence = "`" * (longest + 1)
        return f"\n\n{fence}{el.get(LANGUAGE_KEY) or ''}\n{code}\n{fence}\n\n"

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A cell whose own pipes do not end it."""
        return str(super().convert_td(el, _BARE_PIPE.sub(r"\1\\|", text), parent_tags))

    def convert_th(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A header cell."""
        return self.convert_td(el, text, parent_tags)

    def convert_video(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """What a page says when it cannot play a film is not its text."""
        return ""
