"""One file from the work list to something that can be committed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localdb_core.domain.errors import (
    JobCancelled,
    LocaldbError,
    ModelMissing,
    RuntimeStateLocked,
    SchemaMismatch,
    StaleIndex,
    StorageUnavailable,
    UnsupportedFormat,
    UnusableEmbedder,
)
from localdb_core.domain.events import Outcome
from localdb_core.domain.resource import Resource
from localdb_core.pipeline.embed import EmbedJob, EmbedStage
from localdb_core.pipeline.parse import ParserRunner, probe_of
from localdb_core.pipeline.plan import Decision, Redo
from localdb_core.pipeline.prepare import (
    Draft,
    EmbedderHandle,
    Preparer,
    check_size,
    hash_file,
)
from localdb_core.pipeline.recipe import Recipe, read_recipe
from localdb_core.plugin import Item
from localdb_core.storage.catalog import Catalog
from localdb_core.storage.resources import Known, PreparedDocument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FATAL = (
    StorageUnavailable,
    RuntimeStateLocked,
    SchemaMismatch,
    ModelMissing,
    StaleIndex,
    UnusableEmbedder,
)
"""Errors of the surroundings, not of the document: they end the run."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one item.

    ``document`` is set when there is something to commit; ``touched`` when only the
    resource row changes, ``seen_again`` when not even that does but its stamp; ``emptied`` when
    nothing is left of a document that had text, ``missing`` when the file is gone since
    it was listed.
    ``reason`` is for the one warning line of L-LOG-01.
    """

    item: Item
    outcome: Outcome
    reason: str = ""
    document: PreparedDocument | None = None
    touched: Resource | None = None
    seen_again: Decision | None = None
    emptied: bool = False
    missing: bool = False
    fatal: LocaldbError | None = None


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A draft whose vectors are being made; ``rows`` says which text each chunk needs."""

    item: Item
    draft: Draft
    rows: tuple[int | bytes, ...]
    reused: Mapping[bytes, NDArray[np.float32]]


class Ingest:
    """Takes one decision at a time and delivers one result, maybe from another thread.

    ``deliver`` is called exactly once per item. Thread-safe.
    """

    def __init__(
        self,
        catalog: Catalog,
        store_id: str,
        *,
        parsers: ParserRunner,
        preparer: Preparer,
        handle: Callable[[], EmbedderHandle | None],
        max_file_mib: int,
        deliver: Callable[[Result], None],
        stop: threading.Event,
    ) -> None:
        self._catalog = catalog
        self._store_id = store_id
        self._parsers = parsers
        self._preparer = preparer
        self._handle = handle
        self._max_file_mib = max_file_mib
        self._deliver = deliver
        self._stop = stop
        self._stage: EmbedStage[_Waiting] | None = None
        self._starting = threading.Lock()

    def take(self, decision: Decision) -> None:
        """Do what was decided; then deliver, or leave it to the embedding callers."""
        item = decision.item
        try:
            result = self._work(decision)
        except FATAL as error:
            result = Result(item, Outcome.ERROR, str(error), fatal=error)
        except UnsupportedFormat as error:
            result = Result(item, Outcome.UNSUPPORTED, str(error))
        except JobCancelled:
            result = Result(item, Outcome.ERROR, "stopped")
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            result = Result(item, Outcome.ERROR, error.strerror or str(error), missing=missing)
        except BaseException as error:  # noqa: BLE001 - a worker loop: the document pays
            result = Result(item, Outcome.ERROR, _reason(error))
        if result is not None:
            self._deliver(result)

    def _work(self, decision: Decision) -> Result | None:
        item, known, redo = decision.item, decision.known, decision.redo
        if known is not None and not redo & (Redo.READ | Redo.PARSE):
            return self._cut_again(decision, known)
        check_size(item, max_file_mib=self._max_file_mib)
        raw = hash_file(item.path)
        if known is not None and not redo & Redo.PARSE and known.raw_hash == raw:
            if redo & Redo.CUT:
                return self._cut_again(decision, known)
            return Result(item, Outcome.SKIPPED, seen_again=decision)
        probe = probe_of(item)
        parsed = self._parsers.parse(item.path, probe)
        draft = self._preparer.resource(item, parsed, raw, probe.media_type)
        if not draft.blocks:
            return _nothing_in(item, draft.warnings, known)
        recipe = decision.recipe
        if recipe is not None and not redo & Redo.CUT and self._same(known, recipe, draft):
            return Result(
                item, Outcome.SKIPPED, touched=self._preparer.recorded(draft, recipe).resource
            )
        return self._cut(item, self._preparer.chunked(draft, item.name), known)

    def _cut(self, item: Item, draft: Draft, known: Known | None) -> Result | None:
        if not draft.chunks:
            return _nothing_in(item, ("it has no text to index",), known)
        return self._embedded(item, draft)

    def _cut_again(self, decision: Decision, known: Known) -> Result | None:
        """From the stored blocks; the file is neither read nor parsed."""
        item, recipe = decision.item, decision.recipe
        resource = self._catalog.resources.get(self._store_id, known.id)
        assert resource is not None, "the run holds the store's lock"
        assert recipe is not None, "a document without a recipe is parsed"
        blocks = self._catalog.passages.blocks(self._store_id, known.id)
        draft = self._preparer.stored(item, resource, blocks, recipe)
        fresh = self._preparer.chunked(draft, item.name)
        made = read_recipe(fresh.resource.chunking)
        if made is not None and self._cut_the_same(known, recipe, fresh, made):
            return Result(item, Outcome.SKIPPED, touched=fresh.resource)
        return self._cut(item, fresh, known)

    def _cut_the_same(self, known: Known, recipe: Recipe, fresh: Draft, made: Recipe) -> bool:
        """Whether a new size or chunker made no difference to this document."""
        if (recipe.algorithm, recipe.measure) != (made.algorithm, made.measure):
            return False  # what is put before a chunk, or the room for it, may differ
        complete = known.embedded or not fresh.texts
        stored = self._catalog.passages.chunks(self._store_id, known.id)
        return complete and {c.id: c for c in stored} == {c.id: c for c in fresh.chunks}

    def _same(self, known: Known | None, recipe: Recipe, draft: Draft) -> bool:
        """Whether only the resource row may differ (L-ING-34).

        A new title changes what is embedded. The content hash knows neither the level of
        a heading nor the language of code, so the blocks themselves are compared.
        """
        resource = draft.resource
        return (
            known is not None
            and (known.id, known.content_hash) == (resource.id, resource.content_hash)
            and known.title == resource.title
            and recipe.front_matter_read == draft.front_matter_read
            and tuple(self._catalog.passages.blocks(self._store_id, known.id)) == draft.blocks
        )

    def _embedded(self, item: Item, draft: Draft) -> Result | None:
        """The result at once when no vector is missing, else later from the stage."""
        handle = self._handle()
        if handle is None:
            return _prepared(item, draft, None)
        reused = self._reusable(draft, handle)
        order: dict[bytes, int] = {}
        texts: list[str] = []
        for digest, text in zip(draft.text_hashes, draft.texts, strict=True):
            if digest not in reused and digest not in order:
                order[digest] = len(texts)
                texts.append(text)
        rows = tuple(order.get(digest, digest) for digest in draft.text_hashes)
        waiting = _Waiting(item, draft, rows, reused)
        if not texts:
            return _prepared(item, draft, _matrix(waiting, []))
        self._stage_of(handle).submit(EmbedJob(waiting, texts))
        return None

    def _reusable(self, draft: Draft, handle: EmbedderHandle) -> dict[bytes, NDArray[np.float32]]:
        stored = self._catalog.stores.embedder(self._store_id)
        if stored is None or stored.fingerprint != handle.card.fingerprint:
            return {}
        return self._catalog.vectors.reusable(self._store_id, stored.id, draft.text_hashes)

    def _stage_of(self, handle: EmbedderHandle) -> EmbedStage[_Waiting]:
        with self._starting:
            if self._stage is None:
                self._stage = EmbedStage(
                    handle.embedder, callers=handle.callers, done=self._done, stop=self._stop
                )
            return self._stage

    def _done(self, job: EmbedJob[_Waiting]) -> None:
        waiting = job.payload
        if job.failure is not None:
            error = job.failure
            fatal = error if isinstance(error, FATAL) else None
            reason = f"embedding: {_reason(error)}"
            self._deliver(Result(waiting.item, Outcome.ERROR, reason, fatal=fatal))
            return
        self._deliver(_prepared(waiting.item, waiting.draft, _matrix(waiting, job.vectors)))

    def close(self) -> None:
        """Wait for the embedding callers."""
        if self._stage is not None:
            self._stage.close()


def _reason(error: BaseException) -> str:
    """What is said about a document that failed."""
    return str(error) if isinstance(error, LocaldbError) else f"{type(error).__name__}: {error}"


def _nothing_in(item: Item, said: Sequence[str], known: Known | None) -> Result:
    """A document without text; a last version that had some stays."""
    kept = () if known is None else ("nothing is left to index; its last version is kept",)
    return Result(item, Outcome.SKIPPED, "; ".join((*said, *kept)), emptied=known is not None)


def _prepared(item: Item, draft: Draft, vectors: NDArray[np.float32] | None) -> Result:
    document = PreparedDocument(
        resource=draft.resource,
        blocks=draft.blocks,
        chunks=draft.chunks,
        trails=draft.trails,
        text_hashes=draft.text_hashes,
        vectors=vectors,
    )
    return Result(item, Outcome.INDEXED, "; ".join(draft.warnings), document=document)


def _matrix(waiting: _Waiting, fresh: list[NDArray[np.float32] | None]) -> NDArray[np.float32]:
    import numpy as np

    rows = [waiting.reused[row] if isinstance(row, bytes) else fresh[row] for row in waiting.rows]
    return np.asarray(rows, dtype=np.float32)
