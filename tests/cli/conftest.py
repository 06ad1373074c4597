"""Runs the real program in a home of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "localdb_core.cli.main"]


@dataclass(frozen=True)
class Ran:
    """How one run ended."""

    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def error(self):
        return json.loads(self.err)


class Program:
    """localdb in an empty home; ``home`` is also the working directory."""

    def __init__(self, home: Path) -> None:
        self.home = home
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "LOCALDB_"))}
        self.environ = {**kept, "HOME": str(home), "PYTHONWARNINGS": ""}

    def start(self, *arguments, **settings):
        return subprocess.Popen(
            [*PROGRAM, *map(str, arguments)],
            cwd=self.home,
            env=self.environ,
            text=True,
            **settings,
        )

    def __call__(self, *arguments, stdin="", env=None) -> Ran:
        done = subprocess.run(
            [*PROGRAM, *map(str, arguments)],
            cwd=self.home,
            env={**self.environ, **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def localdb(tmp_path):
    return Program(tmp_path)
