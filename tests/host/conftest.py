"""Installed plugins made on the spot: real modules with real package metadata."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from localdb_core.host.host import Host
from localdb_core.host.selection import PluginSelection
from localdb_core.host.status import PluginStatus

HEADER = """
from localdb_core.plugin import *
PLUGIN = PluginInfo(api="1.0", summary="made by a test", homepage="https://plugins.example")
"""

PARSER = """
@hookimpl
def localdb_parsers():
    return [ParserSpec(name="{name}", target="{module}_heavy:Thing", suffixes=(".{name}",))]
"""


class Site:
    """A folder of installed distributions, like site-packages."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self._monkeypatch = monkeypatch

    def add(
        self,
        name: str,
        body: str = "",
        *,
        header: str = HEADER,
        distribution: str | None = None,
        version: str = "1.0",
        value: str | None = None,
    ) -> str:
        """Install a plugin of one light module; returns the module's name."""
        distribution = distribution or f"test-{name}"
        module = f"{distribution}_{name}".replace("-", "_")
        self.module(module, header + dedent(body))
        self.distribution(distribution, version, f"[localdb.plugins]\n{name} = {value or module}\n")
        return module

    def healthy(self, name: str, **options: Any) -> str:
        """Install a plugin with one parser, which claims the suffix of its name."""
        module = f"{options.get('distribution') or f'test-{name}'}_{name}".replace("-", "_")
        return self.add(name, PARSER.format(name=name, module=module), **options)

    def module(self, name: str, source: str) -> None:
        """Write a module."""
        (self.path / f"{name}.py").write_text(dedent(source), encoding="utf-8")

    def distribution(self, name: str, version: str, entry_points: str) -> None:
        """Write the metadata of a distribution."""
        folder = self.path / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        folder.joinpath("METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8"
        )
        folder.joinpath("entry_points.txt").write_text(entry_points, encoding="utf-8")

    def activate(self) -> None:
        """Put the folder on this process's path; call it after the last ``add``."""
        self._monkeypatch.syspath_prepend(str(self.path))
        importlib.invalidate_caches()

    def load(self, *, only: tuple[str, ...] = (), **inputs: Any) -> Host:
        """Load what was added, and nothing else that happens to be installed."""
        self.activate()
        names = only or tuple(
            line.partition(" ")[0]
            for file in self.path.glob("*.dist-info/entry_points.txt")
            for line in file.read_text("utf-8").splitlines()[1:]
        )
        selection = PluginSelection.from_inputs(only=names, **inputs)
        return Host.load(selection, builtins=False)

    def python(
        self, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run Python in a process of its own with these distributions installed."""
        return subprocess.run(
            [sys.executable, "-P", *arguments],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(self.path), *filter(None, sys.path)]),
                **{name: "" for name in os.environ if name.startswith("XDG_")},
                "HOME": str(self.path / "home"),
                "LOCALDB_CONFIG": str(self.path / "no-config.yaml"),
                **(env or {}),
            },
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=120,
        )

    def cli(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run the real program."""
        return self.python("-m", "localdb_core.cli.main", *arguments, **options)

    def listed(self, *arguments: str, **options: Any) -> dict[str, dict[str, Any]]:
        """``plugin list --json`` by plugin name; fails unless stdout is exactly that."""
        done = self.cli("plugin", "list", "--json", *arguments, **options)
        assert done.returncode == 0, done.stderr
        return {plugin["name"]: plugin for plugin in json.loads(done.stdout)["plugins"]}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An empty folder of distributions; modules imported from it are forgotten afterwards."""
    folder = tmp_path / "site"
    folder.mkdir()
    yield Site(folder, monkeypatch)
    for name, module in list(sys.modules.items()):
        if str(folder) in (getattr(module, "__file__", None) or ""):
            del sys.modules[name]


def status_of(host: Host, name: str) -> PluginStatus:
    """The status of one plugin."""
    return next(status for status in host.statuses if status.name == name)


@pytest.fixture
def status() -> Any:
    """The function above, for tests."""
    return status_of
