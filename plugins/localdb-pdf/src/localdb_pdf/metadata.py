"""What a PDF says about itself: the information dictionary first, XMP second."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from pypdf import PdfReader
from pypdf.xmp import XmpInformation

from localdb_core.domain import Metadata
from localdb_pdf.pages import clean

MEDIA_TYPE = "application/pdf"

_DATE = re.compile(r"(?:D:)?\s*(\d{4})(?:-?(\d{2})(?:-?(\d{2}))?)?")


def read_metadata(reader: PdfReader, *, page_count: int) -> Metadata:
    """Dublin Core; whatever cannot be read stays empty."""
    own = Metadata(format=MEDIA_TYPE, extra={"page_count": page_count})
    info = _tolerant(lambda: _from_info(reader)) or Metadata()
    xmp = _tolerant(lambda: reader.xmp_metadata)
    return own.filled_from(info).filled_from(_from_xmp(xmp) if xmp else Metadata())


def parse_date(text: str | None) -> str | None:
    """``YYYY``, ``YYYY-MM`` or ``YYYY-MM-DD``; None for anything that is no date."""
    found = _DATE.match(text.strip()) if text else None
    if not found:
        return None
    parts = [part for part in found.groups() if part]
    try:
        date(*[int(part) for part in (*parts, "01", "01")[:3]])
    except ValueError:
        return None
    return "-".join(parts)


def split_keywords(text: str | None) -> tuple[str, ...]:
    """Keywords between commas and semicolons, each once."""
    words = (word.strip() for word in re.split("[,;]", text or ""))
    return tuple(dict.fromkeys(word for word in words if word))


def _from_info(reader: PdfReader) -> Metadata:
    info: Mapping[str, Any] = reader.metadata or {}  # Any: pypdf objects of any kind

    def field(name: str) -> str | None:
        return _tolerant(lambda: _text(info[name].get_object())) if name in info else None

    author = field("/Author")
    return Metadata(
        title=field("/Title"),
        creator=(author,) if author else (),
        description=field("/Subject"),
        subject=split_keywords(field("/Keywords")),
        date=parse_date(field("/CreationDate")),
    )


def _from_xmp(xmp: XmpInformation) -> Metadata:
    subject = _many(lambda: xmp.dc_subject)
    return Metadata(
        title=_first(lambda: xmp.dc_title),
        creator=_many(lambda: xmp.dc_creator),
        description=_first(lambda: xmp.dc_description),
        subject=subject or split_keywords(_first(lambda: xmp.pdf_keywords)),
        date=_first(lambda: xmp.xmp_create_date),
        language=_first(lambda: xmp.dc_language),
        rights=_first(lambda: xmp.dc_rights),
    )


def _first(read: Callable[[], Any]) -> str | None:  # Any: text, list, or language → text
    return next(iter(_many(read)), None)


def _many(read: Callable[[], Any]) -> tuple[str, ...]:  # Any: as above
    value = _tolerant(read)
    if isinstance(value, Mapping):
        default = value.get("x-default")
        value = [default] if default else list(value.values())
    if isinstance(value, str | bytes | datetime):
        value = [value]
    texts = (_text(item) for item in value or ())
    return tuple(text for text in texts if text)


def _text(value: Any) -> str | None:  # Any: a pypdf object
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if not isinstance(value, str):
        return None
    return " ".join(clean(value).split()) or None


def _tolerant(read: Callable[[], Any]) -> Any:  # Any: whatever ``read`` gives
    try:
        return read()
    except Exception:  # noqa: BLE001 - damaged metadata may raise anything; the text still counts
        return None
