"""Which plugins the user wants, put together from config, environment and options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from localdb_core.domain.errors import InvalidRequest
from localdb_core.host.firstparty import CORE, CORE_DISTRIBUTION, normalised
from localdb_core.host.mentions import Meant, Mention

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
        mentions: the names as they were written, and where.
    """

    disable: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    pin: Mapping[str, str] = field(default_factory=dict)
    no_plugins: bool = False
    strict: bool = False
    mentions: tuple[Mention, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def from_inputs(
        cls,
        *,
        environ: Mapping[str, str] | None = None,
        switches: Sequence[str] = (),
        disable: Iterable[str] = (),
        only: Iterable[str] | None = None,
        pin: Mapping[str, str] | None = None,
        sections: Iterable[str] = (),
        no_plugins: bool = False,
        strict: bool = False,
    ) -> Self:
        """Join the three places a user can say it.

        ``switches`` are the values of ``-P``; ``disable``, ``only``, ``pin`` and the names
        of plugins' ``sections`` come from the config. ``LOCALDB_PLUGINS`` in ``environ``
        replaces ``only``; empty counts as unset. Raises InvalidRequest for a switch
        nobody understands and for an attempt to disable ``core``.
        """
        disable, only, pin = tuple(disable), None if only is None else tuple(only), dict(pin or {})
        switched_off = tuple(map(_switched_off, switches))
        unwanted = frozenset(map(normalised, (*disable, *switched_off)))
        if unwanted & {CORE, CORE_DISTRIBUTION}:
            raise InvalidRequest(f"the built-in plugin {CORE} cannot be disabled")
        asked = _names((environ or {}).get(VARIABLE, ""))
        wanted = asked or only
        return cls(
            disable=unwanted,
            only=None if wanted is None else frozenset(map(normalised, wanted)),
            pin={normalised(name): normalised(owner) for name, owner in pin.items()},
            no_plugins=no_plugins,
            strict=strict,
            mentions=(
                *(Mention(f"-P no:{name}", name, "left out", typed=True) for name in switched_off),
                *(Mention(VARIABLE, name, "loaded alone") for name in asked),
                *_listed("plugins.disable", disable, "left out"),
                *_listed("plugins.only", () if asked else only or (), "loaded alone"),
                *(Mention(f"plugins.pin.{name}", name, "pinned") for name in pin),
                *(
                    Mention(f"plugins.pin.{name}", owner, "pinned to")
                    for name, owner in pin.items()
                ),
                *(Mention(f"plugins.config.{name}", name, "configured") for name in sections),
            ),
        )


def _listed(key: str, names: Sequence[str], meant: Meant) -> Iterator[Mention]:
    for number, name in enumerate(names):
        yield Mention(f"{key}[{number}]", name, meant)


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _switched_off(switch: str) -> str:
    """``no:pdf`` → ``pdf``."""
    word, _, name = switch.partition(":")
    if word != "no" or not name.strip():
        raise InvalidRequest(f"-P {switch}: write -P no:NAME to leave a plugin out")
    return name.strip()
