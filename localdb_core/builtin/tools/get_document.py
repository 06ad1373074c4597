"""``get_document``: the text and metadata of one document."""

from __future__ import annotations

from localdb_core.builtin.tools.answer import find_document, pretty, services
from localdb_core.builtin.tools.arguments import GetDocumentArguments
from localdb_core.domain import InvalidRequest
from localdb_core.plugin import ToolContext, ToolResult

_BY_URI = (
    "uri-based get_document is not supported in v1; use the document 'id' from a search result"
)


class GetDocumentTool:
    """Reads a whole document."""

    def __init__(self, context: ToolContext) -> None:
        self._app = services(context)

    def run(self, arguments: GetDocumentArguments) -> ToolResult:
        """The document. Raises InvalidRequest, StoreNotFound, ResourceNotFound."""
        wanted = arguments.id.strip()
        if not wanted:
            raise InvalidRequest(
                _BY_URI if arguments.uri else "id is required; use the one from a search result"
            )
        store, resource = find_document(self._app, wanted, store=arguments.store)
        documents = self._app.documents
        answer = {
            "resource_id": resource.id,
            "uri": resource.uri,
            "title": resource.metadata.title,
            "store": store.ref.to_json(),
            "provenance": {
                "fetched_at": resource.fetched_at,
                "content_hash": resource.content_hash,
            },
            "metadata": resource.metadata.to_json(),
            "chunk_count": documents.chunk_count(store, resource.id),
            "text": documents.text(store, resource.id),
        }
        return ToolResult(pretty(answer))
