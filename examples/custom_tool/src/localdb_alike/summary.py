"""``summarise_store``: what a store holds, as a tool and as a resource."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from localdb_core.domain import InternalError, Resource, Store
from localdb_core.plugin import AppContext, ToolContext, ToolResult

_PAGE = 100
"""Documents looked at between two looks at whether anybody still waits."""

_UNKNOWN = "unknown"


class SummaryArguments(BaseModel):
    """What ``summarise_store`` takes."""

    model_config = ConfigDict(extra="forbid")

    store: str = Field(description="Store id or name")
    longest: int = Field(5, ge=0, le=20, description="Longest documents to name (default: 5)")


class LongDocument(BaseModel):
    """One of the longest documents."""

    resource_id: str
    uri: str
    title: str | None
    passages: int


class StoreSummary(BaseModel):
    """What ``summarise_store`` answers, beside its text."""

    store: str
    documents: int
    passages: int
    formats: dict[str, int] = Field(description="Documents of each media type, most first")
    languages: dict[str, int] = Field(description="Documents in each language, most first")
    longest: list[LongDocument]


class SummariseStore:
    """Looks at every document of a store, once."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context

    def run(self, arguments: SummaryArguments) -> ToolResult:
        """The summary. Raises StoreNotFound, JobCancelled."""
        summary = summarise(self._context, arguments.store, longest=arguments.longest)
        return ToolResult(as_text(summary), summary)


class SummaryReader:
    """The same as a resource."""

    def __init__(self, context: ToolContext) -> None:
        self._context = context

    def read(self, uri: str, variables: Mapping[str, Any]) -> str:
        """The summary's text. Raises StoreNotFound."""
        return as_text(summarise(self._context, str(variables["name"]), longest=5))


def summarise(context: ToolContext, name: str, *, longest: int) -> StoreSummary:
    """What the store of this name holds. Raises StoreNotFound, JobCancelled."""
    if context.app is None:
        raise InternalError("a tool was built without an application")
    app = context.app
    store = app.stores.resolve(name)
    formats, languages = Counter[str](), Counter[str]()
    sizes: list[tuple[int, Resource]] = []
    for done, total, resource in _documents(app, store):
        context.progress(done, total)  # which ends here once nobody waits for the answer
        formats[resource.mime or _UNKNOWN] += 1
        languages[resource.language or _UNKNOWN] += 1
        sizes.append((app.documents.chunk_count(store, resource.id), resource))
    sizes.sort(key=lambda pair: (-pair[0], pair[1].uri))
    return StoreSummary(
        store=store.name,
        documents=len(sizes),
        passages=sum(size for size, _ in sizes),
        formats=dict(formats.most_common()),
        languages=dict(languages.most_common()),
        longest=[
            LongDocument(
                resource_id=resource.id,
                uri=resource.uri,
                title=resource.metadata.title,
                passages=size,
            )
            for size, resource in sizes[:longest]
        ],
    )


def _documents(app: AppContext, store: Store) -> Iterator[tuple[int, int, Resource]]:
    """Every document with its number, from 1, and how many there are."""
    done, total = 0, 1
    while done < total:
        page, total = app.documents.page(store, source_id=None, offset=done, limit=_PAGE)
        if not page:  # somebody removed documents meanwhile
            return
        for resource in page:
            done += 1
            yield done, total, resource


def as_text(summary: StoreSummary) -> str:
    """The summary for a host that shows text alone."""
    lines = [
        f"Store {summary.store}: {summary.documents} documents, {summary.passages} passages",
        f"Formats: {_counts(summary.formats)}",
        f"Languages: {_counts(summary.languages)}",
    ]
    if summary.longest:
        lines.append("Longest documents:")
        lines += [f"- {d.title or d.uri}: {d.passages} passages" for d in summary.longest]
    return "\n".join(lines)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"
