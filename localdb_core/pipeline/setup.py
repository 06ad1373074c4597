"""What an index run is given by the application."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from localdb_core.pipeline.chunk import OwnedChunker
from localdb_core.pipeline.parse import ParserRunner
from localdb_core.pipeline.pool import ParserPool
from localdb_core.pipeline.prepare import EmbedderHandle
from localdb_core.plugin import Accepts, SourceKind
from localdb_core.storage.catalog import Catalog


@dataclass(frozen=True)
class Setup:
    """What a run needs from the application.

    Attributes:
        policy, policy_version: the indexing policy in force.
        versions: version of every installed parser by full id.
        accepts: what the parser chain claims.
        source_kind: gives the component for a kind, and whether it can observe everything.
        runner: makes the parser runner on a pool.
        handle: the embedder, built at the first call; None when there is none.
        embeds: whether there is one, told without building it.
    """

    catalog: Catalog
    policy: Mapping[str, object]
    policy_version: str
    versions: Mapping[str, str]
    accepts: Accepts
    chunkers: tuple[OwnedChunker, ...]
    source_kind: Callable[[str], tuple[SourceKind, bool]]
    runner: Callable[[ParserPool], ParserRunner]
    handle: Callable[[], EmbedderHandle | None]
    embeds: bool = False
