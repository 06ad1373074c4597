"""``find_similar``: passages like a given one."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from localdb_core.domain import (
    Chunk,
    ChunkNotFound,
    Citation,
    InternalError,
    ResourceNotFound,
    SearchRequest,
)
from localdb_core.plugin import AppContext, ToolContext, ToolResult

_ASKED = 600
"""Characters of the passage that are searched for; more only blurs the question."""

_SHOWN = 300
"""Characters of each passage in the text; the data holds the whole."""


class SimilarArguments(BaseModel):
    """What ``find_similar`` takes."""

    model_config = ConfigDict(extra="forbid")

    resource_id: str = Field(description="Document of the passage, from a search hit")
    chunk_id: str = Field(description="The passage, from the same hit")
    store: str | None = Field(
        None, description="Store id or name to look in, for both; default: every store"
    )
    limit: int = Field(5, ge=1, le=50, description="Passages at most (default: 5, max: 50)")
    other_documents: bool = Field(
        False, description="Leave out passages of the same document (default: false)"
    )


class Passage(BaseModel):
    """A passage that was found."""

    resource_id: str
    chunk_id: str
    store: str = Field(description="Name of its store")
    uri: str
    title: str | None
    headings: list[str]
    score: float = Field(description="Comparable within this answer only")
    text: str


class SimilarResult(BaseModel):
    """What ``find_similar`` answers, beside its text."""

    passages: list[Passage] = Field(description="Best first; never the given one")


class FindSimilar:
    """Searches with a passage's own words."""

    def __init__(self, context: ToolContext) -> None:
        if context.app is None:
            raise InternalError("a tool was built without an application")
        self._app: AppContext = context.app

    def run(self, arguments: SimilarArguments) -> ToolResult:
        """The passages. Raises StoreNotFound, ResourceNotFound, ChunkNotFound."""
        given = self._given(arguments)
        named = None if arguments.store is None else (arguments.store,)
        # More than asked for: the given passage, and perhaps its neighbours, drop out.
        wanted = arguments.limit * (4 if arguments.other_documents else 1) + 1
        found = self._app.search.search(
            SearchRequest(given.text[:_ASKED], stores=named, limit=min(wanted, 100))
        )
        kept = [c for c in found.citations if _wanted(c, arguments)][: arguments.limit]
        passages = [_passage(citation) for citation in kept]
        return ToolResult(_text(passages), SimilarResult(passages=passages))

    def _given(self, arguments: SimilarArguments) -> Chunk:
        stores = self._app.stores
        looked = stores.list() if arguments.store is None else [stores.resolve(arguments.store)]
        found = self._app.documents.find(arguments.resource_id, looked)
        if found is None:
            raise ResourceNotFound(f"no document '{arguments.resource_id}'; use a search hit's")
        store, resource = found
        place = self._app.documents.position(store, resource.id, chunk_id=arguments.chunk_id)
        if place is None:
            raise ChunkNotFound(f"no passage '{arguments.chunk_id}' in '{resource.id}'")
        return self._app.documents.chunks(store, resource.id, offset=place, limit=1)[0]


def _wanted(citation: Citation, arguments: SimilarArguments) -> bool:
    if citation.resource.id != arguments.resource_id:
        return True
    return not arguments.other_documents and citation.chunk.id != arguments.chunk_id


def _passage(citation: Citation) -> Passage:
    return Passage(
        resource_id=citation.resource.id,
        chunk_id=citation.chunk.id,
        store=citation.store.name,
        uri=citation.resource.uri,
        title=citation.resource.metadata.title,
        headings=list(citation.headings),
        score=citation.score.fused,
        text=citation.chunk.text,
    )


def _text(passages: list[Passage]) -> str:
    """The answer for a host that shows text alone: with the ids that the next call needs."""
    if not passages:
        return "Nothing like it was found."
    return "\n\n".join(
        f"{number}. {' > '.join((passage.uri, *passage.headings))}\n"
        f"   {' '.join(passage.text.split())[:_SHOWN]}\n"
        f"   resource_id {passage.resource_id}, chunk_id {passage.chunk_id}"
        for number, passage in enumerate(passages, start=1)
    )
