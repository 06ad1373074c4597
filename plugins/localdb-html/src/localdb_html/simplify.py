"""Makes a tree small before it is converted: what Markdown cannot say costs only time."""

from __future__ import annotations

import re
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from localdb_html.tree import classes

# Tags that add nothing to their text.
_EMPTY_TAGS = [
    "span",
    "font",
    "small",
    "big",
    "center",
    "bdi",
    "bdo",
    "abbr",
    "acronym",
    "time",
    "ins",
    "u",
    "cite",
    "mark",
    "data",
    "label",
    "dfn",
    "var",
    "nobr",
    "wbr",
    "ruby",
    "rb",
    "o:p",
    "picture",
    "source",
    "track",
    "input",
    "form",
    "fieldset",
]
_USELESS_ATTRIBUTES = [
    "class",
    "id",
    "style",
    "title",
    "target",
    "rel",
    "lang",
    "dir",
    "role",
    "name",
    "width",
    "height",
    "align",
    "valign",
    "border",
    "aria-label",
    "aria-hidden",
    "data-type",
    "loading",
    "decoding",
    "srcset",
    "sizes",
    "onclick",
    "itemprop",
    "tabindex",
]
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|highlight|code)-([\w+#.-]+)")
_NO_LANGUAGE = frozenset({"default", "none", "text", "plain", "plaintext", "block", "notranslate"})
LANGUAGE_KEY = "data-language"
NUMBER_KEY = "data-number"


def simplify(element: HtmlElement) -> None:
    """Turn code into plain text and drop empty tags and useless attributes, in place."""
    for pre in list(element.iter("pre")):
        _flatten(pre)
    for numbered in element.iter("ol"):
        _number(numbered)
    etree.strip_tags(element, *_EMPTY_TAGS)
    etree.strip_attributes(element, *_USELESS_ATTRIBUTES)


def _number(ordered: HtmlElement) -> None:
    """Write every item's number down; counting siblings again and again takes minutes."""
    number = _whole(ordered.get("start"), 1)
    for item in ordered.iterchildren("li"):
        number = _whole(item.get("value"), number)
        item.set(NUMBER_KEY, str(number))
        number += 1


def _whole(value: str | None, default: int) -> int:
    return int(value) if value and value.isdecimal() and len(value) < 9 else default


def _flatten(pre: HtmlElement) -> None:
    language = _language(pre)
    for line_break in list(pre.iter("br")):
        line_break.text = "\n"
    code, tail = "".join(pre.itertext()), pre.tail
    pre.clear()
    pre.text, pre.tail = code, tail
    if language:
        pre.set(LANGUAGE_KEY, language)


def _language(pre: HtmlElement) -> str:
    """The language named by the element, its code child or the two boxes around it."""
    around = islice(pre.iterancestors(), 2)
    for element in (pre, *pre.findall("code"), *around):
        named = element.get("data-lang") or element.get(LANGUAGE_KEY)
        language = (named or _named_by_class(element)).strip().lower()
        if language and language not in _NO_LANGUAGE and not re.search(r"[\s`]", language):
            return language
    return ""


def _named_by_class(element: HtmlElement) -> str:
    value = element.get("class") or ""
    if value.startswith("brush:"):
        return re.split(r"[;\s]", value[6:].strip(), maxsplit=1)[0]
    own = classes(element)
    if "sourceCode" in own:  # pandoc writes "sourceCode python"
        return next((name for name in value.split() if name != "sourceCode"), "")
    for name in value.split():
        found = _LANGUAGE.fullmatch(name)
        if found and found[1] not in _NO_LANGUAGE:
            return found[1]
    return ""
