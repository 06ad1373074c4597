"""What a plugin says about itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """The ``PLUGIN`` constant of a plugin's light module.

    Args:
        api: lowest plugin API it needs, ``"1.0"``.
        summary: one line, shown by ``localdb plugin list``.
        config: ``"module:Model"``, a pydantic model that forbids unknown keys; its
            section stands in the config under ``plugins.config.<plugin name>``.
        migrations: a package whose modules ``m0001_name``, ``m0002_name`` … each hold
            ``STEP``, a :class:`~localdb_core.plugin.Migration`; together they are the
            tables of the plugin's own database, :meth:`PluginContext.database`.
        homepage: where to report a fault; printed with failures.

    The plugin's name is the entry point's name and its version is the
    distribution's; neither is repeated here.
    """

    api: str
    summary: str = ""
    config: str | None = None
    migrations: str | None = None
    homepage: str | None = None
