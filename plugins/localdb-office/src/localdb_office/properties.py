"""Core properties of an Office file as Dublin Core (D-01)."""

from __future__ import annotations

import re

from localdb_core.domain import Metadata
from localdb_office.package import Package, local

_DATE = re.compile(r"^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_DEFAULT_PART = "docProps/core.xml"


def read_properties(package: Package, *, media_type: str) -> Metadata:
    """What the author's program wrote about the document."""
    part = next(
        (name for kind, name in package.related("").values() if kind == "core-properties"),
        _DEFAULT_PART,
    )
    root = package.xml(part)
    values = {local(e): " ".join((e.text or "").split()) for e in root} if root is not None else {}
    subject = [values.get("subject", ""), *re.split(r"[,;]", values.get("keywords", ""))]
    creators = (name.strip() for name in values.get("creator", "").split(";"))
    return Metadata(
        title=values.get("title") or None,
        creator=tuple(name for name in creators if name),
        subject=tuple(dict.fromkeys(word.strip() for word in subject if word.strip())),
        description=values.get("description") or None,
        publisher=values.get("publisher") or None,
        date=_date(values.get("created", "")),
        format=media_type,
        identifier=values.get("identifier") or None,
        language=values.get("language") or None,
    )


def _date(value: str) -> str | None:
    found = _DATE.match(value)
    return "-".join(part for part in found.groups() if part) if found else None
