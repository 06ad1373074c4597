"""What a page says about itself: title, meta, Dublin Core, Open Graph, JSON-LD (D-01)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lxml.html import HtmlElement

from localdb_core.domain import Metadata

_SPACE = re.compile(r"\s+")
_DATE = re.compile(r"^\s*(\d{4})(?:-?(\d{2})(?:-?(\d{2}))?)?(?=$|[T\s])")
_LANGUAGE = re.compile(r"^[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*$")
_URL = re.compile(r"^(?:https?:)?//", re.IGNORECASE)
# Best first. Keys are meta names and properties, lower case, ":" and "." alike.
_CREATOR = ("author", "dc.creator", "dcterms.creator", "article.author", "parsely-author")
_DESCRIPTION = ("description", "dc.description", "dcterms.description", "og.description")
_KEYWORDS = ("keywords", "dc.subject", "dcterms.subject", "article.tag", "news_keywords")
_PUBLISHER = ("dc.publisher", "dcterms.publisher", "og.site_name", "application-name")
_PUBLISHED = (
    "article.published_time",
    "dc.date",
    "dcterms.date",
    "dcterms.created",
    "dc.date.issued",
    "dcterms.issued",
    "date",
    "datepublished",
    "parsely-pub-date",
)
_LANGUAGES = ("dc.language", "dcterms.language", "content-language", "og.locale")
_ARTICLE_TYPES = ("article", "posting", "page", "report", "book", "work", "review", "course")
_MOST_LD = 1_000_000  # characters of one JSON-LD script
_DEEPEST_LD = 8


def read_metadata(root: HtmlElement, *, media_type: str) -> Metadata:
    """Dublin Core of the page; ``root`` still has its head and scripts."""
    meta = _meta_values(root)
    linked = _linked_data(root)
    return Metadata(
        title=_title(root) or _first(meta, ("og.title", "dc.title")) or linked.get("headline"),
        creator=_creators(meta) or tuple(linked.get("author", ())),
        subject=_split(_all(meta, _KEYWORDS)),
        description=_first(meta, _DESCRIPTION) or linked.get("description"),
        publisher=_first(meta, _PUBLISHER) or linked.get("publisher"),
        contributor=tuple(_all(meta, ("dc.contributor", "dcterms.contributor"))),
        date=_date(_all(meta, _PUBLISHED)) or _date([linked.get("datePublished", "")]),
        format=media_type,
        identifier=_first(meta, ("dc.identifier", "dcterms.identifier")),
        language=_language(root, meta, linked),
        rights=_first(meta, ("dc.rights", "dcterms.rights", "copyright")),
    )


def _title(root: HtmlElement) -> str | None:
    """The title element, else the first h1 (S-12)."""
    for path in (".//head/title", ".//title", ".//h1"):
        element = root.find(path)
        if element is not None and (text := _clean("".join(element.itertext()))):
            return text
    return None


def _meta_values(root: HtmlElement) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for element in root.iter("meta"):
        names = (element.get(key) for key in ("name", "property", "itemprop", "http-equiv"))
        key = next((name for name in names if name), "").strip().lower().replace(":", ".")
        content = _clean(element.get("content") or "")
        if key and content and content not in values.setdefault(key, []):
            values[key].append(content)
    return values


def _creators(meta: Mapping[str, list[str]]) -> tuple[str, ...]:
    for name in _CREATOR:
        people = tuple(value for value in meta.get(name, ()) if not _URL.match(value))
        if people:
            return people
    return ()


def _language(root: HtmlElement, meta: Mapping[str, list[str]], linked: Any) -> str | None:
    html = root if root.tag == "html" else root.find(".//html")
    declared = [html.get("lang"), html.get("xml:lang")] if html is not None else []
    for value in (*declared, *_all(meta, _LANGUAGES), linked.get("inLanguage")):
        if value and _LANGUAGE.match(value.strip()):
            return str(value).strip().replace("_", "-")
    return None


def _linked_data(root: HtmlElement) -> dict[str, Any]:  # Any: str or list of str
    """The few JSON-LD fields we read, from the first things that have them."""
    found: dict[str, Any] = {}
    for script in root.iter("script"):
        if (script.get("type") or "").strip().lower() != "application/ld+json":
            continue
        for thing in _things(_json(script.text or "")):
            for key, value in _fields(thing):
                found.setdefault(key, value)
    return found


def _json(text: str) -> Any:  # Any: whatever JSON holds
    try:
        return json.loads(text, strict=False) if len(text) <= _MOST_LD else None
    except (ValueError, RecursionError):
        return None  # pages are full of broken JSON-LD; it is only a hint


def _things(value: Any, level: int = 0) -> Iterator[Mapping[str, Any]]:  # Any: JSON values
    if level > _DEEPEST_LD:
        return
    if isinstance(value, list):
        for item in value:
            yield from _things(item, level + 1)
    elif isinstance(value, dict):
        kinds = " ".join(_texts(value.get("@type"))).lower()
        if any(kind in kinds for kind in _ARTICLE_TYPES):
            yield value
        yield from _things(value.get("@graph"), level + 1)
        yield from _things(value.get("mainEntity"), level + 1)


def _fields(thing: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:  # Any: JSON values
    for key in ("headline", "datePublished", "inLanguage", "description"):
        texts = _texts(thing.get(key))
        if texts:
            yield key, texts[0]
    people = [name for name in _names(thing.get("author")) if not _URL.match(name)]
    if people:
        yield "author", people
    publishers = _names(thing.get("publisher"))
    if publishers:
        yield "publisher", publishers[0]


def _names(value: Any) -> list[str]:  # Any: JSON values
    """Names of people, written as text, as an object, or as a list of either."""
    if isinstance(value, list):
        return [name for item in value if not isinstance(item, list) for name in _names(item)]
    return _texts(value.get("name") if isinstance(value, dict) else value)


def _texts(value: Any) -> list[str]:  # Any: JSON values
    values = value if isinstance(value, list) else [value]
    return [text for item in values if isinstance(item, str) and (text := _clean(item))]


def _all(meta: Mapping[str, list[str]], names: Iterable[str]) -> list[str]:
    return [value for name in names for value in meta.get(name, ())]


def _first(meta: Mapping[str, list[str]], names: Iterable[str]) -> str | None:
    return next(iter(_all(meta, names)), None)


def _split(values: Iterable[str]) -> tuple[str, ...]:
    words = (word.strip() for value in values for word in re.split(r"[,;]", value))
    return tuple(dict.fromkeys(word for word in words if word))


def _date(values: Iterable[str]) -> str | None:
    for value in values:
        found = _DATE.match(value)
        if found:
            return "-".join(part for part in found.groups() if part)
    return None


def _clean(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
