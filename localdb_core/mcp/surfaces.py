"""Which surfaces a server offers, by what rules, and with which start flags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from localdb_core.domain import InvalidRequest
from localdb_core.host.checks import ALL_SURFACES as ALL
from localdb_core.host.registry import Registry
from localdb_core.host.surfaces import surfaces_by_name
from localdb_core.mcp.policy import SurfacePolicy, policy_of
from localdb_core.plugin import ALLOW_WRITE, CORE_SURFACE, SurfaceSpec

CORE: Final = CORE_SURFACE


@dataclass(frozen=True, slots=True)
class Choice:
    """The surfaces of one server.

    choice = Choice.of(["notes"], registry, flags=["allow-write"])

    Attributes:
        names: the chosen surfaces, sorted.
        prefixed: several are served, so tools carry their surface in front.
        described: the description of each chosen surface that has one.
        flags: the start flags that were given.
    """

    names: tuple[str, ...] = (CORE,)
    prefixed: bool = False
    described: Mapping[str, SurfaceSpec] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()

    @classmethod
    def of(cls, surfaces: Sequence[str], registry: Registry, *, flags: Iterable[str] = ()) -> Self:
        """The choice; no name at all is the core surface.

        Raises:
            InvalidRequest: nobody offers one of the surfaces, or none of them has a flag.
        """
        described = {
            name: holders[0].value for name, holders in surfaces_by_name(registry.surfaces).items()
        }
        offered = {CORE, *described, *(tool.value.surface for tool in registry.tools)}
        known = sorted(offered | {owned.value.surface for owned in registry.resources})
        wanted = surfaces or (CORE,)
        unknown = [name for name in wanted if name not in (*known, ALL)]
        if unknown:
            raise InvalidRequest(
                f"no surface named '{unknown[0]}'; there are: {', '.join((*known, ALL))}"
            )
        names = tuple(known) if ALL in wanted else tuple(sorted(set(wanted)))
        choice = cls(
            names,
            ALL in wanted or len(names) > 1,
            {name: described[name] for name in names if name in described},
            frozenset(flags),
        )
        choice._check_flags()
        return choice

    def policy(self, surface: str) -> SurfacePolicy:
        """The rules of one of the surfaces."""
        return policy_of(surface, self.described.get(surface))

    def allows(self, flag: str | None) -> bool:
        """Whether what needs this start flag is offered."""
        return flag is None or flag in self.flags

    @property
    def protocols(self) -> tuple[str, ...]:
        """The versions that are answered; empty is all. Only a surface alone limits them."""
        if self.prefixed:
            return ()
        return tuple(p for spec in self.described.values() for p in spec.protocols)

    @property
    def instructions(self) -> list[str]:
        """What the surfaces' descriptions tell a model."""
        return [spec.instructions for spec in self.described.values() if spec.instructions]

    def _check_flags(self) -> None:
        usable = {ALLOW_WRITE: None} | {
            flag.name: None for spec in self.described.values() for flag in spec.flags
        }
        for flag in sorted(self.flags):
            if flag not in usable:
                there = ", ".join(f"--{name}" for name in usable)
                raise InvalidRequest(
                    f"no such option: --{flag}; flags of {', '.join(self.names)}: {there}"
                )
