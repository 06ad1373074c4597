"""The five read-only tools every agent gets."""

from __future__ import annotations

from localdb_core.plugin import ToolSpec

_ARGUMENTS = "localdb_core.builtin.tools.arguments"

SPECS: tuple[ToolSpec, ...] = (
    ToolSpec(
        name="search",
        target="localdb_core.builtin.tools.search:SearchTool",
        surface="core",
        title="Search documents",
        summary="Hybrid search with citations",
        arguments=f"{_ARGUMENTS}:SearchArguments",
        description=(
            "Search the indexed documents by meaning and by keyword at once. Use it first for any "
            "question about what the user's own files, pages or notes say. Ask in natural language "
            "or with the exact terms you expect in the text.\n"
            "Returns ranked citations as JSON (best first, each with the passage, its document, "
            "headings, position and score) and then the same hits as a short readable list.\n"
            "To read around a hit, call get_chunks with its resource_id and its chunk_id as "
            "anchor_chunk_id; for the whole document call get_document. Cite the uri."
        ),
    ),
    ToolSpec(
        name="get_document",
        target="localdb_core.builtin.tools.get_document:GetDocumentTool",
        surface="core",
        title="Read a document",
        summary="Full text and metadata of one document",
        arguments=f"{_ARGUMENTS}:GetDocumentArguments",
        description=(
            "Read one document in full: its text, title, metadata and provenance. Pass the "
            "resource_id of a search hit as id, and the hit's store as store when several stores "
            "may hold the same document. Looking a document up by uri is not supported.\n"
            "The text comes back whole, so for a long document prefer get_chunks, which pages."
        ),
    ),
    ToolSpec(
        name="get_chunks",
        target="localdb_core.builtin.tools.get_chunks:GetChunksTool",
        surface="core",
        title="Page through a document",
        summary="Passages of one document, in order",
        arguments=f"{_ARGUMENTS}:GetChunksArguments",
        description=(
            "Read a document passage by passage, in document order. Use it to see what stands "
            "before and after a search hit: pass the hit's resource_id, and its chunk_id as "
            "anchor_chunk_id to get a window centred on it. Without an anchor, page with offset "
            "and limit; total_chunks says how many passages there are."
        ),
    ),
    ToolSpec(
        name="list_stores",
        target="localdb_core.builtin.tools.list_stores:ListStoresTool",
        surface="core",
        title="List stores",
        summary="Stores with their counts",
        arguments=f"{_ARGUMENTS}:ListStoresArguments",
        description=(
            "List the stores (named collections of documents) that can be searched, each with its "
            "id, name, visibility and its numbers of documents and chunks. Use it to choose the "
            "stores argument of search, or to see whether anything is indexed."
        ),
    ),
    ToolSpec(
        name="list_documents",
        target="localdb_core.builtin.tools.list_documents:ListDocumentsTool",
        surface="core",
        title="List documents",
        summary="Documents of one store, page by page",
        arguments=f"{_ARGUMENTS}:ListDocumentsArguments",
        description=(
            "List every document of one store, ordered by uri, without searching. Use it for "
            "questions about what is there rather than what it says. Page with offset and limit; "
            "total says how many documents there are, and each id can be given to get_document "
            "or get_chunks."
        ),
    ),
)
