"""Pure values and errors. Public: plugins may import everything listed here."""

from localdb_core.domain.block import Block, BlockKind
from localdb_core.domain.chunk import NO_SPAN, Chunk, Piece, Span
from localdb_core.domain.citation import Citation, Score, StoreRef
from localdb_core.domain.errors import (
    ChunkNotFound,
    ExtractionFailed,
    InternalError,
    InvalidConfig,
    InvalidRequest,
    JobCancelled,
    LocaldbError,
    ModelMissing,
    ProviderUnavailable,
    RateLimited,
    ResourceNotFound,
    SourceNotFound,
    StorageUnavailable,
    StoreNotFound,
    UnsupportedFormat,
)
from localdb_core.domain.metadata import Metadata
from localdb_core.domain.query import (
    Fence,
    Filters,
    SearchMode,
    SearchRequest,
    SearchResult,
)
from localdb_core.domain.resource import Resource
from localdb_core.domain.store import Source, Store, StoreStats

__all__ = [
    "NO_SPAN",
    "Block",
    "BlockKind",
    "Chunk",
    "ChunkNotFound",
    "Citation",
    "ExtractionFailed",
    "Fence",
    "Filters",
    "InternalError",
    "InvalidConfig",
    "InvalidRequest",
    "JobCancelled",
    "LocaldbError",
    "Metadata",
    "ModelMissing",
    "Piece",
    "ProviderUnavailable",
    "RateLimited",
    "Resource",
    "ResourceNotFound",
    "Score",
    "SearchMode",
    "SearchRequest",
    "SearchResult",
    "Source",
    "SourceNotFound",
    "Span",
    "StorageUnavailable",
    "Store",
    "StoreNotFound",
    "StoreRef",
    "StoreStats",
    "UnsupportedFormat",
]
