"""Parsing a page, and taking out what is not its text."""

from __future__ import annotations

import re
from collections.abc import Iterator

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

# L-PAR-13: scripts, styles, nav, footer and aside never reach the text. The rest
# is machinery of the page.
_DROPPED = [
    "script",
    "style",
    "nav",
    "footer",
    "aside",
    "noscript",
    "template",
    "svg",
    "canvas",
    "iframe",
    "object",
    "embed",
    "applet",
    "button",
    "select",
    "textarea",
    "input",
    "datalist",
    "audio",
    "head",
    "title",
    "meta",
    "link",
    "base",
]
_DROPPED_ROLES = frozenset({"navigation", "contentinfo", "complementary", "search"})
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_PERMALINK_CLASSES = frozenset({"headerlink", "anchor", "heading-anchor", "hash-link"})
_PERMALINK_TEXTS = frozenset({"¶", "#", "§", "🔗", "\uf0c1"})
_LINE_NUMBERS = frozenset({"linenos", "linenodiv", "lineno", "line-numbers", "gutter", "blob-num"})
_TEX = "application/x-tex"
DEEPEST = 2048  # libxml2 reads no further down


def parse(text: str) -> HtmlElement | None:
    """The page's root, or None when there is no element in it."""
    # Bytes, because lxml refuses text that names an encoding of its own.
    parser = lxml.html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True
    )
    try:
        root = lxml.html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:  # "Document is empty"
        return None
    return root


def prune(root: HtmlElement) -> None:
    """Take out, in place, everything that is not text of the page."""
    _write_out_formulas(root)
    _drop(list(root.iter(*_DROPPED)))
    _drop([e for e in _elements(root) if _is_furniture(e)])
    hidden = [e for e in _elements(root) if _is_hidden(e)]
    # Some pages hide their whole body until a script shows it.
    if hidden and _visible_text(root, hidden):
        _drop(hidden)


def text_size(element: HtmlElement) -> int:
    """Characters of text below an element, white space left out."""
    return sum(len("".join(text.split())) for text in element.itertext())


def depth(element: HtmlElement) -> int:
    """How many elements are nested in each other, at most."""
    deepest = level = 0
    for event, _ in etree.iterwalk(element, events=("start", "end")):
        level += 1 if event == "start" else -1
        deepest = max(deepest, level)
    return deepest


def classes(element: HtmlElement) -> frozenset[str]:
    """The element's classes."""
    return frozenset((element.get("class") or "").split())


def _elements(root: HtmlElement) -> Iterator[HtmlElement]:
    for element in root.iter(etree.Element):
        if element is not root and element.tag != "body":
            yield element


def _drop(elements: list[HtmlElement]) -> None:
    for element in elements:
        if element.getparent() is not None:
            element.drop_tree()


def _is_furniture(element: HtmlElement) -> bool:
    if (element.get("role") or "").lower() in _DROPPED_ROLES:
        return True
    own = classes(element)
    if own & _LINE_NUMBERS and element.tag in ("td", "div", "span", "pre"):
        return True
    if element.tag != "a":
        return False
    text = "".join(element.itertext()).strip() if len(element) < 3 else "…"
    return text in _PERMALINK_TEXTS or (not text and bool(own & _PERMALINK_CLASSES))


def _is_hidden(element: HtmlElement) -> bool:
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    style = element.get("style")
    return style is not None and _HIDDEN_STYLE.search(style) is not None


def _visible_text(root: HtmlElement, hidden: list[HtmlElement]) -> bool:
    concealed = set(hidden)
    level = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            level += element in concealed
            text = element.text
        else:
            level -= element in concealed
            text = element.tail
        if not level and text and text.strip():
            return True
    return False


def _write_out_formulas(root: HtmlElement) -> None:
    """MathML that carries its TeX becomes that TeX; its picture goes."""
    for formula in list(root.iter("math")):
        tex = next(
            (a.text for a in formula.iter("annotation") if a.get("encoding") == _TEX), None
        ) or formula.get("alttext")
        if not tex:
            continue
        tail = formula.tail
        formula.clear()
        formula.tag, formula.text, formula.tail = "span", f"${tex.strip()}$", tail
        parent = formula.getparent()
        # Wikipedia hides the formula and shows a picture with the TeX as its text.
        if parent is not None and _is_hidden(parent):
            parent.attrib.pop("style", None)
            picture = parent.getnext()
            if picture is not None and picture.tag in ("img", "meta"):
                _drop([e for e in (picture, picture.getnext()) if e is not None and e.tag == "img"])
