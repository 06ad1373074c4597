"""Which stores a command works on (spec §8.1, store scope)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final

import click

from localdb_core.domain.errors import InvalidRequest, StoreNotFound
from localdb_core.domain.store import Store, check_store_name

if TYPE_CHECKING:
    from localdb_core.cli.state import State

DEFAULT_STORE: Final = "default"


class Scope(Enum):
    """What a command does without ``--store``, and whether it takes one."""

    ALL = "all stores; none at all is an error"
    ANY = "all stores, even none"
    DEFAULT = "the store called default"


SCOPES: Final[dict[str, Scope]] = {
    "search": Scope.ANY,
    "mcp": Scope.ANY,
    "document get": Scope.ANY,
    "status": Scope.ANY,  # says "(none)"
    "store list": Scope.ANY,  # says "No stores."
    "engine list": Scope.ANY,
    "source list": Scope.ALL,
    "source remove": Scope.ALL,
    "document list": Scope.ALL,
    "index": Scope.ALL,
    "engine rebuild": Scope.ALL,
    "source add": Scope.DEFAULT,
    "add": Scope.DEFAULT,
}
"""Commands that take ``--store``; every other one refuses it."""


_ID: Final = re.compile(r"[A-Z0-9]{26}|[0-9a-fA-F-]{36}")


def looks_like_id(text: str) -> bool:
    """Whether a person probably means an id, not a path or an address."""
    return _ID.fullmatch(text) is not None


def column(stores: Sequence[Store]) -> Callable[[Store], str]:
    """What stands before a row: the store's name if there are several (L-CLI-03)."""
    if len(stores) < 2:
        return lambda store: ""
    width = max(len(store.name) for store in stores) + 2
    return lambda store: store.name.ljust(width)


def check(command: str, names: Sequence[str]) -> None:
    """Refuse ``--store`` where it has no meaning, and names that cannot be (L-CLI-01)."""
    if not names:
        return
    if command not in SCOPES:
        raise click.UsageError(f"'localdb {command}' does not take --store")
    for name in names:
        check_store_name(name)


def resolve(state: State, command: str) -> list[Store]:
    """The stores ``command`` works on: those asked for, in that order, once each.

    Raises:
        StoreNotFound: one of the names is unknown.
        InvalidRequest: there is no store to work on (L-CLI-02).
    """
    stores = state.app().stores
    if state.stores:
        found = [stores.resolve(name) for name in state.stores]
        return list({store.id: store for store in found}.values())
    scope = SCOPES[command]
    if scope is Scope.DEFAULT:
        try:
            return [stores.resolve(DEFAULT_STORE)]
        except StoreNotFound:
            raise InvalidRequest("no store named 'default'; pass --store <name>") from None
    everything = sorted(stores.list(), key=lambda store: store.name)
    if not everything and scope is Scope.ALL:
        raise InvalidRequest("there are no stores; make one with: localdb store add NAME")
    return everything
