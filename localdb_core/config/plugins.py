"""From the config's section about plugins to what may be loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from localdb_core.config.model import Config, Plugins
from localdb_core.host.conflicts import Choices
from localdb_core.host.selection import PluginSelection


def selection_of(
    written: Plugins,
    environ: Mapping[str, str],
    *,
    switches: Sequence[str] = (),
    no_plugins: bool = False,
    strict: bool = False,
) -> PluginSelection:
    """The config's wishes with those of the environment and the command line.

    Raises InvalidRequest as :meth:`PluginSelection.from_inputs` does.
    """
    return PluginSelection.from_inputs(
        environ=environ,
        switches=switches,
        disable=written.disable,
        only=written.only,
        pin=written.pin,
        sections=written.config,
        no_plugins=no_plugins,
        strict=strict,
    )


def choices_of(config: Config) -> Choices:
    """What the config says about components that want the same thing."""
    return Choices(
        parsers=config.defaults.indexing.parsers, auto_parsers=config.plugins.auto_parsers
    )
