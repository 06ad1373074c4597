"""Which plugins the user wants, put together from config, environment and options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from localdb_core.domain.errors import InvalidRequest
from localdb_core.host.firstparty import CORE, CORE_DISTRIBUTION, normalised

VARIABLE: Final = "LOCALDB_PLUGINS"


@dataclass(frozen=True, slots=True)
class PluginSelection:
    """What may be loaded. Names are a plugin's or its distribution's.

    Attributes:
        disable: never loaded.
        only: nothing but these (and the built-in ``core``); None is no restriction.
        pin: plugin name → the distribution that may use it.
        no_plugins: nothing but ``core``.
        strict: a failed or degraded plugin or a conflict is an error
            (:meth:`localdb_core.host.host.Host.enforce`).
    """

    disable: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    pin: Mapping[str, str] = field(default_factory=dict)
    no_plugins: bool = False
    strict: bool = False

    @classmethod
    def from_inputs(
        cls,
        *,
        environ: Mapping[str, str] | None = None,
        switches: Sequence[str] = (),
        disable: Iterable[str] = (),
        only: Iterable[str] | None = None,
        pin: Mapping[str, str] | None = None,
        no_plugins: bool = False,
        strict: bool = False,
    ) -> Self:
        """Join the three places a user can say it.

        ``switches`` are the values of ``-P``; ``disable``, ``only`` and ``pin`` come
        from the config. ``LOCALDB_PLUGINS`` in ``environ`` replaces ``only``; empty
        counts as unset. Raises InvalidRequest for a switch nobody understands and
        for an attempt to disable ``core``.
        """
        unwanted = frozenset(map(normalised, [*disable, *map(_switched_off, switches)]))
        if unwanted & {CORE, CORE_DISTRIBUTION}:
            raise InvalidRequest(f"the built-in plugin {CORE} cannot be disabled")
        wanted = _names((environ or {}).get(VARIABLE, "")) or only
        return cls(
            disable=unwanted,
            only=None if wanted is None else frozenset(map(normalised, wanted)),
            pin={normalised(name): normalised(owner) for name, owner in (pin or {}).items()},
            no_plugins=no_plugins,
            strict=strict,
        )


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _switched_off(switch: str) -> str:
    """``no:pdf`` → ``pdf``."""
    word, _, name = switch.partition(":")
    if word != "no" or not name.strip():
        raise InvalidRequest(f"-P {switch}: write -P no:NAME to leave a plugin out")
    return name.strip()
