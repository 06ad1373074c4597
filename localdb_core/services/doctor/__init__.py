"""``localdb doctor``: everything localdb needs, looked at without changing anything.

A broken config, database, folder or plugin is what this is about, so nothing here may
end because of one: every part is collected under :func:`collected`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from localdb_core.config.model import Plugins
from localdb_core.domain.health import Check
from localdb_core.host.host import Host
from localdb_core.host.selection import PluginSelection
from localdb_core.services.doctor import database, environment, plugins, setup, stores
from localdb_core.services.doctor.collect import collected

Select = Callable[[Plugins], PluginSelection]


def examine(
    config_path: Path | None, select: Select, *, load: Callable[[PluginSelection], Host] = Host.load
) -> list[Check]:
    """Every check, in the order in which one thing builds on another.

    Args:
        config_path: as given on the command line.
        select: which plugins may be loaded, given what the config says about it.
        load: loads them.
    """
    found = setup.Setup()
    checks = collected("environment", environment.checks)
    checks += collected("config", setup.config_checks, found, config_path)
    checks += collected("folders", setup.folder_checks, found)
    checks += collected("database", database.checks, found)
    hosts: list[Host] = []

    def loaded() -> Iterator[Check]:
        written = Plugins() if found.config is None else found.config.plugins
        # What is broken is listed here, and must not keep the rest from being looked at.
        hosts.append(load(replace(select(written), strict=False)))
        yield from plugins.checks(hosts[0], found)

    checks += collected("plugins", loaded)
    for host in hosts:
        checks += collected("plugin settings", plugins.settings_checks, host, found)
        checks += collected("defaults", plugins.default_checks, host, found)
        checks += collected("checks of plugins", plugins.own_checks, host, found)
        checks += collected("stores", stores.checks, host, found)
    return checks
