"""What an index run is given by the application."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from localdb_core.domain.store import Store
from localdb_core.pipeline.chunk import OwnedChunker
from localdb_core.pipeline.parse import ParserRunner
from localdb_core.pipeline.plan import Current
from localdb_core.pipeline.pool import ParserPool
from localdb_core.pipeline.prepare import EmbedderHandle
from localdb_core.pipeline.survey import SourceKinds, Survey
from localdb_core.plugin import Accepts
from localdb_core.storage.catalog import Catalog


@dataclass(frozen=True)
class Setup:
    """What a run needs from the application.

    Attributes:
        policy: the indexing policy in force.
        now: what documents are held against.
        accepts: what the parser chain claims.
        source_kind: gives the component for a kind, and whether it can observe everything.
        runner: makes the parser runner on a pool.
        handle: the embedder, built at the first call; None when there is none.
        max_file_mib: larger files are not read.
    """

    catalog: Catalog
    policy: Mapping[str, object]
    now: Current
    accepts: Accepts
    chunkers: tuple[OwnedChunker, ...]
    source_kind: SourceKinds
    runner: Callable[[ParserPool], ParserRunner]
    handle: Callable[[], EmbedderHandle | None]
    max_file_mib: int

    def survey(self, store: Store) -> Survey:
        """A fresh look at the sources of a store."""
        return Survey(
            self.catalog.sources.list(store.id),
            kinds=self.source_kind,
            accepts=self.accepts,
            known=lambda: self.catalog.resources.known(store.id),
            now=self.now,
        )
