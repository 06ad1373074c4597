"""What every plugin owes the host, as tests to inherit.

class TestPlugin(PluginContract):
    plugin = "rtf"

The plugin must be installed (editable is fine). Importing a plugin for the first
time happens in a process of its own, so that what the test run has already
imported does not hide a fault.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from localdb_core.host.discovery import Candidate, discover
from localdb_core.host.firstparty import normalised
from localdb_core.host.host import Host
from localdb_core.host.selection import PluginSelection
from localdb_core.host.status import PluginStatus
from localdb_core.plugin import PluginInfo
from localdb_core.storage.plugindb import plugin_schema
from localdb_core.testing.migrations import there_and_back

_FIRST_TIME = """
import json, os, sys, time
import localdb_core.plugin
module, plugin, *targets = sys.argv[1:]
before, began = set(sys.modules), time.thread_time()
__import__(module)
found = {"ms": (time.thread_time() - began) * 1000, "added": sorted(set(sys.modules) - before)}

from localdb_core.domain.errors import PluginError
from localdb_core.host.host import Host
from localdb_core.host.lazy import attribute
from localdb_core.host.selection import PluginSelection
Host.load(PluginSelection(only=frozenset({plugin})), builtins=False)
print(end=chr(30), flush=True)

found["missing"] = []
for target in targets:
    try:
        attribute(target, plugin=plugin)
    except PluginError as error:
        found["missing"].append(f"{target}: {error.reason}")
print("\\n" + json.dumps(found), flush=True)
os._exit(0)
"""
"""Imports the light module, loads it as the host does, then imports what it names.

What loading printed ends with the record separator; the last line is what was found.
"""


@dataclass(frozen=True, slots=True)
class _FirstTime:
    """What a process saw that had imported nothing of the plugin before.

    Attributes:
        ms: CPU time of importing the light module.
        added: modules that came with it.
        printed: what loading wrote to standard output.
        missing: targets that cannot be imported, and why.
    """

    ms: float
    added: tuple[str, ...]
    printed: str
    missing: tuple[str, ...]


class PluginContract:
    """Inherit it and name the plugin by its entry point.

    Attributes:
        plugin: the entry point's name.
        settings: a config section that is enough, when an empty one is not.
    """

    plugin: ClassVar[str] = ""
    settings: ClassVar[dict[str, Any]] = {}  # Any: config values

    def test_the_entry_point_is_installed_and_names_a_module(self) -> None:
        """``module``, not ``module:attribute``: the host registers modules."""
        candidate = self._candidate()

        assert ":" not in candidate.module, f"{candidate.module} names more than a module"
        assert importlib.import_module(candidate.module).__name__ == candidate.module

    def test_the_plugin_loads_without_a_fault(self) -> None:
        """API, hooks and every description are what the host asks for."""
        status = self._status(self._host())

        assert status.state == "active", f"{status.stage}: {status.error}"
        assert status.provides, "no hook offers anything"

    def test_the_light_module_imports_only_core_itself_and_the_standard_library(self) -> None:
        """Everything else belongs behind a target; the CPU time is printed only."""
        candidate = self._candidate()

        first = self._first_time()

        own = candidate.module.partition(".")[0]
        allowed = {*sys.stdlib_module_names, "localdb_core", own}
        foreign = {name.partition(".")[0] for name in first.added} - allowed
        assert not foreign, f"the light module imports {', '.join(sorted(foreign))}"
        print(f"{candidate.module}: {first.ms:.1f} ms CPU")  # noqa: T201 - for the reader

    def test_loading_prints_nothing_to_standard_output(self) -> None:
        """A process of its own, descriptor 1 untouched."""
        printed = self._first_time().printed

        assert not printed, f"loading prints {printed!r}"

    def test_two_loads_in_one_process_agree(self) -> None:
        """Hooks are free of surprises: same question, same answer."""
        first, second = (list(self._host().registry.everything()) for _ in range(2))

        changed = [owned.full_id for kind, owned in first if (kind, owned) not in second]
        assert first == second, f"the second load differs: {', '.join(changed)}"

    def test_every_target_can_be_imported(self) -> None:
        """Nothing is built, but every code path that is named exists."""
        missing = self._first_time().missing

        assert not missing, "; ".join(missing)

    def test_the_settings_model_is_strict_and_can_be_documented(self) -> None:
        """Builds from an empty section or ``settings``, refuses unknown keys, has a schema."""
        from localdb_core.domain.errors import InvalidConfig
        from localdb_core.host.settings import describe_settings, plugin_settings, settings_model

        info = self._info()
        if info.config is None:
            return

        assert plugin_settings(self.plugin, info, self.settings) is not None
        assert describe_settings(self.plugin, info) is not None
        model = settings_model(self.plugin, info)
        inline = inline_secrets(model.model_json_schema()) if model is not None else []
        assert not inline, f"{', '.join(inline)}: use localdb_core.plugin.Secret (L-INV-09)"
        unknown = {**self.settings, "no_such_key": 1}
        try:
            plugin_settings(self.plugin, info, unknown)
        except InvalidConfig as error:
            assert f"plugins.config.{self.plugin}.no_such_key" in str(error)  # noqa: PT017
        else:
            raise AssertionError("the settings model accepts unknown keys; forbid them")

    def test_the_migrations_make_a_database_that_can_go_back_and_forth(self) -> None:
        """A new file, down as far as the steps allow, and up again to the same tables."""
        package = self._info().migrations
        if package is None:
            return
        schema = plugin_schema(self.plugin, package)

        with tempfile.TemporaryDirectory() as folder:
            fresh, again = there_and_back(schema, Path(folder) / "database.db")

        assert fresh == again

    def _first_time(self) -> _FirstTime:
        registry = self._host().registry
        targets = [owned.value.target for _, owned in registry.everything()]
        targets += [owned.value.arguments for owned in registry.tools]
        path = os.pathsep.join(filter(None, sys.path))
        named = filter(None, targets)  # what has no code names none
        return _watched(self._candidate().module, normalised(self.plugin), *named, path=path)

    def _candidate(self) -> Candidate:
        found = [candidate for candidate in discover() if candidate.name == self.plugin]
        assert found, f"plugin {self.plugin!r} is not installed; pip install -e it first"
        return found[0]

    def _host(self) -> Host:
        selection = PluginSelection(only=frozenset({normalised(self._candidate().name)}))
        return Host.load(selection, builtins=False)

    def _status(self, host: Host) -> PluginStatus:
        return next(status for status in host.statuses if status.name == self.plugin)

    def _info(self) -> PluginInfo:
        host = self._host()
        assert self.plugin in host.infos, self._status(host).error
        return host.infos[self.plugin]


def inline_secrets(schema: Mapping[str, Any], key: str = "") -> list[str]:  # Any: JSON values
    """The keys of a settings schema that take a secret itself, such as a ``SecretStr``."""
    if schema.get("format") == "password":
        return [key]
    parts = [(key, part) for part in schema.get("anyOf", ())]
    parts += schema.get("properties", {}).items()
    parts += schema.get("$defs", {}).items()
    return [found for name, part in parts for found in inline_secrets(part, name)]


@cache  # a process takes a second, and three tests ask the same
def _watched(*arguments: str, path: str) -> _FirstTime:
    """Run the program above in a fresh interpreter with this one's path."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", _FIRST_TIME, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    printed, separator, rest = done.stdout.partition("\x1e")
    if done.returncode or not separator:
        raise AssertionError(done.stderr or "the process ended while the plugin was loaded")
    found = json.loads(rest.rstrip("\n").rpartition("\n")[2])
    return _FirstTime(found["ms"], tuple(found["added"]), printed, tuple(found["missing"]))
