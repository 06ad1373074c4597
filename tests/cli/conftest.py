"""Runs the program in a home of its own: as a process, or quicker within this one."""

import io
import json
import logging
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from localdb_core.cli.main import main
from localdb_core.cli.state import State

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
        return json.loads(self.err.splitlines()[-1])


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


@dataclass
class Inside(State):
    """A state that leaves the descriptors of the test run alone."""

    typed: str | None = None

    def guard(self):
        """The streams are in memory already."""

    @property
    def interactive(self):
        return self.typed is not None and not self.json


class Terminal(io.StringIO):
    """A stream in memory that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


@dataclass
class Here:
    """localdb within the test's process, in an empty home."""

    home: Path
    terminal: bool = False
    host: object = None
    states: list = field(default_factory=list)

    def __call__(self, *arguments, typed=None) -> Ran:
        stream = Terminal if self.terminal else io.StringIO
        out, err = stream(), stream()
        state = Inside(out=out, err=err, typed=typed)
        state._host = self.host
        sys.stdin = io.StringIO(typed or "")
        with redirect_stdout(out), redirect_stderr(err):
            status = main(list(map(str, arguments)), state)
        self.states.append(state)
        return Ran(status, out.getvalue(), err.getvalue())

    @staticmethod
    def state():
        """A state that no command has touched."""
        return Inside(out=io.StringIO(), err=io.StringIO())

    def start(self, *arguments, **settings):
        """The same as a process, for tests about processes."""
        return Program(self.home).start(*arguments, **settings)

    @property
    def data(self):
        return self.home / ".local/share/localdb"

    @property
    def config(self):
        return self.home / ".config/localdb/config.yaml"


@pytest.fixture
def kept_logging():
    """The log goes back to where it was afterwards."""
    loggers = [logging.getLogger(name) for name in (None, "localdb", "localdb_core")]
    before = [(log, log.handlers[:], log.level, log.propagate) for log in loggers]
    yield
    for log, handlers, level, propagate in before:
        log.handlers[:], log.level, log.propagate = handlers, level, propagate
        log.setLevel(level)


@pytest.fixture
def here(tmp_path, monkeypatch, kept_logging):
    """The program in this process."""
    for name in [name for name in os.environ if name.startswith(("XDG_", "LOCALDB_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    typed = sys.stdin
    yield Here(tmp_path)
    sys.stdin = typed
