"""One store's keyword index in a folder of Whoosh files."""

from __future__ import annotations

import pickle
import re
import shutil
import struct
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from localdb_core.domain import StorageUnavailable
from localdb_core.domain.errors import IndexInProgress
from localdb_core.domain.ids import ChunkId
from localdb_core.plugin import IndexContext, IndexEntry, LegQuery, Scored
from localdb_whoosh.config import Rule, WhooshConfig
from localdb_whoosh.library import whoosh
from localdb_whoosh.words import Words, clean, supported

# A question longer than this is answered by its first words; more only cost time.
MAX_TERMS: Final = 512
_MEMORY_MB: Final = 256
_TABLE: Final = re.compile(r"_chunks([a-z]+)_[0-9]+\.toc")
# What reading a truncated or overwritten file of Whoosh's was seen to raise.
_DAMAGE: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    OSError,
    TypeError,
    ValueError,
    pickle.UnpicklingError,
    struct.error,
)


def build(context: IndexContext) -> WhooshIndex:
    """The index in ``context.folder``; made there unless the context is read-only."""
    config = context.config if isinstance(context.config, WhooshConfig) else WhooshConfig()
    return WhooshIndex(context, rule=config.rule)


class WhooshIndex:
    """BM25 over stemmed words.

    What is upserted and deleted waits in memory until :meth:`flush`, which makes one
    commit; queries, counts and ids see what was committed, also by another process.
    The language of the first commit stays the index's until it is rebuilt, because
    its stems are in the files.
    """

    def __init__(self, context: IndexContext, *, rule: Rule) -> None:
        self._folder = context.folder
        self._readonly = context.readonly
        self._rule = rule
        self._pending: dict[ChunkId, str | None] = {}  # None: to be deleted
        self._lock = threading.Lock()
        with _damage_named(self._folder):
            language = _prepare(context)
            self._words = Words(language)
            self._schema = _schema(self._words)
            self._files = whoosh().index.open_dir(
                str(self._folder), indexname=_name(language), schema=self._schema
            )
            self._searcher = self._files.searcher(weighting=whoosh().scoring.BM25F())
        self.language = language

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Add or replace at the next flush."""
        self._pending.update({entry.chunk_id: clean(entry.text or "") for entry in entries})

    def delete(self, chunk_ids: Collection[ChunkId]) -> None:
        """Remove at the next flush."""
        self._pending.update(dict.fromkeys(chunk_ids))

    def query(self, query: LegQuery) -> list[Scored]:
        """Entries with all words, then entries with some, each by BM25 (rule ``strict-first``).

        The reported score is BM25 as it is: an entry with some of the words may have
        a higher one than an entry before it that has them all. The order is the answer.
        """
        if query.limit < 1:
            return []
        with self._lock, _damage_named(self._folder):
            terms = self._words.of_question(query.text)[:MAX_TERMS]
            if not terms:
                return []
            searcher = self._latest()
            either = _ranked(searcher, _any_of(terms), query.limit)
            if self._rule == "any" or len(terms) == 1:
                return either
            strict = _ranked(searcher, _all_of(terms), query.limit)
        found = {hit.chunk_id for hit in strict}
        return (strict + [hit for hit in either if hit.chunk_id not in found])[: query.limit]

    def ids(self) -> Iterator[ChunkId]:
        """Every committed id, as of the first one asked for."""
        with _damage_named(self._folder):
            reader = self._files.reader()
            try:
                for fields in reader.all_stored_fields():
                    yield ChunkId(fields["chunk_id"])
            finally:
                reader.close()

    def count(self) -> int:
        """How many entries are committed."""
        with self._lock, _damage_named(self._folder):
            return int(self._latest().doc_count())

    def flush(self) -> None:
        """Commit everything that waits. Raises IndexInProgress when another writer is at it."""
        if self._readonly or not self._pending:
            return
        try:
            writer = self._files.writer(limitmb=_MEMORY_MB)
        except whoosh().index.LockError as error:
            raise IndexInProgress(f"another process writes to {self._folder}") from error
        pending, self._pending = self._pending, {}
        try:
            with _damage_named(self._folder):
                _replace(writer, pending)
                writer.commit()
        except BaseException:
            self._pending = {**pending, **self._pending}
            if not writer.is_closed:
                writer.cancel()
            raise

    def close(self) -> None:
        """Release the files; what was not flushed is lost. May be called twice."""
        with self._lock:
            self._pending = {}
            if not self._searcher.is_closed:
                self._searcher.close()
            self._files.close()

    def _latest(self) -> Any:  # Any: Whoosh has no types
        if not self._searcher.up_to_date():
            # Not searcher.refresh(): that closes the old reader even when opening fails.
            fresh = self._files.searcher(weighting=self._searcher.weighting)
            self._searcher.close()
            self._searcher = fresh
        return self._searcher


def _prepare(context: IndexContext) -> str:
    """The language of the index in the folder, which is made when it may be and must be."""
    wanted = supported(context.language)
    stored = _stored_language(context.folder)
    if context.readonly:
        if stored is None:
            raise StorageUnavailable(
                f"there is no Whoosh index in {context.folder}; build it first"
            )
        return stored
    if stored is not None and stored != wanted:
        if not _is_empty(context.folder, stored):
            context.log.warning(
                "the keyword index of store %s stems by %r, its text is %r; rebuild it to change",
                context.store_id,
                stored,
                wanted,
            )
            return stored
        shutil.rmtree(context.folder)
        stored = None
    if stored is None:
        context.folder.mkdir(parents=True, exist_ok=True)
        schema = _schema(Words(wanted))
        whoosh().index.create_in(str(context.folder), schema, indexname=_name(wanted)).close()
    return wanted


def _stored_language(folder: Path) -> str | None:
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    for name in sorted(names):
        if match := _TABLE.fullmatch(name):
            return match.group(1)
    if any(name.startswith(("chunks", "_chunks")) for name in names):
        raise StorageUnavailable(f"the Whoosh index in {folder} has lost its table of contents")
    return None


def _is_empty(folder: Path, language: str) -> bool:
    files = whoosh().index.open_dir(
        str(folder), indexname=_name(language), schema=_schema(Words(language))
    )
    try:
        return int(files.doc_count()) == 0
    finally:
        files.close()


def _name(language: str) -> str:
    return f"chunks{language}"


def _schema(words: Words) -> Any:  # Any: Whoosh has no types
    fields = whoosh().fields
    return fields.Schema(
        chunk_id=fields.ID(stored=True, unique=True),
        text=fields.TEXT(analyzer=words.analyzer, phrase=False),  # a quarter less on disk
    )


def _replace(writer: Any, pending: dict[ChunkId, str | None]) -> None:
    # Document numbers from one reader: update_document opens a reader for each entry,
    # which at 100,000 entries takes 150 ms a time (E-4).
    reader = writer.reader()
    try:
        for number in _numbers(reader, pending):
            writer.delete_document(number)
    finally:
        reader.close()
    for chunk_id, text in pending.items():
        if text is not None:
            writer.add_document(chunk_id=chunk_id, text=text)


def _numbers(reader: Any, chunk_ids: Collection[ChunkId]) -> list[int]:
    numbers: list[int] = []
    for chunk_id in chunk_ids:
        try:
            numbers.extend(reader.postings("chunk_id", chunk_id).all_ids())
        except whoosh().reading.TermNotFound:
            continue
    return numbers


def _all_of(terms: Sequence[str]) -> Any:
    query = whoosh().query
    return query.And([query.Term("text", term) for term in terms])


def _any_of(terms: Sequence[str]) -> Any:
    query = whoosh().query
    return query.Or([query.Term("text", term) for term in terms])


def _ranked(searcher: Any, query: Any, limit: int) -> list[Scored]:
    """The best ``limit`` hits, ties by chunk id also where the list is cut."""
    asked = limit + 1
    while True:
        found = [
            (number, float(score)) for number, score in searcher.search(query, limit=asked).items()
        ]
        if len(found) < asked or found[-1][1] < found[limit - 1][1]:
            break
        asked *= 4  # the tie goes on beyond what was asked for
    hits = [Scored(searcher.stored_fields(number)["chunk_id"], score) for number, score in found]
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:limit]


@contextmanager
def _damage_named(folder: Path) -> Iterator[None]:
    try:
        yield
    except (*_DAMAGE, whoosh().index.IndexError) as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise StorageUnavailable(
            f"the Whoosh index in {folder} cannot be used ({reason}); rebuild the sparse index"
        ) from error
