"""``localdb mcp``: serve agents over standard input and output."""

from __future__ import annotations

import click

from localdb_core.cli import render, scope
from localdb_core.cli.command import Command
from localdb_core.cli.state import State, pass_state

_NO_WRITE_TOOLS = "--allow-write has no effect: there is no tool that writes"


@click.command(
    "mcp",
    cls=Command,
    examples=[
        "localdb mcp",
        "localdb mcp --store books --store research",
        "localdb mcp --config ~/notes/localdb.yaml",
    ],
)
@click.option("--allow-write", is_flag=True, help="Accepted, but no tool writes yet.")
@click.option(
    "--surface",
    "surfaces",
    multiple=True,
    metavar="NAME",
    help="Serve this tool set instead of core; 'all' serves every one. May be repeated.",
)
@pass_state
def mcp_command(state: State, *, allow_write: bool, surfaces: tuple[str, ...]) -> None:
    """Serve agents over standard input and output, until the input ends.

    ``--store`` limits what an agent sees to those stores. It keeps an agent from
    reading another project's documents by accident; it is no security boundary.
    """
    from localdb_core.mcp.server import build_server, instructions_for  # the SDK, 600 ms
    from localdb_core.mcp.stdio import serve
    from localdb_core.mcp.table import ToolTable

    if allow_write:
        render.warn(state, _NO_WRITE_TOOLS)
    app = state.app()
    # None is every store, those that are added later included.
    stores = scope.resolve(state, "mcp") if state.stores else None
    services = app.services(stores)
    table = ToolTable.build(
        app.registry.tools,
        surfaces=surfaces or ("core",),
        context_for=lambda plugin: app.tool_context(plugin, services),
    )
    server = build_server(table, instructions=instructions_for(services, table))
    serve(server, output=state.out.fileno())


mcp = mcp_command
"""The name under which the root group finds it."""
