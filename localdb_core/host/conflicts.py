"""Where two components want the same thing, who got it, and how to change that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Literal

from localdb_core.host.firstparty import CORE, DEFAULT_PARSERS, is_first_party
from localdb_core.host.gate import Verdict
from localdb_core.host.kinds import Kind
from localdb_core.host.owned import Owned
from localdb_core.host.registry import Registry
from localdb_core.host.resolve import Chain, parser_chain, preferred
from localdb_core.host.surfaces import (
    in_order,
    intrudes,
    resources_by_uri,
    surfaces_by_name,
    tools_by_name,
)
from localdb_core.plugin import CORE_SURFACE, ParserSpec, Spec, ToolSpec


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two components want the same thing; who got it, and how to change that.

    Attributes:
        key: what both want: ``.pdf``, ``fast``, a plugin's name.
        winner: full id (or a distribution, for plugin names); None when nobody may have it.
        remedy: one config line, or what to do, that changes the outcome.
    """

    kind: Kind | Literal["plugin-name"]
    key: str
    winner: str | None
    losers: tuple[str, ...]
    rule: str
    remedy: str

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "kind": self.kind,
            "key": self.key,
            "winner": self.winner,
            "losers": list(self.losers),
            "rule": self.rule,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True)
class Choices:
    """What the config says that decides who gets what; the defaults are a new config's.

    Attributes:
        parsers: ``defaults.indexing.parsers``.
        auto_parsers: ``plugins.auto_parsers``.
    """

    parsers: Sequence[str] = DEFAULT_PARSERS
    auto_parsers: bool = True


def find_conflicts(
    registry: Registry,
    verdicts: Sequence[Verdict] = (),
    choices: Choices = Choices(),  # noqa: B008 - frozen
) -> tuple[Conflict, ...]:
    """Every conflict under these choices."""
    return (
        *_over_plugin_names(verdicts),
        *_over_formats(registry, choices),
        *_over_names(registry),
        *_over_source_kinds(registry),
        *_over_surfaces(registry),
        *_over_tools(registry),
    )


def shadowed_parsers(registry: Registry, conflicts: Sequence[Conflict]) -> frozenset[str]:
    """Full ids of parsers that lose every exact claim they make."""
    lost = {(c.key, loser) for c in conflicts if c.kind == "parser" for loser in c.losers}
    return frozenset(
        owned.full_id
        for owned in registry.parsers
        if (exact := set(_exact_claims(owned.value)))
        and all((claim, owned.full_id) in lost for claim in exact)
    )


def _over_plugin_names(verdicts: Sequence[Verdict]) -> Iterator[Conflict]:
    contested = sorted(
        (v for v in verdicts if v.state != "disabled"), key=lambda v: v.candidate.name
    )
    for name, group in groupby(contested, key=lambda v: v.candidate.name):
        rivals = list(group)
        losers = tuple(v.candidate.distribution for v in rivals if v.state == "ambiguous")
        if losers:
            winner = next((v.candidate.distribution for v in rivals if v.state == "admitted"), None)
            rule = rivals[0].reason or rivals[-1].reason
            remedy = f"plugins.pin: {{{name}: {losers[0]}}}"
            yield Conflict("plugin-name", name, winner, losers, rule, remedy)


def _over_formats(registry: Registry, choices: Choices) -> Iterator[Conflict]:
    """Claims of one file name, byte prefix or suffix by several parsers."""
    chain = parser_chain(registry, choices.parsers, user_wrote=False, auto=choices.auto_parsers)
    listed = {owned.full_id for owned in chain.configured}
    holders: dict[str, list[Owned[ParserSpec]]] = defaultdict(list)
    for owned in chain.parsers:
        for claim in dict.fromkeys(_exact_claims(owned.value)):
            holders[claim].append(owned)
    for claim, (first, *others) in sorted(holders.items()):
        # among parsers that are listed the user has decided; only the others are news
        losers = [owned.full_id for owned in others if owned.full_id not in listed]
        if losers:
            yield Conflict(
                "parser",
                claim,
                first.full_id,
                tuple(losers),
                "listed first in defaults.indexing.parsers"
                if first.full_id in listed
                else "first by full id among the parsers that are not listed",
                _listing_first(losers[0], chain, first),
            )


def _listing_first(loser: str, chain: Chain, winner: Owned[ParserSpec]) -> str:
    """The list of parsers with the loser before the winner; after it settles this as well."""
    names = [owned.value.name for owned in chain.configured]
    place = chain.configured.index(winner) if winner in chain.configured else len(names)
    names.insert(place, loser)
    return f"defaults.indexing.parsers: [{', '.join(names)}]"


def _exact_claims(spec: ParserSpec) -> Iterator[str]:
    yield from spec.filenames
    yield from spec.suffixes
    yield from (f"magic {magic!r}" for magic in spec.magic)


_BY_NAME: Final[dict[Kind, str]] = {
    "embedder": "defaults.indexing.embedding.provider: {}",
    "index": "index.{leg}: {}",
    "ranker": "search.ranker: {}",
    "chunker": "plugins.chunkers: [{}]",
}


def _over_names(registry: Registry) -> Iterator[Conflict]:
    """Short names held by several plugins; a full id is always free."""
    for kind, setting in _BY_NAME.items():
        by_name: dict[str, list[Owned[Spec]]] = defaultdict(list)
        for owned in registry.of(kind):
            by_name[owned.value.name].append(owned)
        for name, holders in sorted(by_name.items()):
            if len(holders) > 1:
                yield _contest(kind, name, holders, setting)


def _over_source_kinds(registry: Registry) -> Iterator[Conflict]:
    """A row names the kind of its source only, so one plugin has to list it."""
    by_kind: dict[str, list[Owned[Spec]]] = defaultdict(list)
    for owned in registry.sources:
        by_kind[owned.value.kind].append(owned)
    for kind, holders in sorted(by_kind.items()):
        if len(holders) > 1:
            yield _contest("source", kind, holders)


def _over_surfaces(registry: Registry) -> Iterator[Conflict]:
    """Two plugins that describe one surface or answer for one URI."""
    for name, surfaces in sorted(surfaces_by_name(registry.surfaces).items()):
        if len(surfaces) > 1:
            yield _ranked("surface", name, surfaces)
    for uri, resources in sorted(resources_by_uri(registry.resources).items()):
        if len(resources) > 1:
            yield _ranked("resource", uri, resources)


def _over_tools(registry: Registry) -> Iterator[Conflict]:
    """A model must never see two tools of one name, or a sixth on the contract's surface."""
    by_name: dict[str, list[Owned[ToolSpec]]] = defaultdict(list)
    for owned in registry.tools:
        if not intrudes(owned):
            by_name[f"{owned.value.surface}/{owned.value.name}"].append(owned)
            continue
        yield Conflict(
            "tool",
            f"{CORE_SURFACE}/{owned.value.name}",
            next((o.full_id for o in registry.holders("tool", f"{CORE}/{owned.value.name}")), None),
            (owned.full_id,),
            "the surface core is the contract's five tools, and closed",
            f"plugins.disable: [{owned.plugin}]",
        )
    for name, holders in sorted(by_name.items()):
        if len(holders) > 1:
            yield _ranked("tool", name, in_order(holders))
    for name, holders in sorted(tools_by_name(registry.tools, prefixed=True).items()):
        if len({(owned.value.surface, owned.value.name) for owned in holders}) > 1:
            yield _ranked("tool", f"{name} (several surfaces)", holders)


def _ranked(kind: Kind, key: str, holders: Sequence[Owned[Spec]]) -> Conflict:
    """The first of the holders has it."""
    winner, *losers = holders
    is_core = winner.plugin == CORE
    first_party = is_first_party(winner.distribution)
    return Conflict(
        kind,
        key,
        winner.full_id,
        tuple(owned.full_id for owned in losers),
        "localdb's own comes first" if first_party else "the first by the plugin's name",
        f"plugins.disable: [{losers[0].plugin if is_core else winner.plugin}]",
    )


def _contest(
    kind: Kind, key: str, holders: Sequence[Owned[Spec]], setting: str | None = None
) -> Conflict:
    winner = preferred(holders)
    losers = [owned for owned in holders if owned is not winner]
    leg = getattr(losers[0].value, "leg", "")
    remedy = setting and setting.format(losers[0].full_id, leg=leg)
    return Conflict(
        kind,
        key,
        None if winner is None else winner.full_id,
        tuple(owned.full_id for owned in losers),
        "the only one from localdb itself" if winner else "nobody has precedence",
        remedy or f"plugins.disable: [{losers[-1].plugin}]",
    )
