"""``doctor``: what works, what does not, and what to type to mend it."""

from __future__ import annotations

from typing import Final

import click

from localdb_core.cli import render
from localdb_core.cli.command import Command
from localdb_core.cli.state import State, pass_state

_FAILED: Final = 1


@click.command("doctor", cls=Command, examples=["localdb doctor", "localdb doctor --json"])
@pass_state
def doctor(state: State) -> int:
    """Check everything localdb needs, and say what to type where something is wrong.

    Changes nothing, downloads nothing and loads no model. The exit status is 1 if a
    check failed.
    """
    from localdb_core.domain.health import failed
    from localdb_core.services.doctor import examine  # every service

    checks = examine(state.config_path, state.selected)
    if state.json:
        render.data(state, {"checks": [check.to_json() for check in checks]})
    else:
        for check in checks:
            render.check(state, check)
    return _FAILED if failed(checks) else 0
