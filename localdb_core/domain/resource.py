"""Resources: documents as the catalog knows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from localdb_core.domain.ids import ResourceId, SourceId, StoreId
from localdb_core.domain.metadata import Metadata


@dataclass(frozen=True, slots=True)
class Resource:
    """One document as the catalog knows it (spec §1.4)."""

    id: ResourceId
    store_id: StoreId
    source_id: SourceId
    uri: str
    content_hash: str
    metadata: Metadata
    ingestor_kind: str = "file"
    resource_kind: str = "document"
    title: str | None = None
    mime: str | None = None
    language: str | None = None
    external_id: str | None = None
    external_etag: str | None = None
    added_at: str = ""
    modified_at: str | None = None
    policy_version: str = ""
    size: int | None = None
    mtime_ns: int | None = None
    raw_hash: str | None = None
    parser: str | None = None
    parser_version: str | None = None
    chunking: str = ""

    @property
    def fetched_at(self) -> str:
        """The acquisition time under the name the wire uses."""
        return self.added_at

    def row(self) -> dict[str, Any]:
        """The document row of the wire (spec §8.2), keys in the contract's order."""
        return {
            "store_id": self.store_id,
            "id": self.id,
            "source_id": self.source_id,
            "ingestor_kind": self.ingestor_kind,
            "uri": self.uri,
            "title": self.title,
            "mime": self.mime,
            "content_hash": self.content_hash,
            "fetched_at": self.fetched_at,
            "origin_store": self.store_id,
            "policy_version": self.policy_version,
            "metadata": self.metadata.to_json(),
        }
