"""Who offers what to agents: surfaces, and tools under their names on the wire."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeVar

from localdb_core.host.firstparty import CORE_DISTRIBUTION, is_first_party
from localdb_core.host.owned import Owned
from localdb_core.plugin import CORE_SURFACE, ResourceSpec, Spec, SurfaceSpec, ToolSpec

T = TypeVar("T", bound=Spec)


def intrudes(owned: Owned[ToolSpec]) -> bool:
    """Whether a plugin's tool wants to be on the contract's surface, which is closed."""
    return owned.value.surface == CORE_SURFACE and owned.distribution != CORE_DISTRIBUTION


def surfaces_by_name(
    described: Iterable[Owned[SurfaceSpec]],
) -> dict[str, list[Owned[SurfaceSpec]]]:
    """Every description of each surface; the first one counts."""
    return _ranked((owned.value.name, owned) for owned in described)


def tools_by_name(
    tools: Iterable[Owned[ToolSpec]], *, prefixed: bool
) -> dict[str, list[Owned[ToolSpec]]]:
    """Who claims each name on the wire; the first one has it, even if it cannot be offered.

    With ``prefixed``, as when several surfaces are served, the surface stands in front
    of every name but core's. What intrudes is left out.
    """
    return _ranked((wire_name(t.value, prefixed=prefixed), t) for t in tools if not intrudes(t))


def resources_by_uri(
    resources: Iterable[Owned[ResourceSpec]],
) -> dict[str, list[Owned[ResourceSpec]]]:
    """Who claims each URI template; the first one has it."""
    return _ranked((owned.value.uri_template, owned) for owned in resources)


def wire_name(spec: ToolSpec, *, prefixed: bool) -> str:
    """What an agent calls it."""
    return f"{spec.surface}_{spec.name}" if prefixed and spec.surface != CORE_SURFACE else spec.name


def _ranked(claims: Iterable[tuple[str, Owned[T]]]) -> dict[str, list[Owned[T]]]:
    found: dict[str, list[Owned[T]]] = defaultdict(list)
    for key, owned in claims:
        found[key].append(owned)
    return {key: in_order(holders) for key, holders in found.items()}


def in_order(holders: Sequence[Owned[T]]) -> list[Owned[T]]:
    """By precedence: core, our own plugins, then as they come, which is by plugin name."""
    return sorted(holders, key=_precedence)


def _precedence(owned: Owned[Spec]) -> int:
    if owned.distribution == CORE_DISTRIBUTION:
        return 0
    return 1 if is_first_party(owned.distribution) else 2
