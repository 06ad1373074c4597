"""``search``: ranked citations, as JSON and as a list to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from localdb_core.builtin.tools.answer import bounded, pretty, services, store_named
from localdb_core.builtin.tools.arguments import SearchArguments
from localdb_core.domain import Citation, InvalidRequest, SearchRequest, SearchResult
from localdb_core.domain.snippet import cut
from localdb_core.plugin import ToolContext, ToolResult

SEPARATOR: Final = "\n\n---\n"
DEFAULT_LIMIT: Final = 10
MAX_LIMIT: Final = 100
DEFAULT_SNIPPET: Final = 400


class SearchTool:
    """Finds passages in the stores in scope."""

    def __init__(self, context: ToolContext) -> None:
        self._app = services(context)
        self._log = context.log
        self._said: tuple[str, ...] = ()

    def run(self, arguments: SearchArguments) -> ToolResult:
        """Citations, best first. Raises InvalidRequest, StoreNotFound."""
        if not arguments.query.strip():
            raise InvalidRequest("query must not be blank")
        limit = bounded("limit", arguments.limit, default=DEFAULT_LIMIT, least=1, most=MAX_LIMIT)
        named = self._ids(arguments.stores)
        if not self._app.stores.list():
            return ToolResult(pretty(SearchResult((), 0).to_json()))
        request = SearchRequest(arguments.query, stores=named, limit=limit)
        result = self._app.search.search(request)
        # The contract fixes the result's shape, so what else there is to say goes to the log,
        # once as long as it stays true.
        for notice in result.notices:
            if notice not in self._said:
                self._log.warning("%s", notice)
        self._said = result.notices
        length = arguments.content_length
        cap = length if length is not None and length >= 1 else DEFAULT_SNIPPET
        rendering = render(result.citations, snippet_length=cap)
        return ToolResult(pretty(result.to_json()) + SEPARATOR + rendering)

    def _ids(self, names: Sequence[str] | None) -> tuple[str, ...] | None:
        if not names:
            return None
        return tuple(dict.fromkeys(store_named(self._app, name).id for name in names))


def render(citations: Sequence[Citation], *, snippet_length: int) -> str:
    """The hits as a numbered list (L-MCP-12)."""
    if not citations:
        return "No results found."
    hits = (
        _hit(number, citation, snippet_length) for number, citation in enumerate(citations, start=1)
    )
    return "\n\n".join(hits)


def _hit(number: int, citation: Citation, snippet_length: int) -> str:
    metadata = citation.resource.metadata
    title = " ".join((metadata.title or "").split())
    place = " > ".join((citation.resource.uri, *citation.headings))
    lines = [f"{number}. {title} — {place}" if title else f"{number}. {place}"]
    byline = " · ".join(part for part in (*metadata.creator[:1], metadata.date) if part)
    if byline:
        lines.append(f"   {byline}")
    snippet, shortened = cut(citation.chunk.text, snippet_length)
    lines.append(f"   Score: {citation.score.fused:.4f}")
    lines.append(f"   {snippet}{'…' if shortened else ''}")
    return "\n".join(lines)
