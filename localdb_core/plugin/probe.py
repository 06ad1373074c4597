"""What a parser is shown before it decides, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from localdb_core.domain.block import Block
from localdb_core.domain.metadata import Metadata

HEAD_SIZE = 8192

_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Probe:
    """A first look at a document: its name, its first 8 KiB, its declared type.

    ``name`` is the last part of a path or URL; ``media_type`` is what the bytes
    and the name suggest, or what a server declared.
    """

    name: str
    head: bytes = b""
    media_type: str | None = None
    size: int | None = None
    uri: str = ""

    @property
    def suffix(self) -> str:
        """Lower-case extension with its dot; empty when the only dot comes first."""
        stem, dot, extension = self.name.rpartition(".")
        return f".{extension.lower()}" if dot and stem else ""

    @property
    def trimmed_head(self) -> bytes:
        """The head after a byte-order mark and white space, for comparing magic."""
        head = self.head
        for mark in _BOMS:
            head = head.removeprefix(mark)
        return head.lstrip(b" \t\r\n\f\v")

    def starts_with(self, *magic: bytes) -> bool:
        """Whether the head begins with one of these, after a mark and white space."""
        return self.head.startswith(magic) or self.trimmed_head.startswith(magic)


@dataclass(frozen=True, slots=True)
class Document:
    """What a parser got out of a file.

    Give either ``markdown`` (CommonMark with tables; the pipeline makes blocks of
    it) or ``blocks`` (for formats that are not running text), not both.

    Attributes:
        metadata: Dublin Core; ``metadata.title`` is the document's title.
        page_starts: ``(byte offset in the UTF-8 markdown, page number from 1)``.
        warnings: what a person should know; the pipeline prints one line per document.
        front_matter_read: the front matter was turned into metadata, so it is not
            a chunk of its own.
    """

    markdown: str | None = None
    blocks: tuple[Block, ...] | None = None
    metadata: Metadata = field(default_factory=Metadata)
    page_starts: tuple[tuple[int, int], ...] = ()
    warnings: tuple[str, ...] = ()
    front_matter_read: bool = False

    @classmethod
    def of_blocks(cls, blocks: Sequence[Block], *, metadata: Metadata | None = None) -> Self:
        """A document given as blocks."""
        return cls(blocks=tuple(blocks), metadata=metadata or Metadata())

    def to_json(self) -> dict[str, Any]:
        """Plain values; how a worker process sends it home."""
        return {
            "markdown": self.markdown,
            "blocks": None if self.blocks is None else [b.to_json() for b in self.blocks],
            "metadata": self.metadata.to_json(),
            "page_starts": [list(pair) for pair in self.page_starts],
            "warnings": list(self.warnings),
            "front_matter_read": self.front_matter_read,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`to_json`."""
        blocks = value.get("blocks")
        return cls(
            markdown=value.get("markdown"),
            blocks=None if blocks is None else tuple(Block.from_json(b) for b in blocks),
            metadata=Metadata.from_json(value.get("metadata")),
            page_starts=tuple((int(a), int(b)) for a, b in value.get("page_starts", ())),
            warnings=tuple(value.get("warnings", ())),
            front_matter_read=bool(value.get("front_matter_read", False)),
        )


@dataclass(frozen=True, slots=True)
class Declined:
    """Not mine; the next parser may try. The reason is told when none takes the file."""

    reason: str


ParseResult = Document | Declined
