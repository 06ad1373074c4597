"""Which part of a page is its content.

Semantic elements decide. Without them an extraction library says which *words* are
content, and the smallest element that holds nearly all of them is kept whole: the
library's own output loses headings, lists or tables, its judgement does not.
"""

from __future__ import annotations

import logging
import re
from collections import Counter

import lxml.html
from lxml.html import HtmlElement

from localdb_html.tree import text_size

_WORD = re.compile(r"\w+")
_HOLDS = 0.9  # of the words that count as content must stay when we go one level down
_SUSPICIOUS = 10  # less than one tenth of the page's text is not its content
_SMALL = 2000  # characters; below, a page is not worth second thoughts
_EXTRACTABLE = 2_000_000  # characters of text; above, looking for the content takes seconds
_WHOLE = frozenset({"p", "pre", "ul", "ol", "dl", "tbody", "thead", "tr", "td", "blockquote"})


def main_content(root: HtmlElement) -> list[HtmlElement]:
    """The elements to read, in order; ``root`` is pruned already."""
    body = root.find("body")
    if body is None:
        return [root]
    total = text_size(body)
    for chosen in (_articles(root), _first(root, ".//main"), _first(root, ".//*[@role='main']")):
        held = sum(map(text_size, chosen))
        if held and (total < _SMALL or held * _SUSPICIOUS >= total):
            return chosen
    if total < _SMALL or total > _EXTRACTABLE:
        return [body]
    located = _located(body)
    return [located if text_size(located) * _SUSPICIOUS >= total else body]


def _first(root: HtmlElement, path: str) -> list[HtmlElement]:
    found = root.xpath(path)
    return [e for e in found[:1] if isinstance(e, HtmlElement)] if isinstance(found, list) else []


def _articles(root: HtmlElement) -> list[HtmlElement]:
    """Every outermost article, after the page's header."""
    articles = [a for a in root.iter("article") if next(a.iterancestors("article"), None) is None]
    if not articles:
        return []
    header = next(root.iter("header"), None)
    if header is None or not _is_page_header(header):
        return articles
    return [header, *articles]


def _is_page_header(header: HtmlElement) -> bool:
    """Whether it introduces the text; a banner of links belongs to the site."""
    if next(header.iterancestors("article"), None) is not None:
        return False  # comes with its article
    size = text_size(header)
    linked = sum(text_size(link) for link in header.iter("a"))
    return size > 0 and (linked * 2 <= size or next(header.iter("h1"), None) is not None)


def _located(body: HtmlElement) -> HtmlElement:
    wanted = Counter(_WORD.findall(_extracted(body).lower()))
    if not wanted:
        return body
    node, held = body, _held(wanted, body)
    while node.tag not in _WHOLE:
        best = max(
            ((_held(wanted, child), number) for number, child in enumerate(node)),
            default=(0, 0),
        )
        if best[0] < _HOLDS * held or best[0] == 0:
            return node
        held, node = best[0], node[best[1]]
    parent = node.getparent()
    return parent if parent is not None else node


def _held(wanted: Counter[str], element: HtmlElement) -> int:
    """How many of the wanted words the element holds, each as often as wanted."""
    words = Counter(_WORD.findall(" ".join(element.itertext()).lower()))
    # over the element's words: of thousands of children, most have only a few
    return sum(min(count, wanted[word]) for word, count in words.items())


def _extracted(body: HtmlElement) -> str:
    import trafilatura  # 370 ms

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it calls odd pages errors
    page = f"<html>{lxml.html.tostring(body, encoding='unicode')}</html>"
    try:
        text = trafilatura.extract(page, output_format="txt", favor_recall=True)
    except RecursionError:
        return ""
    return text or ""
