"""What localdb asks of every plugin, and of every tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from localdb_core.app import LocalDB
from localdb_core.domain import SearchRequest
from localdb_core.testing.plugin import PluginContract
from localdb_core.testing.tool import ToolContract


class TestPlugin(PluginContract):
    """The light module, the hooks and the settings."""

    plugin = "alike"


class TestFindSimilar(ToolContract):
    """Called with a passage of the contract's small store."""

    component = "alike/find_similar"

    @classmethod
    def calls(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:
        """Arguments that must be answered."""
        hit = app.search.search(SearchRequest("herons")).citations[0]
        given = {"resource_id": hit.resource.id, "chunk_id": hit.chunk.id}
        return [given, {**given, "store": "default", "limit": 1, "other_documents": True}]

    @classmethod
    def refused(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:
        """Arguments that must be refused with a code."""
        known = cls.calls(app)[0]
        return [
            {"resource_id": "nothing", "chunk_id": "nothing"},
            {**known, "chunk_id": "nothing"},
            {**known, "store": "no such store"},
        ]


class TestSummariseStore(ToolContract):
    """Called on the contract's small store."""

    component = "alike/summarise_store"

    @classmethod
    def calls(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:
        """Arguments that must be answered."""
        return [{"store": "default"}, {"store": "default", "longest": 0}]

    @classmethod
    def refused(cls, app: LocalDB) -> Sequence[Mapping[str, Any]]:
        """Arguments that must be refused with a code."""
        return [{"store": "no such store"}]
