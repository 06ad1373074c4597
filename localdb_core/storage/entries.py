"""What an index gets for each chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from localdb_core.domain.ids import ChunkId
from localdb_core.plugin import IndexEntry
from localdb_core.storage.resources import PreparedDocument
from localdb_core.storage.vectors import StoredEntry


def keyword_text(trail: str, text: str) -> str:
    """What a sparse index gets: title and heading trail, then the chunk (S-2)."""
    return f"{trail}\n{text}" if trail else text


def fresh_entries(leg: str, documents: Sequence[PreparedDocument]) -> list[IndexEntry]:
    """Entries of documents about to be committed; none for a dense leg without vectors."""
    entries: list[IndexEntry] = []
    for document in documents:
        for position, chunk in enumerate(document.chunks):
            if leg == "sparse":
                text = keyword_text(document.trails[position], chunk.text)
                entries.append(IndexEntry(chunk.id, text=text))
            elif document.vectors is not None:
                entries.append(IndexEntry(chunk.id, vector=document.vectors[position]))
    return entries


def stored_entries(leg: str, stored: Iterable[StoredEntry]) -> Iterator[IndexEntry]:
    """Entries of chunks read back from the catalog."""
    for entry in stored:
        chunk_id = ChunkId(entry.chunk_id)
        if leg == "sparse":
            yield IndexEntry(chunk_id, text=keyword_text(entry.trail, entry.text))
        elif entry.vector is not None:
            yield IndexEntry(chunk_id, vector=entry.vector)
