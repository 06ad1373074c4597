"""Small exact stand-ins: an index kept in one JSON file and an embedder made of hashes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from localdb_core.domain.errors import InvalidRequest, StaleIndex, StorageUnavailable
from localdb_core.domain.ids import ChunkId
from localdb_core.plugin import (
    EmbedderCard,
    EmbedderContext,
    IndexContext,
    IndexEntry,
    LegQuery,
    PluginContext,
    Ranked,
    RankEntry,
    Role,
    Scored,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from localdb_core.plugin.protocols import Vector, Vectors

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Lower-case runs of letters, digits and underscores."""
    return _WORD.findall(text.lower())


class FakeEmbedder:
    """A deterministic embedder: a text's vector is the sum of its words' hashes.

    FakeEmbedder().embed(["the lease", "a lease"], "passage")

    Texts that share words are near each other, the same words in another order are
    the same vector. Give another ``fingerprint`` to play another model's part.
    """

    def __init__(
        self, context: EmbedderContext | None = None, *, fingerprint: str = "fake:64:1"
    ) -> None:
        self._card = EmbedderCard(
            name=(context.model if context else "") or "fake",
            dimension=64,
            max_tokens=256,
            fingerprint=fingerprint,
        )

    @property
    def card(self) -> EmbedderCard:
        """64 dimensions, 256 tokens."""
        return self._card

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors; the role makes no difference."""
        kept = self._card.max_tokens - 2
        rows = np.array([_sum(words(text)[:kept]) for text in texts], dtype=np.float32)
        rows = rows.reshape(len(texts), self._card.dimension)
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words and two special tokens."""
        return [len(words(text)) + 2 for text in texts]

    def close(self) -> None:
        """Nothing to release."""


def _sum(terms: Sequence[str]) -> list[float]:
    digests = [
        hashlib.blake2b(term.encode("utf-8", "surrogatepass")).digest() for term in terms or [""]
    ]
    # 127.5 is no byte, so one word's coordinates are never 0 and the vector has a length.
    return [sum(column) - 127.5 * len(digests) for column in zip(*digests, strict=True)]


class OverlapRanker:
    """Ranks by the share of the query's words that a passage holds; without any it drops it."""

    def __init__(self, context: PluginContext | None = None) -> None:
        del context

    def rank(self, query: str, entries: Sequence[RankEntry]) -> list[Ranked]:
        """The entries that share a word with the query."""
        wanted = set(words(query))
        shares = [len(wanted & set(words(entry.text))) for entry in entries]
        return [
            Ranked(entry, share / len(wanted))
            for entry, share in zip(entries, shares, strict=True)
            if share
        ]

    def close(self) -> None:
        """Nothing to release."""


class MemoryIndex:
    """Either leg, exact and slow, kept in ``memory.json`` inside the context's folder.

    The dense score is ``1 - cosine distance / 2``; the sparse score is the number
    of distinct query words an entry holds, so entries with all of them come first.
    """

    def __init__(self, context: IndexContext) -> None:
        self._path = context.folder / "memory.json"
        self._card = context.card
        self._readonly = context.readonly
        self._entries: dict[ChunkId, dict[str, Any]] = {}  # Any: text or list of floats
        if self._path.exists():
            self._load()
        elif self._readonly:
            raise StorageUnavailable(f"there is no index in {context.folder}; build it first")

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Add or replace, in memory until :meth:`flush`. Refuses vectors without direction."""
        fresh = {entry.chunk_id: self._checked(entry) for entry in entries}
        self._entries = {**self._entries, **fresh}  # a new map: readers keep the old one

    def delete(self, chunk_ids: Collection[ChunkId]) -> None:
        """Remove, in memory until :meth:`flush`."""
        gone = set(chunk_ids)
        self._entries = {key: value for key, value in self._entries.items() if key not in gone}

    def query(self, query: LegQuery) -> list[Scored]:
        """Dense when the question has a vector, else sparse."""
        score = self._cosines(query) if query.vector is not None else self._matches(query)
        ranked = sorted(score.items(), key=lambda item: (-item[1], item[0]))
        return [Scored(key, value) for key, value in ranked[: max(query.limit, 0)]]

    def ids(self) -> Iterator[ChunkId]:
        """Every id held."""
        return iter(self._entries)

    def count(self) -> int:
        """How many entries are held."""
        return len(self._entries)

    def flush(self) -> None:
        """Write the file, whole or not at all."""
        if self._readonly:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        fingerprint = self._card.fingerprint if self._card else None
        state = {"fingerprint": fingerprint, "entries": self._entries}
        fresh.write_text(json.dumps(state), encoding="utf-8")
        fresh.replace(self._path)

    def close(self) -> None:
        """Nothing is held open; what was not flushed is lost."""

    def _load(self) -> None:
        try:
            state = json.loads(self._path.read_text(encoding="utf-8"))
            stored, self._entries = state["fingerprint"], state["entries"]
        except (ValueError, KeyError, TypeError) as error:
            raise StorageUnavailable(f"{self._path} is damaged ({error}); rebuild it") from error
        wanted = self._card.fingerprint if self._card else None
        if stored != wanted:
            raise StaleIndex(f"the index holds vectors of {stored}, the embedder is {wanted}")

    def _checked(self, entry: IndexEntry) -> dict[str, Any]:
        if entry.vector is None:
            return {"text": entry.text or ""}
        return {"vector": self._unit(entry.vector, f"chunk {entry.chunk_id}").tolist()}

    def _unit(self, vector: Vector, owner: str) -> NDArray[np.float64]:
        exact = np.asarray(vector, dtype=np.float64)
        length = float(np.linalg.norm(exact))
        wanted = self._card.dimension if self._card else exact.size
        if exact.shape != (wanted,) or not np.isfinite(length) or length == 0:
            raise InvalidRequest(f"{owner}: not a usable vector of {wanted} numbers")
        unit: NDArray[np.float64] = exact / length
        return unit

    def _cosines(self, query: LegQuery) -> dict[ChunkId, float]:
        wanted = self._unit(np.asarray(query.vector, dtype=np.float32), "the question")
        cosines = {
            key: float(np.array(value["vector"]) @ wanted)
            for key, value in self._entries.items()
            if "vector" in value
        }
        return {key: min(1.0, max(0.0, (1 + cosine) / 2)) for key, cosine in cosines.items()}

    def _matches(self, query: LegQuery) -> dict[ChunkId, float]:
        wanted = set(words(query.text))
        shared = {
            key: len(wanted & set(words(value.get("text", ""))))
            for key, value in self._entries.items()
        }
        return {key: float(count) for key, count in shared.items() if count}
