"""The catalog: every table behind one handle."""

from __future__ import annotations

from pathlib import Path

from localdb_core.storage.connections import Connections
from localdb_core.storage.jobs import JobTable
from localdb_core.storage.ledger import Ledger
from localdb_core.storage.legs import ExactLeg, KeywordLeg
from localdb_core.storage.passages import PassageTable
from localdb_core.storage.reading import ReadingConnections
from localdb_core.storage.resources import ResourceTable
from localdb_core.storage.stores import SourceTable, StoreTable
from localdb_core.storage.vectors import VectorTable

DATABASE_NAME = "localdb.db"


class Catalog:
    """The SQLite file that is the truth; opened once per process, closed at the end.

    Raises SchemaMismatch for a file of another version or program, StorageUnavailable
    when the folder cannot be written. ``readonly`` makes and changes nothing, and does
    not judge the file's version.
    """

    def __init__(
        self, data_dir: Path, *, first_store: str | None = None, readonly: bool = False
    ) -> None:
        self.data_dir = data_dir
        self.path = data_dir / DATABASE_NAME
        self.connections: Connections = (
            ReadingConnections(self.path)
            if readonly
            else Connections(self.path, first_store=first_store)
        )
        self.stores = StoreTable(self.connections)
        self.sources = SourceTable(self.connections)
        self.resources = ResourceTable(self.connections)
        self.passages = PassageTable(self.connections)
        self.vectors = VectorTable(self.connections)
        self.ledger = Ledger(self.connections)
        self.jobs = JobTable(self.connections)
        self.keyword = KeywordLeg(self.connections)
        self.exact = ExactLeg(self.connections)

    def close(self) -> None:
        """Close the file."""
        self.connections.close()
