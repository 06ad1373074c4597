"""``store add``, ``store list``, ``store remove``."""

from __future__ import annotations

import click

from localdb_core.cli import complete, render, scope
from localdb_core.cli.command import Group
from localdb_core.cli.state import State, pass_state


@click.group(cls=Group, examples=["localdb store add papers", "localdb store list"])
def store() -> None:
    """Add, list and remove stores: collections that are searched together."""


@store.command("add", examples=["localdb store add papers"])
@click.argument("name")
@pass_state
def add(state: State, name: str) -> None:
    """Make an empty store called NAME."""
    made = state.app().stores.add(name)
    if state.json:
        render.data(state, {"status": "ok", "name": made.name, "id": made.id})
    else:
        render.line(state, f"Added store: {made.name}")


@store.command("list", examples=["localdb store list", "localdb store list --json"])
@pass_state
def list_stores(state: State) -> None:
    """List the stores."""
    found = scope.resolve(state, "store list")
    if state.json:
        rows = [{"name": s.name, "visibility": s.visibility, "backend": s.backend} for s in found]
        render.data(state, {"stores": rows})
        return
    for row in found:
        render.line(state, f"{row.name} [{row.backend}]")
    if not found:
        render.line(state, "No stores.")


@store.command("remove", examples=["localdb store remove papers", "localdb store remove papers -y"])
@click.argument("name", shell_complete=complete.stores)
@pass_state
def remove(state: State, name: str) -> None:
    """Remove the store of this name or id and everything indexed in it; your files stay."""
    found = state.app().stores.resolve(name)
    if not render.confirm(state, f"Remove store '{found.name}' and everything indexed in it?"):
        return
    state.app().stores.remove(found)
    if state.json:
        render.data(state, {"status": "ok", "name": found.name})
    else:
        render.line(state, f"Removed store: {found.name}")
