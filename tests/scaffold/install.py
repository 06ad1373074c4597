"""Installs a new plugin of every kind as its author would, and runs all that its CI runs.

    python tests/scaffold/install.py [KIND ...]

Needs pip, build, pytest, hypothesis and mypy in this environment; the plugins stay there.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from localdb_core.host.kinds import PLUGIN_KINDS

PYTHON = sys.executable


def run(*command: str, folder: Path) -> None:
    """One command; whatever it prints is seen, and its failure ends this."""
    print("$", *command, flush=True)
    subprocess.run(command, cwd=folder, check=True)


def main(kinds: list[str]) -> None:
    """Make, build, install, test, type-check and check each."""
    localdb = [PYTHON, "-m", "localdb_core.cli.main"]
    with tempfile.TemporaryDirectory() as name:
        for kind in kinds:
            plugin = f"made-{kind}"
            run(*localdb, "plugin", "new", plugin, "--kind", kind, folder=Path(name))
            folder = Path(name, f"localdb-{plugin}")
            run(PYTHON, "-m", "build", "--wheel", folder=folder)
            (wheel,) = (folder / "dist").glob("*.whl")
            # its requirements are here already; localdb-core is on no index
            run(PYTHON, "-m", "pip", "install", "--no-deps", str(wheel), folder=folder)
            run(PYTHON, "-m", "pytest", "-q", folder=folder)
            run(PYTHON, "-m", "mypy", folder=folder)
            run(*localdb, "plugin", "check", plugin, "--deep", folder=folder)


if __name__ == "__main__":
    main(sys.argv[1:] or list(PLUGIN_KINDS))
