"""What ``localdb status`` tells."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from localdb_core.domain.errors import LocaldbError
from localdb_core.domain.reports import DatabaseInfo, StatusReport, StoreRow, TableSize
from localdb_core.domain.store import Store
from localdb_core.search.languages import foreign_language
from localdb_core.services.components import Components
from localdb_core.services.staleness import Staleness
from localdb_core.storage.catalog import Catalog
from localdb_core.storage.engines import LEGS, Engines
from localdb_core.storage.reconcile import needs_mending

LARGEST: Final = 5


@dataclass
class StatusService:
    """Counts, sizes, and what a person should know."""

    components: Components
    catalog: Catalog
    engines: Engines

    def report(self, stores: Sequence[Store]) -> StatusReport:
        """Never fails because of what it reports."""
        notices = self._parser_notices()
        for store in stores:
            notices += self._store_notices(store)
        return StatusReport(
            stores=tuple(self._row(store) for store in stores),
            database=self._database(),
            notices=tuple(dict.fromkeys(notices)),
        )

    def _parser_notices(self) -> list[str]:
        self.components.check()  # --strict-plugins makes an error of it, not a notice
        try:
            return list(self.components.chain.notices)
        except LocaldbError as error:
            return [str(error)]

    def _row(self, store: Store) -> StoreRow:
        try:
            return StoreRow(store, self.catalog.stores.stats(store.id))
        except LocaldbError:
            return StoreRow(store)

    def _store_notices(self, store: Store) -> list[str]:
        notices: list[str] = []
        for leg in LEGS:
            try:
                engine = self.engines.engine(store, leg)
            except LocaldbError as error:
                notices.append(str(error))
                continue
            if engine.fallback:
                notices.append(
                    f"{leg} index: {engine.fallback}; the built-in {engine.name} answers"
                )
            reason = needs_mending(self.engines, store, leg)
            if reason is not None:
                notices.append(
                    f"store {store.name!r}: the {leg} index {engine.name} {reason}; "
                    f"the built-in leg answers; mend it with: localdb engine rebuild {leg}"
                )
        stale = self.catalog.resources.stale_count(store.id)
        if stale:
            notices.append(
                f"store {store.name!r}: {stale} documents are to be read again, as a migration "
                "of the database asks; run: localdb index"
            )
        notices += Staleness(self.components, self.catalog).notices(store)
        return notices + self._language_notices(store)

    def _language_notices(self, store: Store) -> list[str]:
        stored = self.catalog.stores.embedder(store.id)
        if stored is None:
            return []
        language = foreign_language(self.catalog, store, stored)
        if language is None:
            return []
        return [
            f"store {store.name!r} is mostly in language {language!r}, which model "
            f"{stored.model} does not know: it is searched by words; for search by meaning "
            "see the plugin localdb-multilingual"
        ]

    def _database(self) -> DatabaseInfo:
        path = self.catalog.path
        wal = path.with_name(path.name + "-wal")
        size = path.stat().st_size if path.exists() else None
        wal_size = wal.stat().st_size if wal.exists() else 0
        chunks = sum(
            self.catalog.stores.stats(store.id).chunk_count for store in self.catalog.stores.list()
        )
        total = (size or 0) + wal_size
        return DatabaseInfo(
            path=str(path),
            exists=path.exists(),
            size=size,
            wal_size=wal_size,
            bytes_per_chunk=total // chunks if chunks else None,
            largest_tables=self._largest(),
        )

    def _largest(self) -> tuple[TableSize, ...]:
        """Tables with their indexes, by ``dbstat``, where SQLite was built with it."""
        try:
            with self.catalog.connections.read() as db:
                rows = db.execute(
                    "SELECT m.tbl_name, sum(d.pgsize) AS bytes FROM dbstat d"
                    " JOIN sqlite_master m ON m.name = d.name"
                    " WHERE m.tbl_name NOT LIKE 'sqlite_%'"
                    " GROUP BY m.tbl_name ORDER BY bytes DESC LIMIT ?",
                    (LARGEST,),
                ).fetchall()
        except (sqlite3.Error, LocaldbError):
            return ()
        return tuple(TableSize(row[0], int(row[1])) for row in rows)
