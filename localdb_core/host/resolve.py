"""From names in the config to components, and from a file to the parsers worth trying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, overload

from localdb_core.domain.errors import InvalidConfig
from localdb_core.host.firstparty import install_line, is_first_party, provider_of
from localdb_core.host.kinds import Kind
from localdb_core.host.owned import Owned
from localdb_core.host.registry import Registry
from localdb_core.host.status import PluginStatus
from localdb_core.plugin import (
    Accepts,
    ChunkerSpec,
    EmbedderSpec,
    IndexSpec,
    ParserSpec,
    Probe,
    RankerSpec,
    SourceSpec,
    Spec,
    ToolSpec,
)

S = TypeVar("S", bound=Spec)


@overload
def resolve_name(registry: Registry, kind: Literal["parser"], name: str) -> Owned[ParserSpec]: ...
@overload
def resolve_name(
    registry: Registry, kind: Literal["embedder"], name: str
) -> Owned[EmbedderSpec]: ...
@overload
def resolve_name(registry: Registry, kind: Literal["index"], name: str) -> Owned[IndexSpec]: ...
@overload
def resolve_name(registry: Registry, kind: Literal["ranker"], name: str) -> Owned[RankerSpec]: ...
@overload
def resolve_name(registry: Registry, kind: Literal["tool"], name: str) -> Owned[ToolSpec]: ...
@overload
def resolve_name(registry: Registry, kind: Literal["source"], name: str) -> Owned[SourceSpec]: ...
@overload
def resolve_name(registry: Registry, kind: Literal["chunker"], name: str) -> Owned[ChunkerSpec]: ...
def resolve_name(
    registry: Registry, kind: Kind, name: str
) -> Owned[Any]:  # Any: the overloads say which
    """The component a short name or full id means.

    A short name held by several is ours when exactly one of ours holds it.
    Raises InvalidConfig otherwise: it lists full ids to choose from, quotes the
    failure of the plugin that should have had it, or says what to install.
    Nothing falls back to another component.
    """
    holders = registry.holders(kind, name)
    chosen = preferred(holders)
    if chosen is not None:
        return chosen
    if holders:
        ids = ", ".join(owned.full_id for owned in holders)
        raise InvalidConfig(f"{kind} {name!r} is ambiguous; write one of {ids}")
    raise InvalidConfig(_why_missing(registry, kind, name))


def source_of_kind(registry: Registry, kind: str) -> Owned[SourceSpec]:
    """The source that lists rows of a kind; ours when several do and one of them is ours.

    Raises InvalidConfig when nobody does, or several strangers.
    """
    holders = [owned for owned in registry.sources if owned.value.kind == kind]
    chosen = preferred(holders)
    if chosen is not None:
        return chosen
    if holders:
        ids = " and ".join(owned.full_id for owned in holders)
        raise InvalidConfig(
            f"{ids} both read {kind} sources; keep one: plugins.disable: [{holders[-1].plugin}]"
        )
    raise InvalidConfig(f"no installed plugin reads {kind} sources")


def preferred(holders: Sequence[Owned[S]]) -> Owned[S] | None:
    """Who may have a name that all of these hold: the only one, else the only one of ours."""
    if len(holders) == 1:
        return holders[0]
    ours = [owned for owned in holders if is_first_party(owned.distribution)]
    return ours[0] if len(ours) == 1 else None


def _why_missing(registry: Registry, kind: Kind, name: str) -> str:
    stopped = _stopped(registry, kind, name)
    if stopped is not None:
        where = f"{stopped.stage}: " if stopped.broken else ""
        return (
            f"{kind} {name!r} is not available: plugin {stopped.name} is {stopped.state}"
            f" ({where}{stopped.error})"
        )
    known = ", ".join(sorted({owned.value.name for owned in registry.of(kind)})) or "none"
    message = f"no {kind} is named {name!r}; known: {known}"
    offer = provider_of(kind, name)
    return message if offer is None else f"{message}; to get it: {install_line(offer)}"


def _stopped(registry: Registry, kind: Kind, name: str) -> PluginStatus | None:
    """The plugin that was expected to provide this and did not get that far."""
    plugin, _, short = name.rpartition("/")
    offer = provider_of(kind, name)
    expected = {plugin or short} | ({offer.plugin} if offer else set())
    for status in registry.plugins:
        if status.error is not None and status.name in expected:
            return status
    return None


@dataclass(frozen=True, slots=True)
class Chain:
    """Parsers in the order they are tried.

    Attributes:
        configured: those the config lists, in its order; only these enter the policy hash.
        automatic: the other installed ones, by full id.
        notices: what was skipped and why, one line each.
    """

    configured: tuple[Owned[ParserSpec], ...] = ()
    automatic: tuple[Owned[ParserSpec], ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def parsers(self) -> tuple[Owned[ParserSpec], ...]:
        """All of them, the configured ones first."""
        return self.configured + self.automatic

    @property
    def accepts(self) -> Accepts:
        """Suffixes and file names that somebody in the chain claims (L-ING-12)."""
        return Accepts(
            suffixes=frozenset(s for owned in self.parsers for s in owned.value.suffixes),
            filenames=frozenset(f for owned in self.parsers for f in owned.value.filenames),
        )


def parser_chain(
    registry: Registry, configured: Sequence[str], *, user_wrote: bool, auto: bool
) -> Chain:
    """The chain for a list of parser names.

    A name that cannot be had is an error when the user wrote the list, and a
    notice when it comes from the built-in default. ``auto`` adds the installed
    parsers that are not listed (``plugins.auto_parsers``).
    """
    listed: dict[str, Owned[ParserSpec]] = {}
    notices: list[str] = []
    for name in configured:
        try:
            owned = resolve_name(registry, "parser", name)
        except InvalidConfig as error:
            if user_wrote:
                raise
            notices.append(f"default parser skipped: {error.bare}")
        else:
            listed.setdefault(owned.full_id, owned)
    rest = (owned for owned in registry.parsers if owned.full_id not in listed)
    return Chain(tuple(listed.values()), tuple(rest) if auto else (), tuple(notices))


def claims(chain: Chain, probe: Probe) -> Iterator[Owned[ParserSpec]]:
    """Yield the parsers worth trying on this probe, best claim first.

    Nothing is imported here: the claims in the specs decide. The configured ones
    come in their order, then the others by how specific their claim is, then by
    full id. An empty answer means that nobody claims the file, which is no error.
    """
    yield from (owned for owned in chain.configured if rank(owned.value, probe) is not None)
    ranked = ((rank(owned.value, probe), owned.full_id, owned) for owned in chain.automatic)
    fitting = ((place, full_id, owned) for place, full_id, owned in ranked if place is not None)
    yield from (owned for *_, owned in sorted(fitting, key=lambda entry: entry[:2]))


def rank(spec: ParserSpec, probe: Probe) -> int | None:
    """How specific a parser's best matching claim is, 0 the most; None for no match."""
    media_type = (probe.media_type or "").partition(";")[0].strip().lower()
    by_specificity = (
        probe.name in spec.filenames,
        bool(spec.magic) and probe.starts_with(*spec.magic),
        probe.suffix in spec.suffixes,
        media_type in spec.media_types,
        any(_covers(pattern, media_type) for pattern in spec.media_types),
    )
    return next((place for place, claimed in enumerate(by_specificity) if claimed), None)


def _covers(pattern: str, media_type: str) -> bool:
    """``text/*`` covers ``text/x-log``; ``*/*`` and ``*`` cover everything."""
    if pattern in ("*", "*/*"):
        return True
    return pattern.endswith("/*") and media_type.startswith(pattern[:-1])
