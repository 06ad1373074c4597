"""Commands and groups that take the global options wherever they stand.

@click.command(cls=Command, examples=["localdb store list", "localdb store list --json"])
@pass_state
def list_stores(state: State) -> None:
    ...

A group is made with ``@click.group(cls=Group)``; its commands with ``@group.command(...)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from localdb_core.cli import complete, logs, scope
from localdb_core.cli.state import State
from localdb_core.config.paths import find_config

_HELP_NAMES = {"help_option_names": ["-h", "--help"]}
_ABOUT_PLUGINS = ("plugin list", "plugin info", "plugin conflicts", "doctor")


class _WithGlobals(click.Command):
    """Adds the global options and a paragraph of examples to a command."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        # Any: click's own arguments, passed through
        kwargs["context_settings"] = _HELP_NAMES | (kwargs.get("context_settings") or {})
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)
        self.globals = global_options()
        self.params.extend(self.globals)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The command's own options first, then those that every command takes."""
        rows: dict[str, list[tuple[str, str]]] = {"Options": [], "Global options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                ours = param in self.globals or param is self.get_help_option(ctx)
                rows["Global options" if ours else "Options"].append(record)
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, as they are typed."""
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:  # unwrapped: they are there to be copied
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")
        super().format_epilog(ctx, formatter)


class Command(_WithGlobals):
    """A command of localdb."""

    def invoke(self, ctx: click.Context) -> Any:  # Any: as in click
        """Refuse ``--store`` where it means nothing, protect the output, then run."""
        state = ctx.ensure_object(State)
        words = _words(ctx)
        scope.check(words, state.stores)
        if state.config_path is not None:
            find_config(state.config_path)  # refused by every command (L-CFG-23)
        state.guard()
        logs.set_up(verbose=state.verbose, as_json=state.json)
        if words in _ABOUT_PLUGINS:  # they show what is wrong first
            result = super().invoke(ctx)
            state.enforce()
            return result
        state.enforce()
        return super().invoke(ctx)


class Group(_WithGlobals, click.Group):
    """A group of commands, each given or imported when it is chosen.

    ``lazy`` maps a name to ``(module:attribute, one line of help)``.
    """

    command_class = Command
    group_class = type

    def __init__(
        self, *args: Any, lazy: dict[str, tuple[str, str]] | None = None, **kwargs: Any
    ) -> None:
        # Any: click's own arguments, passed through
        super().__init__(*args, **kwargs)
        self.lazy = lazy or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every name, sorted."""
        return sorted({*super().list_commands(ctx), *self.lazy})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of this name; its module is imported now."""
        found = super().get_command(ctx, name)
        if found is None and name in self.lazy:
            module, _, attribute = self.lazy[name][0].partition(":")
            found = getattr(import_module(module), attribute)
        return found

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Without examples of its own, a group shows the first of each of its commands."""
        if not self.examples:
            below = (getattr(command, "examples", ()) for command in self.commands.values())
            self.examples = tuple(examples[0] for examples in below if examples)
        super().format_epilog(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Names and one line each, without importing a lazy command."""
        rows = []
        for name in self.list_commands(ctx):
            if name in self.lazy:
                if self.lazy[name][1]:
                    rows.append((name, self.lazy[name][1]))
                continue
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                rows.append((name, command.get_short_help_str(60)))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def global_options() -> list[click.Option]:
    """The options that every command takes; each writes to the state."""
    return [
        _option(["--config"], _set_config, type=click.Path(path_type=Path), metavar="PATH",
                help="Use this config file."),
        _option(["--json"], _set("json"), is_flag=True, help="Answer in JSON."),
        _option(["-s", "--store"], _add("stores"), multiple=True, metavar="NAME",
                shell_complete=complete.stores, help="Only this store; may be repeated."),
        _option(["-y", "--yes"], _set("yes"), is_flag=True, help="Do not ask."),
        _option(["--verbose"], _set("verbose"), is_flag=True,
                help="Show tracebacks and the debug log."),
        _option(["--no-plugins"], _set("no_plugins"), is_flag=True,
                help="Load no installed plugin."),
        _option(["-P", "switches"], _switches, multiple=True, metavar="no:NAME",
                shell_complete=complete.switches,
                help="Do not load this plugin; may be repeated."),
        _option(["--strict-plugins"], _set("strict_plugins"), is_flag=True,
                help="Fail when a plugin failed."),
        click.Option(["-V", "--version"], is_flag=True, expose_value=False, is_eager=True,
                     callback=_version, help="Print the version and leave."),
    ]  # fmt: skip


def _option(names: list[str], callback: Callable[..., None], **settings: Any) -> click.Option:
    # Any: click's own settings, passed through
    return click.Option(names, callback=callback, expose_value=False, is_eager=True, **settings)


def _set(name: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    def callback(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            setattr(ctx.ensure_object(State), name, True)

    return callback


def _add(name: str) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], None]:
    def callback(ctx: click.Context, _: click.Parameter, values: tuple[str, ...]) -> None:
        state = ctx.ensure_object(State)
        setattr(state, name, (*getattr(state, name), *values))

    return callback


def _set_config(ctx: click.Context, _: click.Parameter, value: Path | None) -> None:
    if value is not None:
        ctx.ensure_object(State).config_path = value


def _switches(ctx: click.Context, _: click.Parameter, values: tuple[str, ...]) -> None:
    state = ctx.ensure_object(State)
    for value in values:
        prefix, colon, name = value.partition(":")
        if (prefix, colon) != ("no", ":") or not name:
            raise click.UsageError(f"-P takes no:NAME, as in -P no:pdf; got {value!r}")
        state.switches = (*state.switches, value)


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from localdb_core.version import __version__

        click.echo(f"localdb {__version__}")
        ctx.exit()


def _words(ctx: click.Context) -> str:
    """``store list`` for the context of that command, whatever the program is called."""
    words: list[str] = []
    current: click.Context | None = ctx
    while current is not None and current.parent is not None:
        words.insert(0, current.info_name or "")
        current = current.parent
    return " ".join(words)
