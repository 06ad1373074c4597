"""Builds wheels of core and of every distribution in ``examples/``, and installs them here.

    python tests/examples/install.py FOLDER

The wheels go into FOLDER. Run it with the Python of the environment that is to have them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main(folder: Path) -> None:
    """Build each, then install all of them in one step: no index offers localdb-core."""
    sources = [ROOT, *sorted(path.parent for path in ROOT.glob("examples/*/pyproject.toml"))]
    pip = [sys.executable, "-m", "pip"]
    build = [*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    subprocess.run([*build, *map(str, sources)], check=True)
    wheels = [str(wheel) for wheel in sorted(folder.glob("*.whl"))]
    subprocess.run([*pip, "install", "--quiet", *wheels], check=True)
    for wheel in wheels:
        print("installed", Path(wheel).name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
