"""What the built-in tools share: the JSON they print, bounds, finding stores and documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from localdb_core.domain import (
    InternalError,
    InvalidRequest,
    Resource,
    ResourceNotFound,
    Store,
    StoreNotFound,
)
from localdb_core.plugin import AppContext, ToolContext


def services(context: ToolContext) -> AppContext:
    """The application behind a tool."""
    if context.app is None:
        raise InternalError("a tool was built without an application")
    return context.app


def pretty(value: Any, *, sort_keys: bool = True) -> str:  # Any: a JSON value
    """JSON as the contract prints it."""
    return json.dumps(value, indent=2, sort_keys=sort_keys, ensure_ascii=False)


def bounded(
    name: str, value: int | None, *, default: int, least: int, most: int | None = None
) -> int:
    """The number, or its default. Raises InvalidRequest naming the bound (M-9)."""
    if value is None:
        return default
    if value < least or (most is not None and value > most):
        bound = f"at least {least}" if most is None else f"between {least} and {most}"
        raise InvalidRequest(f"{name} must be {bound}, got {value}")
    return value


def store_named(app: AppContext, name: str) -> Store:
    """The store with this id or name. Raises StoreNotFound in the contract's words."""
    try:
        return app.stores.resolve(name)
    except StoreNotFound:
        raise StoreNotFound(f"no store named '{name}'") from None


def find_document(
    app: AppContext, resource_id: str, *, store: str | None
) -> tuple[Store, Resource]:
    """The document and the first store that holds it, in one store or in all."""
    stores: Sequence[Store] = app.stores.list() if store is None else [store_named(app, store)]
    found = app.documents.find(resource_id, stores)
    if found is None:
        where = "any store" if store is None else f"store '{store}'"
        raise ResourceNotFound(
            f"no document '{resource_id}' in {where}; use the resource_id of a search result"
        )
    return found
