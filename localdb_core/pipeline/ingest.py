"""One file from the work list to something that can be committed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
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
from localdb_core.pipeline.embed import EmbedJob, EmbedStage
from localdb_core.pipeline.parse import ParserRunner
from localdb_core.pipeline.plan import Decision
from localdb_core.pipeline.prepare import Draft, EmbedderHandle, Preparer, hash_file
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
    resource row changes, ``missing`` when the file is gone since it was listed.
    ``reason`` is for the one warning line of L-LOG-01.
    """

    item: Item
    outcome: Outcome
    reason: str = ""
    document: PreparedDocument | None = None
    touched: Draft | None = None
    seen_again: bool = False
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
        known: Mapping[str, Known],
        handle: Callable[[], EmbedderHandle | None],
        deliver: Callable[[Result], None],
        stop: threading.Event,
    ) -> None:
        self._catalog = catalog
        self._store_id = store_id
        self._parsers = parsers
        self._preparer = preparer
        self._known = known
        self._handle = handle
        self._deliver = deliver
        self._stop = stop
        self._stage: EmbedStage[_Waiting] | None = None
        self._starting = threading.Lock()

    def take(self, decision: Decision, *, policy: str, versions: Mapping[str, str]) -> None:
        """Read, parse, chunk; then deliver, or leave it to the embedding callers."""
        item = decision.item
        try:
            result = self._work(item, policy, versions)
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

    def _work(self, item: Item, policy: str, versions: Mapping[str, str]) -> Result | None:
        known = self._known.get(item.uri)
        raw = hash_file(item.path)
        if known is not None and (known.stale or not self._complete(known)):
            known = None  # made without an embedder, and now there is one (S-13)
        if known is not None and _same_bytes(known, raw, policy, versions):
            return Result(item, Outcome.SKIPPED, seen_again=True)
        probe = self._parsers.probe(item)
        parsed = self._parsers.parse(item.path, probe)
        draft = self._preparer.resource(item, parsed, raw, probe.media_type)
        if not draft.blocks:
            return Result(item, Outcome.SKIPPED, "; ".join(draft.warnings))
        if known is not None and _same_content(known, draft, policy):
            return Result(item, Outcome.SKIPPED, touched=draft)
        draft = self._preparer.chunked(draft, item.name)
        if not draft.chunks:
            return Result(item, Outcome.SKIPPED, "it has no text to index")
        return self._embedded(item, draft)

    def _complete(self, known: Known) -> bool:
        return known.embedded or self._handle() is None

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


def _same_bytes(known: Known, raw: str, policy: str, versions: Mapping[str, str]) -> bool:
    return (
        known.raw_hash == raw
        and known.policy_version == policy
        and known.parser is not None
        and versions.get(known.parser) == known.parser_version
    )


def _same_content(known: Known, draft: Draft, policy: str) -> bool:
    """Only the resource row may differ.

    A new title changes what is embedded, and a better parser may have found other
    headings: the content hash knows nothing of either.
    """
    resource = draft.resource
    return (
        known.content_hash == resource.content_hash
        and known.id == resource.id
        and known.policy_version == policy
        and known.title == resource.title
        and (known.parser, known.parser_version) == (resource.parser, resource.parser_version)
    )


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
