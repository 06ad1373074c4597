"""``localdb mcp``: serve agents over standard input and output."""

from __future__ import annotations

import click

from localdb_core.cli import render, scope
from localdb_core.cli.command import Command
from localdb_core.cli.state import State, pass_state
from localdb_core.plugin import ALLOW_WRITE, ToolContext

_NO_WRITE_TOOLS = "--allow-write has no effect: there is no tool that writes"


@click.command(
    "mcp",
    cls=Command,
    context_settings={"ignore_unknown_options": True},
    examples=[
        "localdb mcp",
        "localdb mcp --store books --store research",
        "localdb mcp --config ~/notes/localdb.yaml",
        "localdb mcp --surface NAME --allow-write",
    ],
)
@click.option(
    "--allow-write", is_flag=True, help="Offer tools that write; the core surface has none."
)
@click.option(
    "--surface",
    "surfaces",
    multiple=True,
    metavar="NAME",
    help="Serve this tool set instead of core; 'all' serves every one. May be repeated.",
)
@click.argument("rest", nargs=-1, type=click.UNPROCESSED, metavar="[--FLAG]...")
@pass_state
def mcp_command(
    state: State, *, allow_write: bool, surfaces: tuple[str, ...], rest: tuple[str, ...]
) -> None:
    """Serve agents over standard input and output, until the input ends.

    ``--store`` limits what an agent sees to those stores. It keeps an agent from
    reading another project's documents by accident; it is no security boundary.

    Plugins may bring surfaces of their own, with flags of their own: `localdb plugin list
    --kind surface` shows which, `localdb plugin info NAME` their flags.
    """
    from localdb_core.mcp.resources import ResourceTable  # the SDK, 600 ms
    from localdb_core.mcp.server import build_server, instructions_for
    from localdb_core.mcp.stdio import serve
    from localdb_core.mcp.surfaces import Choice
    from localdb_core.mcp.table import ToolTable

    flags = _flags(rest)
    app = state.app()
    # None is every store, those that are added later included.
    stores = scope.resolve(state, "mcp") if state.stores else None
    services = app.services(stores)
    registry = app.registry
    given = {*flags, ALLOW_WRITE} if allow_write else flags
    choice = Choice.of(surfaces, registry, flags=given)

    def context_for(plugin: str) -> ToolContext:
        return app.tool_context(plugin, services)

    table = ToolTable.build(registry.tools, choice, context_for=context_for)
    if allow_write and all(tool.spec.needed_flag != ALLOW_WRITE for tool in table):
        render.warn(state, _NO_WRITE_TOOLS)
    resources = ResourceTable.build(registry.resources, choice, context_for=context_for)
    instructions = instructions_for(services, table, choice.instructions)
    server = build_server(table, resources, instructions=instructions)
    serve(server, output=state.out.fileno(), protocols=choice.protocols)


mcp = mcp_command
"""The name under which the root group finds it."""


def _flags(rest: tuple[str, ...]) -> set[str]:
    """Options that click does not know, as names of flags. Raises UsageError for other words."""
    for word in rest:
        if not word.startswith("--") or "=" in word or word == "--":
            raise click.UsageError(f"unexpected argument: {word}")
    return {word.removeprefix("--") for word in rest}
