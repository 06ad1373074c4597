"""``completions``: a script that makes a shell complete what is typed after ``localdb``."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import ShellComplete, get_completion_class

from localdb_core.cli import render
from localdb_core.cli.command import Command
from localdb_core.cli.state import State, pass_state

SHELLS: Final = ("bash", "zsh", "fish")
_VARIABLE: Final = "_LOCALDB_COMPLETE"


@click.command(
    "completions",
    cls=Command,
    examples=[
        "localdb completions bash > ~/.local/share/bash-completion/completions/localdb",
        "localdb completions zsh > ~/.zfunc/_localdb",
        "localdb completions fish > ~/.config/fish/completions/localdb.fish",
    ],
)
@click.argument("shell", type=click.Choice(SHELLS))
@pass_state
def completions(state: State, shell: str) -> None:
    """Print a script that completes commands, options and names in a shell.

    It needs no config and loads no plugin.
    """
    kind = get_completion_class(shell)
    assert kind is not None, f"click knows no {shell}"
    # Not kind.source(): the one for bash starts a bash to look at its version.
    made = kind(click.Command("localdb"), {}, "localdb", _VARIABLE)
    render.text(state, ShellComplete.source(made))
