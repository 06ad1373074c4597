"""``list_stores``: the stores in scope with their counts."""

from __future__ import annotations

from localdb_core.builtin.tools.answer import pretty, services
from localdb_core.builtin.tools.arguments import ListStoresArguments
from localdb_core.plugin import ToolContext, ToolResult


class ListStoresTool:
    """Lists stores."""

    def __init__(self, context: ToolContext) -> None:
        self._app = services(context)

    def run(self, arguments: ListStoresArguments) -> ToolResult:
        """Every store; one that cannot be counted makes the whole call fail (L-MCP-20)."""
        rows = []
        for store in self._app.stores.list():
            stats = self._app.stores.stats(store)
            rows.append(
                {
                    "chunk_count": stats.chunk_count,
                    "document_count": stats.document_count,
                    "id": store.id,
                    "name": store.name,
                    "visibility": store.visibility,
                }
            )
        return ToolResult(pretty({"stores": rows}))
