"""Blocks: the typed pieces that a document is made of, in reading order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Self

JsonMap = Mapping[str, Any]  # Any: JSON values of the block kind's own fields


class BlockKind(StrEnum):
    """What a block is; the value is its name on the wire and in hashes."""

    HEADING = "heading"
    TEXT = "text"
    CODE = "code"
    TABLE = "table"
    MESSAGE = "message"
    SEGMENT = "segment"
    REFERENCE = "reference"
    ATTACHMENT = "attachment"
    FRONTMATTER = "frontmatter"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Block:
    """One typed piece of a document, in reading order.

    Block.heading("Menus", level=2)
    Block.text_run("Two paragraphs.\\n\\nOf running text.")
    Block.code("print(1)", language="python")

    ``seq`` starts at 0 and is dense within a resource; parsers may leave it 0,
    the pipeline numbers blocks. ``details`` holds the kind's own fields (spec §1.5).
    ``page`` is 1-based.
    """

    kind: BlockKind
    text: str
    seq: int = 0
    details: JsonMap = field(default_factory=dict)
    page: int | None = None

    @classmethod
    def heading(cls, text: str, *, level: int, page: int | None = None) -> Self:
        """A heading of level 1 to 6."""
        return cls(BlockKind.HEADING, text, details={"level": level}, page=page)

    @classmethod
    def text_run(cls, text: str, *, page: int | None = None) -> Self:
        """A run of running text: paragraphs and lists, joined by blank lines."""
        return cls(BlockKind.TEXT, text, page=page)

    @classmethod
    def code(cls, text: str, *, language: str | None = None, page: int | None = None) -> Self:
        """Preformatted text, as it is."""
        return cls(BlockKind.CODE, text, details={"language": language}, page=page)

    @classmethod
    def table(
        cls, text: str, *, headers: Sequence[str], rows: int, page: int | None = None
    ) -> Self:
        """A Markdown pipe table; ``rows`` counts the rows below the header."""
        return cls(
            BlockKind.TABLE, text, details={"headers": list(headers), "rows": rows}, page=page
        )

    @classmethod
    def image(cls, *, alt: str, src: str | None, page: int | None = None) -> Self:
        """An image; its text is the alternative text."""
        return cls(BlockKind.IMAGE, alt, details={"alt": alt, "src": src}, page=page)

    @classmethod
    def frontmatter(cls, text: str, *, format: str) -> Self:
        """Front matter, body only; ``format`` is ``yaml``, ``toml`` or ``json``."""
        return cls(BlockKind.FRONTMATTER, text, details={"format": format})

    @property
    def level(self) -> int:
        """Heading level; 0 for every other kind."""
        return int(self.details.get("level", 0))

    def numbered(self, seq: int) -> Self:
        """The same block at another place."""
        return replace(self, seq=seq)

    def to_json(self) -> dict[str, Any]:
        """Plain values that survive JSON."""
        return {
            "kind": str(self.kind),
            "text": self.text,
            "seq": self.seq,
            "details": dict(self.details),
            "page": self.page,
        }

    @classmethod
    def from_json(cls, value: JsonMap) -> Self:
        """The inverse of :meth:`to_json`. Raises ValueError or KeyError on nonsense."""
        return cls(
            BlockKind(value["kind"]),
            str(value["text"]),
            seq=int(value.get("seq", 0)),
            details=dict(value.get("details") or {}),
            page=value.get("page"),
        )
