"""``list_documents``: what one store holds, page by page."""

from __future__ import annotations

from typing import Final

from localdb_core.builtin.tools.answer import bounded, pretty, services, store_named
from localdb_core.builtin.tools.arguments import ListDocumentsArguments
from localdb_core.plugin import ToolContext, ToolResult

DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 200


class ListDocumentsTool:
    """Lists the documents of a store."""

    def __init__(self, context: ToolContext) -> None:
        self._app = services(context)

    def run(self, arguments: ListDocumentsArguments) -> ToolResult:
        """One page, ordered by uri. Raises InvalidRequest, StoreNotFound."""
        limit = bounded("limit", arguments.limit, default=DEFAULT_LIMIT, least=1, most=MAX_LIMIT)
        offset = bounded("offset", arguments.offset, default=0, least=0)
        store = store_named(self._app, arguments.store)
        resources, total = self._app.documents.page(
            store, source_id=arguments.source, offset=offset, limit=limit
        )
        answer = {
            "store": store.ref.to_json(),
            "total": total,
            "offset": offset,
            "limit": limit,
            "returned": len(resources),
            "documents": [resource.row() for resource in resources],
        }
        # Unlike its siblings this result keeps the order in which the contract lists the keys.
        return ToolResult(pretty(answer, sort_keys=False))
