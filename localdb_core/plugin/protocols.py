"""What plugins implement. Protocols only: nothing to inherit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from localdb_core.domain.block import Block
from localdb_core.domain.chunk import Piece
from localdb_core.domain.formats import suffix_of
from localdb_core.domain.ids import ChunkId
from localdb_core.domain.store import Source as SourceRow
from localdb_core.plugin.context import Progress
from localdb_core.plugin.probe import ParseResult, Probe
from localdb_core.plugin.specs import EmbedderCard

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Vector = NDArray[np.float32]

Role = Literal["query", "passage"]


class Parser(Protocol):
    """Turns one file into a document, or declines it."""

    def parse(self, path: Path, probe: Probe, progress: Progress) -> ParseResult:
        """The document in ``path``.

        Call ``progress(pages, of)`` now and then in long documents. Returns
        ``Declined`` when the file is not of this format. Raises ``UnsupportedFormat``
        when there is no text to be had (scanned, encrypted) and ``ExtractionFailed``
        when the file is damaged; anything else counts as a crash of this document.
        """
        ...


class Embedder(Protocol):
    """Turns texts into vectors. ``embed`` must bear ``EmbedderSpec.callers`` threads."""

    @property
    def card(self) -> EmbedderCard:
        """What this embedder is."""
        ...

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """Float32 array (n, dimension), unit length, one row per text, in order.

        An over-long text is truncated, not refused; no texts give (0, dimension).
        """
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as a passage, prefix and special tokens included."""
        ...

    def close(self) -> None:
        """Release the model; called once, after the last ``embed``."""
        ...


class ContextEmbedder(Embedder, Protocol):
    """An embedder that reads the document around a chunk (``uses_context``)."""

    def embed_document(self, context: str, chunks: Sequence[str]) -> Vectors:
        """One vector per chunk, each knowing the whole ``context``."""
        ...


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One chunk for an index: ``text`` for a sparse leg, ``vector`` for a dense one."""

    chunk_id: ChunkId
    text: str | None = None
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class LegQuery:
    """One question to one leg. No filters: those are the catalog's business (E-3)."""

    limit: int
    text: str = ""
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    """A hit of one leg; a higher score is better."""

    chunk_id: ChunkId
    score: float


class Index(Protocol):
    """One leg of one store. One process writes at a time; others may read."""

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Add or replace; idempotent per chunk id."""
        ...

    def delete(self, chunk_ids: Collection[ChunkId]) -> None:
        """Remove; unknown ids are fine."""
        ...

    def query(self, query: LegQuery) -> list[Scored]:
        """At most ``limit`` hits, best first, ties by chunk id.

        A dense leg answers with ``1 - cosine distance / 2``, in [0, 1].
        """
        ...

    def ids(self) -> Iterator[ChunkId]:
        """Every id held, in any order; compared with the catalog when mending."""
        ...

    def count(self) -> int:
        """How many entries are held."""
        ...

    def flush(self) -> None:
        """Make everything upserted and deleted so far durable and visible to readers."""
        ...

    def close(self) -> None:
        """Release files and locks."""
        ...


@dataclass(frozen=True, slots=True)
class RankEntry:
    """One hit as a ranker sees it.

    Attributes:
        store_id, chunk_id: what names it; the same chunk may stand in two stores.
        text: the whole passage.
        headings: the trail of headings above it, without empty ones.
        title: of the document.
        score: what the fusion gave it; a higher one is better.
    """

    store_id: str
    chunk_id: ChunkId
    text: str
    headings: tuple[str, ...] = ()
    title: str | None = None
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """One of the entries a ranker was given, and what it thinks of it."""

    entry: RankEntry
    score: float


class Ranker(Protocol):
    """Orders the best hits of a search again; may leave some out."""

    def rank(self, query: str, entries: Sequence[RankEntry]) -> Sequence[Ranked]:
        """Entries with the ranker's own scores, a higher one is better.

        The scores decide the order, not the places in the answer; equal ones stay in
        the order they came in. What is not returned is left out of the results. Called
        by one thread at a time. An answer that names an entry twice or one that was not
        asked about, a score that is not finite, an error, or more time than
        ``search.ranker_budget_ms`` cost only this answer: the search goes on without.
        """
        ...

    def close(self) -> None:
        """Release the model; called once, after the last ``rank``."""
        ...


@dataclass(frozen=True, slots=True)
class Item:
    """One thing a source offers, before it is read.

    Attributes:
        uri: normalised; ``locator`` is what the resource id hashes (L-DOM-44).
        path: where its bytes are; web sources spool to a file.
        size, mtime_ns: for the skip rule (S-3); None when there is none.
        added_at: RFC 3339 UTC in whole seconds.
    """

    uri: str
    locator: str
    path: Path
    name: str
    size: int | None = None
    mtime_ns: int | None = None
    added_at: str = ""
    mime: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """An item that is there but cannot be read."""

    uri: str
    reason: str


@dataclass(slots=True)
class Listing:
    """What a source found.

    ``complete`` is False when something could not be looked at; then nobody may
    conclude that a missing item is gone (L-ING-52), and ``reason`` says why. ``hidden``
    are folders that cannot be looked into now, though the rest of the source can: as
    long as a missing document lies below one of them, nothing is concluded either.
    """

    items: list[Item] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    complete: bool = True
    reason: str = ""
    hidden: list[Problem] = field(default_factory=list)


class SourceKind(Protocol):
    """Lists the items of a source row."""

    def list(self, source: SourceRow, accepts: Accepts) -> Listing:
        """Everything the source offers now, sorted by URI. Never raises for one bad item."""
        ...


@dataclass(frozen=True, slots=True)
class Accepts:
    """Suffixes (with dot) and whole file names that installed parsers claim."""

    suffixes: frozenset[str] = frozenset()
    filenames: frozenset[str] = frozenset()

    def takes(self, name: str) -> bool:
        """Whether one of these parsers may want a file of this name."""
        return (
            suffix_of(name) in self.suffixes
            or name in self.filenames
            or name.lower().endswith(tuple(s for s in self.suffixes if s.count(".") > 1))
        )


@dataclass(frozen=True, slots=True)
class Sizing:
    """How chunks are measured.

    Attributes:
        target: largest chunk, in the unit of ``measure``.
        overlap: shared between neighbours, same unit; 0 is none.
        measure: sizes of many texts in one call: tokens without special ones, or
            characters when the embedder has no tokenizer.
        code_limit: characters for code.
        window_turns, stride_turns: for messages.
    """

    target: int
    measure: Measure
    overlap: int = 0
    code_limit: int = 3000
    window_turns: int = 6
    stride_turns: int = 3


class Measure(Protocol):
    """Sizes of texts."""

    def __call__(self, texts: Sequence[str], /) -> list[int]:
        """One size per text, in order."""
        ...


class Chunker(Protocol):
    """Cuts blocks into pieces."""

    def cut(self, blocks: Sequence[Block], sizing: Sizing) -> list[Piece]:
        """Pieces in order. Gets one block, or all claimed ones for scope ``document``."""
        ...


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answers.

    Attributes:
        text: for the model, and useful alone: many hosts show nothing else. Empty means
            the data as JSON.
        data: an instance of the tool's result model, or a mapping of JSON values that fits
            it; sent on every surface but ``core``.
    """

    text: str
    data: Any = None  # Any: see above


class Tool(Protocol):
    """One tool, built once per server; calls may come side by side."""

    def run(self, arguments: Any) -> ToolResult:  # Any: the tool's own argument model
        """Answer one call. Raises LocaldbError or ToolFailure for what the caller did wrong.

        Long work looks at ``ToolContext.cancel`` and reports to ``ToolContext.progress``.
        """
        ...


class ResourceReader(Protocol):
    """Reads what a URI names, built once per server; calls may come side by side."""

    def read(self, uri: str, variables: Mapping[str, Any]) -> str | bytes:
        """The content. Raises NotFound when there is nothing of that name.

        ``variables`` holds what stood in the template's places, decoded: a string each, a
        list for an exploded one. They come from outside: check them before use.
        """
        ...


class ToolFailure(Exception):
    """A business error with its own wording, sent as ``{"error": {code, message}}``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
