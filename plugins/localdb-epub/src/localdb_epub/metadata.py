"""Dublin Core of the package document."""

from __future__ import annotations

from typing import Any

from bs4 import BeautifulSoup

from localdb_core.domain import Metadata

MEDIA_TYPE = "application/epub+zip"
_DC = "http://purl.org/dc/elements/1.1/"


def read_metadata(package: Any) -> Metadata:  # Any: EbookLib's book
    """What the book says about itself; the first value where only one fits."""
    values: dict[str, list[tuple[Any, dict[str, str]]]] = package.metadata.get(_DC, {})

    def all_of(name: str) -> tuple[str, ...]:
        texts = (_squeezed(text) for text, _ in values.get(name, ()))
        return tuple(dict.fromkeys(text for text in texts if text))

    def first(name: str) -> str | None:
        return next(iter(all_of(name)), None)

    description = first("description")
    return Metadata(
        title=first("title"),
        creator=all_of("creator"),
        subject=all_of("subject"),
        description=_untagged(description) if description else None,
        publisher=first("publisher"),
        contributor=all_of("contributor"),
        date=first("date"),
        format=MEDIA_TYPE,
        identifier=_identifier(package, values) or first("identifier"),
        language=first("language"),
        rights=first("rights"),
    )


def _identifier(package: Any, values: dict[str, list[tuple[Any, dict[str, str]]]]) -> str | None:
    """The one that the package calls its unique identifier."""
    for text, attributes in values.get("identifier", ()):
        if attributes.get("id") == package.IDENTIFIER_ID:
            return _squeezed(text) or None
    return None


def _untagged(text: str) -> str | None:
    """Descriptions are often HTML written as text."""
    if "<" in text or "&" in text:
        text = BeautifulSoup(text, "lxml").get_text(" ")
    return _squeezed(text) or None


def _squeezed(text: Any) -> str:  # Any: None for an empty element
    return " ".join(text.split()) if isinstance(text, str) else ""
