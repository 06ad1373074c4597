"""``document list`` and ``document get``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import click

from localdb_core.cli import complete, render, scope
from localdb_core.cli.command import Group
from localdb_core.cli.state import State, pass_state
from localdb_core.domain.errors import InvalidRequest, ResourceNotFound
from localdb_core.domain.metadata import REPEATED, SCALAR
from localdb_core.domain.resource import Resource
from localdb_core.domain.store import Store
from localdb_core.domain.uri import display

_PAGE: Final = 500


@click.group(cls=Group, examples=["localdb document list", "localdb document get ID --text"])
def document() -> None:
    """List and show indexed documents."""


@document.command("list", examples=["localdb document list", "localdb document list --source ID"])
@click.option(
    "--source",
    "source_id",
    metavar="ID",
    shell_complete=complete.sources,
    help="Only documents of this source.",
)
@pass_state
def list_documents(state: State, source_id: str | None) -> None:
    """List what is indexed, by URI."""
    stores = scope.resolve(state, "document list")
    rows = ((store, row) for store in stores for row in _pages(state, store, source_id))
    if state.json:
        documents = [{**_row(row), **_owner(store, row)} for store, row in rows]
        render.data(state, {"documents": documents})
        return
    column = scope.column(stores)
    for store, row in rows:
        title = f" ({_title(row)})" if _title(row) else ""
        render.line(state, f"{column(store)}{row.id} {display(row.uri)}{title}")


@document.command("get", examples=["localdb document get ID", "localdb document get ID --text"])
@click.argument("resource_id", metavar="ID")
@click.option("--text", "with_text", is_flag=True, help="Show the text, too.")
@pass_state
def get(state: State, resource_id: str, *, with_text: bool) -> None:
    """Show one document: where it is from, and what is known about it."""
    store, row = _find(state, resource_id)
    if state.json:
        shown = {
            **_row(row),
            "store_id": store.id,
            "source_id": row.source_id,
            "content_hash": row.content_hash,
            "fetched_at": row.fetched_at,
            "metadata": row.metadata.to_json(),
            "text": state.app().documents.text(store, row.id),
        }
        render.data(state, shown)
        return
    for name, value in _facts(store, row):
        render.line(state, f"{name}: {value}")
    if with_text:
        render.line(state)
        render.text(state, state.app().documents.text(store, row.id))


def _pages(state: State, store: Store, source_id: str | None) -> Iterator[Resource]:
    offset = 0
    while True:
        rows, total = state.app().documents.page(
            store, source_id=source_id, offset=offset, limit=_PAGE
        )
        yield from rows
        offset += len(rows)
        if not rows or offset >= total:
            return


def _find(state: State, resource_id: str) -> tuple[Store, Resource]:
    """The document, if exactly one store in scope holds it."""
    stores = scope.resolve(state, "document get")
    found = state.app().documents.find_all(resource_id, stores)
    if not found:
        raise ResourceNotFound(resource_id)
    if len(found) > 1:
        names = ", ".join(store.name for store, _ in found)
        raise InvalidRequest(f"{resource_id} is in several stores ({names}); choose with --store")
    store, row = found[0]
    return store, row


def _title(row: Resource) -> str | None:
    return row.title or row.metadata.title


def _row(row: Resource) -> dict[str, Any]:  # Any: JSON values
    return {"id": row.id, "uri": row.uri, "title": _title(row)}


def _owner(store: Store, row: Resource) -> dict[str, Any]:  # Any: JSON values
    return {
        "store": {"name": store.name},
        "store_id": store.id,
        "source_id": row.source_id,
        "content_hash": row.content_hash,
        "fetched_at": row.fetched_at,
    }


def _facts(store: Store, row: Resource) -> Iterator[tuple[str, str]]:
    yield "id", row.id
    yield "uri", display(row.uri)
    if _title(row):
        yield "title", _title(row) or ""
    yield "store_id", store.id
    yield "source_id", row.source_id
    yield "content_hash", row.content_hash
    yield "fetched_at", row.fetched_at
    for name in sorted({*SCALAR, *REPEATED} - {"title"}):
        value = getattr(row.metadata, name)
        if value:
            yield f"dc.{name}", ", ".join(value) if isinstance(value, tuple) else value
