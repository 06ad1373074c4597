"""Titles of chapters, from the table of contents."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from lxml import etree

from localdb_epub.archive import parse_xml

_XHTML = "{http://www.w3.org/1999/xhtml}"
_NCX = "{http://www.daisy.org/z3986/2005/ncx/}"
_TYPE = "{http://www.idpf.org/2007/ops}type"


@dataclass(frozen=True, slots=True)
class Title:
    """An entry of the table of contents; ``depth`` counts from 1."""

    text: str
    depth: int


def read_titles(content: bytes, place: str) -> dict[str, Title]:
    """File → title, from a ``nav`` document or an NCX at ``place``; the first entry counts.

    An entry for a whole file goes before one for a spot within it.
    """
    root = parse_xml(content)
    if root is None:
        return {}
    entries = list(_nav_entries(root) if root.tag == f"{_XHTML}html" else _ncx_entries(root))
    titles: dict[str, Title] = {}
    for whole in (True, False):
        for href, title in entries:
            path, _, fragment = href.partition("#")
            file = posixpath.normpath(posixpath.join(posixpath.dirname(place), unquote(path)))
            if path and title.text and bool(fragment) != whole:
                titles.setdefault(file, title)
    return titles


def _nav_entries(root: etree._Element) -> Iterator[tuple[str, Title]]:
    lists = list(root.iter(f"{_XHTML}nav"))
    for nav in [nav for nav in lists if nav.get(_TYPE) == "toc"] or lists[:1]:
        for link in nav.iter(f"{_XHTML}a"):
            depth = sum(1 for _ in link.iterancestors(f"{_XHTML}ol"))
            yield link.get("href") or "", Title(_text(link), max(depth, 1))


def _ncx_entries(root: etree._Element) -> Iterator[tuple[str, Title]]:
    for point in root.iter(f"{_NCX}navPoint"):
        label, target = point.find(f"{_NCX}navLabel"), point.find(f"{_NCX}content")
        if label is not None and target is not None:
            depth = 1 + sum(1 for _ in point.iterancestors(f"{_NCX}navPoint"))
            yield target.get("src") or "", Title(_text(label), depth)


def _text(element: etree._Element) -> str:
    return " ".join("".join(str(part) for part in element.itertext()).split())
