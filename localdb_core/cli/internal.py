"""``internal``: what builds and editors ask for; not listed, needs no config, makes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from localdb_core.cli.command import Group
from localdb_core.cli.state import State, pass_state

if TYPE_CHECKING:
    from pydantic import BaseModel


@click.group(cls=Group, hidden=True)
def internal() -> None:
    """Commands for programs."""


@internal.command(
    "print-schema",
    examples=["localdb internal print-schema > ~/.config/localdb/config.schema.json"],
)
@click.option("--with-plugins", is_flag=True, help="Add the settings of the installed plugins.")
@pass_state
def print_schema(state: State, *, with_plugins: bool) -> None:
    """Print the JSON Schema of the config file."""
    from localdb_core.config.schema import schema_text  # pydantic

    sections = _sections(state) if with_plugins else {}
    state.out.write(schema_text(sections))


def _sections(state: State) -> dict[str, type[BaseModel]]:
    from localdb_core.host.settings import settings_model

    found = {name: settings_model(name, info) for name, info in state.host().infos.items()}
    return {name: model for name, model in found.items() if model is not None}
