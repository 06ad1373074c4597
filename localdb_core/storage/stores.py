"""Stores, sources and embedders in the catalog."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from localdb_core.domain.clock import utc_now
from localdb_core.domain.errors import InvalidRequest, SourceNotFound, StoreNotFound
from localdb_core.domain.ids import SourceId, StoreId, new_ulid
from localdb_core.domain.store import Source, Store, StoreStats, check_store_name
from localdb_core.plugin import EmbedderCard
from localdb_core.storage.connections import Connections

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoredEmbedder:
    """The embedder whose vectors a store holds."""

    id: int
    fingerprint: str
    provider: str
    model: str
    dimension: int
    encoding: str
    languages: tuple[str, ...] | None = None


class StoreTable:
    """Rows of ``stores``, and the embedder each store is bound to."""

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def list(self) -> list[Store]:
        """Every store, ordered by name."""
        with self._db.read() as db:
            return [_store(row) for row in db.execute("SELECT * FROM stores ORDER BY name")]

    def get(self, store_id: str) -> Store:
        """The store with this id, fresh from the file. Raises StoreNotFound."""
        with self._db.read() as db:
            row = db.execute("SELECT * FROM stores WHERE id = ?", (store_id,)).fetchone()
        if row is None:
            raise StoreNotFound(store_id)
        return _store(row)

    def resolve(self, name_or_id: str) -> Store:
        """The store with this id, else with this name (L-MCP-14). Raises StoreNotFound."""
        if not is_unicode(name_or_id):
            raise StoreNotFound(name_or_id)
        with self._db.read() as db:
            row = db.execute(
                "SELECT * FROM stores WHERE id = :key OR name = :key ORDER BY id = :key DESC",
                {"key": name_or_id},
            ).fetchone()
        if row is None:
            raise StoreNotFound(name_or_id)
        return _store(row)

    def add(self, name: str, *, visibility: str = "private") -> Store:
        """Create a store. Raises InvalidRequest for a bad or taken name."""
        check_store_name(name)
        if not is_unicode(name):
            raise InvalidRequest(f"a store name must be valid Unicode: {name!r}")
        store_id = new_ulid()
        with self._db.write() as db:
            try:
                db.execute(
                    "INSERT INTO stores (id, name, visibility, created_at) VALUES (?, ?, ?, ?)",
                    (store_id, name, visibility, utc_now()),
                )
            except sqlite3.IntegrityError as error:
                raise InvalidRequest(f"a store named {name!r} already exists") from error
        return self.get(store_id)

    def remove(self, store_id: str) -> None:
        """Delete a store and everything below it."""
        with self._db.write() as db:
            db.execute("DELETE FROM stores WHERE id = ?", (store_id,))

    def stats(self, store_id: str) -> StoreStats:
        """How many documents and chunks it holds."""
        with self._db.read() as db:
            documents, chunks = db.execute(
                "SELECT (SELECT count(*) FROM resources WHERE store_id = :id),"
                " (SELECT count(*) FROM chunks WHERE store_id = :id)",
                {"id": store_id},
            ).fetchone()
        return StoreStats(documents, chunks)

    def set_policy(self, store_id: str, policy: Mapping[str, object], version: str) -> None:
        """Record the policy in force; called at the start of a run that changes it."""
        with self._db.write() as db:
            db.execute(
                "UPDATE stores SET indexing_policy = ?, policy_version = ? WHERE id = ?",
                (json.dumps(policy, sort_keys=True), version, store_id),
            )

    def embedder(self, store_id: str) -> StoredEmbedder | None:
        """Whose vectors the store holds; None before the first vector."""
        with self._db.read() as db:
            row = db.execute(
                "SELECT e.* FROM embedders e JOIN stores s ON s.embedder_id = e.id WHERE s.id = ?",
                (store_id,),
            ).fetchone()
        return None if row is None else _embedder(row)

    def bind_embedder(
        self, store_id: str, card: EmbedderCard, *, provider: str, model: str
    ) -> StoredEmbedder:
        """Bind the store to an embedder; it is refused elsewhere when another is bound."""
        languages = None if card.languages is None else json.dumps(list(card.languages))
        with self._db.write() as db:
            db.execute(
                "INSERT INTO embedders (fingerprint, provider, model, dimension, encoding,"
                " languages) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (fingerprint) DO NOTHING",
                (
                    card.fingerprint,
                    provider,
                    model,
                    card.dimension,
                    card.encoding,
                    languages,
                ),
            )
            row = db.execute(
                "SELECT * FROM embedders WHERE fingerprint = ?", (card.fingerprint,)
            ).fetchone()
            db.execute("UPDATE stores SET embedder_id = ? WHERE id = ?", (row["id"], store_id))
        return _embedder(row)

    def languages(self, store_id: str) -> dict[str, int]:
        """Documents per language tag; only those whose language is known."""
        with self._db.read() as db:
            rows = db.execute(
                "SELECT language, count(*) FROM resources"
                " WHERE store_id = ? AND language IS NOT NULL GROUP BY language",
                (store_id,),
            )
            return {row[0]: row[1] for row in rows}


class SourceTable:
    """Rows of ``sources``."""

    def __init__(self, connections: Connections) -> None:
        self._db = connections

    def list(self, store_id: str) -> list[Source]:
        """The store's sources in the order they were added."""
        with self._db.read() as db:
            rows = db.execute(
                "SELECT * FROM sources WHERE store_id = ? ORDER BY created_at, id", (store_id,)
            )
            return [_source(row) for row in rows]

    def get(self, source_id: str) -> Source:
        """Raises SourceNotFound."""
        with self._db.read() as db:
            row = db.execute("SELECT * FROM sources WHERE id = ?", (source_id,)).fetchone()
        if row is None:
            raise SourceNotFound(source_id)
        return _source(row)

    def add(self, source: Source) -> Source:
        """Insert a source. Raises InvalidRequest when the store already has its root or URL."""
        with self._db.write() as db:
            try:
                db.execute(
                    "INSERT INTO sources (id, store_id, kind, root, url, include, exclude, preset,"
                    " refresh, created_at, config_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        source.id or new_ulid(),
                        source.store_id,
                        source.kind,
                        source.root,
                        source.url,
                        json.dumps(list(source.include)),
                        json.dumps(list(source.exclude)),
                        source.preset,
                        source.refresh,
                        source.created_at or utc_now(),
                        json.dumps(source.settings) if source.settings else None,
                    ),
                )
            except sqlite3.IntegrityError as error:
                raise InvalidRequest(
                    f"the store already has a source for {source.location}"
                ) from error
        return source

    def set_include(self, source_id: str, include: tuple[str, ...]) -> Source:
        """Change which files of its folder a source reads; returns it."""
        with self._db.write() as db:
            db.execute(
                "UPDATE sources SET include = ? WHERE id = ?",
                (json.dumps(list(include)), source_id),
            )
        return self.get(source_id)

    def remove(self, source_id: str) -> None:
        """Delete a source with its documents; their chunks become pending deletions."""
        with self._db.write() as db:
            gone = [
                row[0]
                for row in db.execute(
                    "SELECT c.id FROM chunks c JOIN resources r ON r.rid = c.resource_rid"
                    " JOIN sources s ON s.id = r.source_id AND s.store_id = r.store_id"
                    " WHERE s.id = ?",
                    (source_id,),
                )
            ]
            row = db.execute("SELECT store_id FROM sources WHERE id = ?", (source_id,)).fetchone()
            if row is None:
                raise SourceNotFound(source_id)
            db.executemany(
                "INSERT OR IGNORE INTO pending_deletes (store_id, chunk_id) VALUES (?, ?)",
                [(row["store_id"], chunk) for chunk in gone],
            )
            db.execute("DELETE FROM sources WHERE id = ?", (source_id,))


def is_unicode(text: str) -> bool:
    """Whether SQLite can store the text: no lone surrogates, as bad arguments have."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _store(row: sqlite3.Row) -> Store:
    return Store(
        id=StoreId(row["id"]),
        name=row["name"],
        visibility=row["visibility"],
        backend=row["backend"],
        policy_version=row["policy_version"],
        created_at=row["created_at"],
        index_dirty=bool(row["index_dirty"]),
        index_generation=row["index_generation"],
        index_dense=row["index_dense"],
        index_sparse=row["index_sparse"],
    )


def _embedder(row: sqlite3.Row) -> StoredEmbedder:
    languages = row["languages"]
    return StoredEmbedder(
        id=row["id"],
        fingerprint=row["fingerprint"],
        provider=row["provider"],
        model=row["model"],
        dimension=row["dimension"],
        encoding=row["encoding"],
        languages=None if languages is None else tuple(json.loads(languages)),
    )


def _source(row: sqlite3.Row) -> Source:
    return Source(
        id=SourceId(row["id"]),
        store_id=StoreId(row["store_id"]),
        kind=row["kind"],
        root=row["root"],
        url=row["url"],
        include=tuple(json.loads(row["include"])),
        exclude=tuple(json.loads(row["exclude"])),
        preset=row["preset"],
        refresh=row["refresh"],
        created_at=row["created_at"],
        settings=_settings(row["config_json"], row["id"]),
    )


def _settings(text: str | None, source_id: str) -> dict[str, Any]:  # Any: JSON values
    if not text:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        log.warning("source %s: unreadable settings, using the defaults", source_id)  # L-DOM-12
        return {}
    return value if isinstance(value, dict) else {}
