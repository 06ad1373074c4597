"""Index the bookshelf and ask it three questions, with the real command.

    python examples/bookshelf/demo.py

Everything goes to a temporary folder, which is removed at the end.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Final

SHELF: Final = Path(__file__).parent
QUESTIONS: Final = (
    "How do I renew the lease of the reading room?",
    "How long do tomato seeds keep?",
    "What if I break a tool that I borrowed?",
)
CONFIG: Final = "version: 1\npaths: {data: data, models: models, logs: logs}\n"


def main() -> int:
    """Run the demo; the exit status of the first command that fails, else 0."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="localdb-demo-") as folder:
        config = Path(folder) / "config.yaml"
        config.write_text(CONFIG)
        status = localdb(config, "store", "add", "bookshelf")
        indexing = indexed = time.monotonic()
        status = status or localdb(config, "add", "documents", "--store", "bookshelf")
        indexed = time.monotonic()
        for question in QUESTIONS:
            status = status or localdb(config, "search", "--limit", "2", question)
    ended = time.monotonic()
    if status:
        return status
    print(
        f"\nThat took {ended - started:.1f} s: {indexed - indexing:.1f} s to index"
        f" {sum(1 for _ in (SHELF / 'documents').iterdir())} documents,"
        f" {(ended - indexed) / len(QUESTIONS):.1f} s for each question,"
        " the start of the program included."
    )
    return 0


def localdb(config: Path, *arguments: str) -> int:
    """Show a command as a person would type it, and run it; its exit status."""
    print("\n$", shlex.join(["localdb", *arguments]), flush=True)
    beside = sysconfig.get_path("scripts")
    program = shutil.which("localdb", path=beside) or shutil.which("localdb")
    if program is None:
        print("localdb is not installed here; try: tox run -e demo", file=sys.stderr)
        return 1
    command = [program, "--config", str(config), *arguments]
    return subprocess.run(command, cwd=SHELF, stderr=subprocess.STDOUT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
