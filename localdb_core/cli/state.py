"""What the commands of one invocation share: options, streams, the application."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TextIO

import click

from localdb_core.domain.errors import DaemonUnreachable, LocaldbError

if TYPE_CHECKING:
    from localdb_core.app import LocalDB
    from localdb_core.config.model import Config, Plugins
    from localdb_core.host.conflicts import Conflict
    from localdb_core.host.host import Host
    from localdb_core.host.selection import PluginSelection
    from localdb_core.services.databases import Databases


DAEMON_VARIABLE: Final = "LOCALDB_DAEMON_URL"


def daemon_named() -> bool:
    """Whether the environment names a daemon that every command is meant for."""
    return bool(os.environ.get(DAEMON_VARIABLE))


@dataclass
class State:
    """Global options and what was opened for them.

    @click.command(cls=Command)
    @pass_state
    def status(state: State) -> None:
        render.status(state, state.app().status(...))

    Everything opened through a state is closed when the program ends. ``out`` and
    ``err`` are where output and talk go; nothing else may be written to. ``logs`` is the
    folder of log files, once an application was opened.
    """

    json: bool = False
    verbose: bool = False
    yes: bool = False
    stores: tuple[str, ...] = ()
    config_path: Path | None = None
    no_plugins: bool = False
    switches: tuple[str, ...] = ()
    strict_plugins: bool = False
    out: TextIO = field(default_factory=lambda: _stream(sys.stdout))
    err: TextIO = field(default_factory=lambda: _stream(sys.stderr))
    logs: Path | None = None
    _open: ExitStack = field(default_factory=ExitStack, repr=False)
    _host: Host | None = field(default=None, repr=False)
    _app: LocalDB | None = field(default=None, repr=False)

    def guard(self) -> None:
        """From now on only ``out`` reaches the standard output (S-7)."""
        from localdb_core.host.stdout import divert_stdout  # not for --version

        self.out = divert_stdout()

    def selection(self) -> PluginSelection:
        """Which plugins the command line, the environment and the config allow."""
        return self.selected(self.written().plugins)

    def selected(self, written: Plugins) -> PluginSelection:
        """The same, for what some config says about plugins."""
        from localdb_core.config.plugins import selection_of

        return selection_of(
            written,
            os.environ,
            switches=self.switches,
            no_plugins=self.no_plugins,
            strict=self.strict_plugins,
        )

    def written(self) -> Config:
        """The config; the default one before the first run."""
        from localdb_core.config.load import load_config
        from localdb_core.config.model import Config
        from localdb_core.config.paths import find_config, is_written

        path = find_config(self.config_path)
        return load_config(path) if is_written(path) else Config()

    def enforce(self) -> None:
        """Load the plugins and refuse broken ones, if ``--strict-plugins`` asks for it.

        Raises:
            InvalidConfig: a plugin is broken or contested.
        """
        if self.strict_plugins:
            from localdb_core.config.plugins import choices_of

            self.host().enforce(choices_of(self.written()))

    def conflicts(self) -> tuple[Conflict, ...]:
        """What plugins contest, under what the config says."""
        from localdb_core.config.plugins import choices_of

        return self.host().conflicts_for(choices_of(self.written()))

    def host(self) -> Host:
        """The host with its plugins loaded, once."""
        if self._host is None:
            from localdb_core.host.host import Host  # pluggy

            self._host = Host.load(self.selection())
        return self._host

    def app(self, *, seed: bool = False) -> LocalDB:
        """The application, opened once; ``seed`` is as in :meth:`LocalDB.open`.

        Raises:
            DaemonUnreachable: the environment names a daemon. The config is made all the
                same, and nothing else (L-CFG-24).
        """
        if self._app is None:
            from localdb_core.app import LocalDB, prepare  # every service

            if daemon_named():
                prepare(self.config_path)
                raise DaemonUnreachable(
                    f"{DAEMON_VARIABLE} is set, and this version cannot talk to a daemon; unset it"
                )
            # Plugins that were loaded for --strict-plugins are not loaded again.
            app = LocalDB.open(self.config_path, self.selection(), host=self._host, seed=seed)
            self._app = self._open.enter_context(app)
            self.logs = app.paths.logs
        return self._app

    def first_run(self) -> None:
        """Where there is no config yet, make it and what belongs to it (L-CFG-20).

        For commands that need no application; a failure is no reason for them to fail.
        """
        from localdb_core.config.paths import find_config

        if not os.path.lexists(find_config(self.config_path)):
            with contextlib.suppress(LocaldbError):
                self.app()

    def databases(self) -> Databases:
        """The database files, whatever state they are in; nothing is made or opened."""
        from localdb_core.services.databases import Databases  # sqlite3, pydantic

        return Databases.find(self.config_path, self.host)

    @property
    def interactive(self) -> bool:
        """Whether a person can be asked."""
        return not self.json and sys.stdin is not None and sys.stdin.isatty()

    def close(self) -> None:
        """Close what was opened, last first."""
        self._app = self._host = None
        self._open.close()
        self.out.flush()  # a reader that went away shows here, not at the very end

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _stream(standard: TextIO | None) -> TextIO:
    """A standard stream, or nowhere when whoever started us closed it."""
    return io.StringIO() if standard is None else standard


pass_state = click.make_pass_decorator(State)
