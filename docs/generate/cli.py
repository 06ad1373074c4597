"""``cli.md``: every command with its arguments, options and examples, from click."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from generate.markdown import code, fence, inline, table
from localdb_core.cli.command import global_options
from localdb_core.cli.main import root
from localdb_core.cli.scope import SCOPES

_INTRO = """\
# Commands

Every command takes `--json` and `--help`. Output goes to standard output, everything else to
standard error. What an exit status means stands in [Errors](errors.md).

## Global options

Every command takes these, before or after its own name.

"""


def commands() -> Iterator[tuple[str, click.Command]]:
    """``store list`` and its command, for each command that does something."""
    yield from _below(root(), ())


def _below(group: click.Group, words: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _below(command, (*words, name))
        elif command is not None:
            yield " ".join((*words, name)), command


def page() -> str:
    """The global options, then one section for each command."""
    text = _INTRO + _options([*global_options()])
    return text + "".join(_section(words, command) for words, command in commands())


def _section(words: str, command: click.Command) -> str:
    text = f"## localdb {words}\n\n"
    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    taken = "".join(f" {_written(argument)}" for argument in arguments)
    text += fence(f"localdb {words} [OPTIONS]{taken}")
    told = inspect.cleandoc(command.help or "").replace("\b\n", "")
    text += f"{inline(told)}\n\n"
    if words in SCOPES:
        text += f"Without `--store`: {SCOPES[words].value}.\n\n"
    shared = {option.name for option in global_options()}
    text += _options([p for p in command.params if p.name not in shared])
    examples = getattr(command, "examples", ())
    return text + (fence("\n".join(examples), "sh") if examples else "")


def _written(argument: click.Argument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    if isinstance(argument.type, click.Choice):
        name = "|".join(map(str, argument.type.choices))
    if argument.nargs != 1 and not name.endswith("..."):
        name += "..."
    return name if argument.required else f"[{name}]"


def _options(params: list[click.Option] | list[click.Parameter]) -> str:
    """A table of those that are options; nothing if there are none."""
    rows = [
        (_names(p), inline(p.help or "") + _default(p))
        for p in params
        if isinstance(p, click.Option) and not p.hidden
    ]
    return table(("Option", ""), rows) if rows else ""


def _names(option: click.Option) -> str:
    names = [*option.opts, *option.secondary_opts]
    return ", ".join(code(f"{name}{_value(option)}") for name in names)


def _value(option: click.Option) -> str:
    if option.is_flag or option.count:
        return ""
    if option.metavar:
        return f" {option.metavar}"
    if isinstance(option.type, click.Choice):
        return " " + "|".join(map(str, option.type.choices))
    return f" {option.type.name.upper()}"


def _default(option: click.Option) -> str:
    return f" (default: `{option.default}`)" if option.show_default else ""
