"""One store's vector index in an embedded Chroma."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from localdb_core.domain import InvalidConfig, InvalidRequest, StorageUnavailable
from localdb_core.domain.errors import IndexInProgress, StaleIndex
from localdb_core.domain.ids import ChunkId
from localdb_core.plugin import EmbedderCard, IndexContext, IndexEntry, LegQuery, Scored

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from localdb_chroma.database import Database

_PAGE: Final = 5_000
# Asked for on top of the limit, so that ties at the cut are broken by chunk id too.
_TIE_MARGIN: Final = 16
# The graph is written when this many changes, and this share of all rows, wait in the
# log: opening then replays at most 5 %, and writing costs a constant factor.
_SAVE_CHANGES: Final = 2_000
_SAVE_SHARE: Final = 0.05


def build(context: IndexContext) -> ChromaIndex:
    """The index in ``context.folder``; made there unless the context is read-only."""
    return ChromaIndex(context)


class ChromaIndex:
    """HNSW by cosine. Upserts and deletes are durable at once, the graph from time to time.

    A reading instance sees what was written before it was opened: reopen it when the
    store's generation moves.
    """

    def __init__(self, context: IndexContext) -> None:
        self._folder = context.folder
        self._readonly = context.readonly
        self._changes = 0  # since the last flush
        # Saving the graph reopens Chroma, which no query may see; a reader never saves.
        self._lock: AbstractContextManager[Any] = (
            nullcontext() if context.readonly else threading.Lock()
        )
        if not (context.folder / "chroma.sqlite3").is_file():
            if context.readonly:
                raise _missing(context.folder)
            context.folder.mkdir(parents=True, exist_ok=True)
        from localdb_chroma.database import Database, failures_named
        from localdb_chroma.view import View

        self._named = failures_named
        self._view: View | None = None
        with self._named(self._folder), ExitStack() as undo:
            if context.readonly:
                self._view = View(context.folder, context.cache_dir / "readers")
                undo.callback(self._view.close)
            self._database = Database(context.folder if self._view is None else self._view.path)
            undo.pop_all()
        try:
            with self._named(self._folder):
                self._dimension = _prepare(self._database, context)
        except BaseException:
            self.close()
            raise

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Add or replace. Refuses the whole batch when one vector has no direction."""
        import numpy as np

        vectors = {
            entry.chunk_id: self._checked(entry.vector, f"chunk {entry.chunk_id}")
            for entry in entries
        }
        chunk_ids = list(vectors)
        with self._lock, self._named(self._folder):
            for start, end in self._slices(len(chunk_ids)):
                part = chunk_ids[start:end]
                rows = np.stack([vectors[chunk_id] for chunk_id in part])
                self._database.collection.upsert(ids=list(part), embeddings=rows)
                self._changes += len(part)

    def delete(self, chunk_ids: Collection[ChunkId]) -> None:
        """Remove; unknown ids are fine."""
        gone = list(dict.fromkeys(chunk_ids))
        with self._lock, self._named(self._folder):
            for start, end in self._slices(len(gone)):
                self._database.collection.delete(ids=list(gone[start:end]))
                self._changes += end - start

    def query(self, query: LegQuery) -> list[Scored]:
        """The nearest entries, best first; the score is ``1 - cosine distance / 2``."""
        if query.limit < 1:
            return []
        vector = self._checked(query.vector, "the question")
        with self._lock, self._named(self._folder):
            found = self._database.collection.query(
                query_embeddings=[vector],
                n_results=query.limit + _TIE_MARGIN,
                include=["distances"],
            )
        distances = (found["distances"] or [[]])[0]
        hits = [
            Scored(ChunkId(chunk_id), min(1.0, max(0.0, 1 - distance / 2)))
            for chunk_id, distance in zip(found["ids"][0], distances, strict=True)
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[: query.limit]

    def ids(self) -> Iterator[ChunkId]:
        """Every id held, read in pages; do not write while going through them."""
        offset = 0
        while True:
            with self._lock, self._named(self._folder):
                page = self._database.collection.get(limit=_PAGE, offset=offset, include=[])["ids"]
            yield from map(ChunkId, page)
            offset += len(page)
            if len(page) < _PAGE:
                return

    def count(self) -> int:
        """How many entries are held."""
        with self._lock, self._named(self._folder):
            return int(self._database.collection.count())

    def flush(self) -> None:
        """Write the graph when enough has changed; the rest waits in Chroma's durable log."""
        if self._readonly or not self._changes:
            return
        with self._lock, self._named(self._folder):
            waiting = self._waiting() + self._changes
            held = self._database.collection.count()
            if waiting >= max(_SAVE_CHANGES, held * _SAVE_SHARE):
                self._database.save_graph([1.0] * self._dimension)
                waiting = 0
            self._waiting_file.write_text(f"{waiting}\n", encoding="ascii")
            self._changes = 0

    def close(self) -> None:
        """Release the files. May be called twice."""
        with self._lock:
            self._database.close()
            if self._view is not None:
                self._view.close()

    @property
    def _waiting_file(self) -> Path:
        return self._folder / "unsaved-changes"

    def _waiting(self) -> int:
        try:
            return int(self._waiting_file.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0  # a new index, or a guess: a wrong number only costs time

    def _slices(self, length: int) -> Iterator[tuple[int, int]]:
        step = min(_PAGE, self._database.batch)
        return ((start, min(start + step, length)) for start in range(0, length, step))

    def _checked(self, vector: Any, owner: str) -> NDArray[np.float32]:
        import numpy as np

        row = np.asarray(vector if vector is not None else [], dtype=np.float32)
        if row.shape != (self._dimension,):
            shape = "x".join(map(str, row.shape)) or "1"
            raise InvalidRequest(
                f"{owner}: the vector has {shape} numbers, the index takes {self._dimension}"
            )
        length = float(np.linalg.norm(row))
        if not np.isfinite(length) or length == 0:
            raise InvalidRequest(f"{owner}: the vector is zero or not finite")
        return row


def _prepare(database: Database, context: IndexContext) -> int:
    """Make or check the collection; the dimension of its vectors."""
    if not database.has_collection:
        if context.readonly:
            raise _missing(context.folder)
        card = _card(context)
        database.create({"fingerprint": card.fingerprint, "dimension": card.dimension})
    if database.being_saved:
        if context.readonly:
            raise IndexInProgress(f"the Chroma index in {context.folder} is being saved")
        database.forget_saving()
    facts = database.collection.metadata or {}
    if context.card is not None:
        _compare(facts, context.card, context.folder)
    if not context.readonly:
        database.catch_up()
    return int(facts["dimension"])


def _card(context: IndexContext) -> EmbedderCard:
    if context.card is None:
        raise InvalidConfig("a Chroma index cannot be made without an embedder")
    return context.card


def _compare(facts: Any, card: EmbedderCard, folder: Path) -> None:
    stored = (facts.get("fingerprint"), facts.get("dimension"))
    if stored != (card.fingerprint, card.dimension):
        raise StaleIndex(
            f"the Chroma index in {folder} holds vectors of {stored[0]} ({stored[1]} numbers), "
            f"the embedder {card.name} is {card.fingerprint} ({card.dimension} numbers); "
            "rebuild the dense index or go back to the embedder"
        )


def _missing(folder: Path) -> StorageUnavailable:
    return StorageUnavailable(f"there is no Chroma index in {folder}; build it first")
