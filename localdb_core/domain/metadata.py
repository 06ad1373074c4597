"""Dublin Core metadata, tagged by the kind of resource (spec §1.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self

ResourceKind = Literal["document", "conversation", "transcription"]

REPEATED = ("creator", "subject", "contributor", "relation")
SCALAR = (
    "title",
    "description",
    "publisher",
    "date",
    "type",
    "format",
    "identifier",
    "source",
    "language",
    "coverage",
    "rights",
)
_EXTRA: dict[str, dict[str, Any]] = {
    "document": {"page_count": None, "word_count": None},
    "conversation": {"platform": None, "message_count": None, "date_range": None},
    "transcription": {"duration_ms": None, "speakers": [], "media_uri": None},
}


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a document says about itself.

    Every Dublin Core key is always present in JSON: an absent scalar is null, an
    absent repeated field is an empty list. ``extra`` holds the keys of the
    resource kind (``page_count``, ``word_count`` for a document).
    """

    title: str | None = None
    creator: tuple[str, ...] = ()
    subject: tuple[str, ...] = ()
    description: str | None = None
    publisher: str | None = None
    contributor: tuple[str, ...] = ()
    date: str | None = None
    type: str | None = None
    format: str | None = None
    identifier: str | None = None
    source: str | None = None
    language: str | None = None
    relation: tuple[str, ...] = ()
    coverage: str | None = None
    rights: str | None = None
    kind: ResourceKind = "document"
    extra: Mapping[str, Any] = field(default_factory=dict)  # Any: JSON values

    def to_json(self) -> dict[str, Any]:
        """Dublin Core flattened beside the tag; keys sorted as the contract prints them."""
        value: dict[str, Any] = {name: getattr(self, name) for name in SCALAR}
        value |= {name: list(getattr(self, name)) for name in REPEATED}
        value["kind"] = self.kind
        for name, default in _EXTRA[self.kind].items():
            value[name] = self.extra.get(name, default)
        return dict(sorted(value.items()))

    @classmethod
    def from_json(cls, value: Any) -> Self:  # Any: whatever an old or damaged row holds
        """Read what was stored; anything unreadable becomes an empty document (L-STO-07)."""
        if not isinstance(value, Mapping):
            return cls()
        kind = value.get("kind", "document")
        if kind not in _EXTRA:
            return cls()
        known: dict[str, Any] = {name: _scalar(value.get(name)) for name in SCALAR}
        known |= {name: _repeated(value.get(name)) for name in REPEATED}
        extra = {name: value[name] for name in _EXTRA[kind] if value.get(name) is not None}
        return cls(**known, kind=kind, extra=extra)

    def with_(self, **changes: Any) -> Self:  # Any: the fields of this class
        """A copy with some fields replaced."""
        return replace(self, **changes)

    def filled_from(self, other: Metadata) -> Self:
        """A copy whose empty fields are taken from ``other``."""
        changes: dict[str, Any] = {
            f.name: getattr(other, f.name)
            for f in fields(self)
            if f.name not in ("kind", "extra") and not getattr(self, f.name)
        }
        changes["extra"] = {**other.extra, **self.extra}
        return replace(self, **changes)


def _scalar(value: Any) -> str | None:  # Any: a stored JSON value
    return value if isinstance(value, str) and value else None


def _repeated(value: Any) -> tuple[str, ...]:  # Any: a stored JSON value
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple):
        return tuple(item for item in value if isinstance(item, str))
    return ()
