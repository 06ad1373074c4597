"""What a change makes necessary again, decided before anything is read (S-3, S-4).

:data:`RULES` is the whole rule. The plan of ``index --plan`` and the run ask the same table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Flag, auto
from typing import Final

from localdb_core.domain.reports import PlanAction
from localdb_core.domain.store import Source
from localdb_core.host.resolve import Chain, claims
from localdb_core.pipeline.parse import probe_of
from localdb_core.pipeline.presets import preset_for
from localdb_core.pipeline.recipe import Cutting, Recipe, label, read_recipe
from localdb_core.plugin import Item, Listing, Probe
from localdb_core.storage.resources import Known, Stamp


class Redo(Flag):
    """How much of a document's way is gone again.

    STAMP writes its row only. CUT chunks the stored blocks; what is embedded already keeps
    its vector. READ reads the bytes, and parses only if they differ. PARSE parses in any
    case. After parsing, only what differs from the last version is written.
    """

    NOTHING = 0
    STAMP = auto()
    CUT = auto()
    READ = auto()
    PARSE = auto()


@dataclass(frozen=True)
class Current:
    """What documents are held against: the policy, the parsers and the chunkers in force.

    Attributes:
        versions: version of every installed parser by full id.
        digest: of the chain (:func:`~localdb_core.pipeline.recipe.chain_digest`).
        measure: fingerprint of the store's embedder; None without one, or before the
            first vector: then the measure says nothing.
        embeds: whether there is an embedder now.
    """

    policy_version: str
    chain: Chain
    digest: str
    versions: Mapping[str, str]
    cutting: Cutting
    measure: str | None = None
    embeds: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One item of a source beside the last version of its document."""

    item: Item
    source: Source
    known: Known
    recipe: Recipe
    now: Current


Why = Callable[[Case], str | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """If ``why`` finds a reason, so much is done again."""

    why: Why
    redo: Redo


def _parser_gone(case: Case) -> str | None:
    parser = case.known.parser
    if parser in case.now.versions or not _claimants(case):
        return None  # without anybody else to read it, the document stays as it is
    return f"its parser {parser} is not installed"


def _parser_version(case: Case) -> str | None:
    version = case.now.versions.get(case.known.parser or "")
    if version is None or version == case.known.parser_version:
        return None
    return f"parser {case.known.parser} has a new version"


def _parser_first(case: Case) -> str | None:
    if case.recipe.chain == case.now.digest:
        return None
    for claimant in _claimants(case):
        if claimant.partition(" ")[0] == case.known.parser:
            return None
        if claimant not in case.recipe.declined:
            return f"parser {claimant.partition(' ')[0]} comes first now"
    return None


def _file(case: Case) -> str | None:
    item, known = case.item, case.known
    same = item.size is not None and (item.size, item.mtime_ns) == (known.size, known.mtime_ns)
    return None if same else "the file changed"


def _cut(case: Case) -> str | None:
    preset = preset_for(case.source.preset, case.item.mime, case.item.name)
    why = case.now.cutting.difference(case.recipe, preset, case.now.measure)
    return None if why is None else f"re-chunk: {why}"


def _no_vectors(case: Case) -> str | None:
    missing = case.now.embeds and not case.known.embedded
    return "re-chunk: it has no vectors yet" if missing else None


def _source(case: Case) -> str | None:
    return "unchanged; it belongs to this source now" if _foreign(case) else None


def _policy(case: Case) -> str | None:
    new = case.known.policy_version != case.now.policy_version
    return "unchanged; the new policy does not concern it" if new else None


def _chain(case: Case) -> str | None:
    new = case.recipe.chain != case.now.digest
    return "unchanged; the new parsers do not concern it" if new else None


RULES: Final = (
    #    what changed                                         what is done again
    Rule(_parser_gone, Redo.PARSE),  # its parser was uninstalled and another one takes it
    Rule(_parser_version, Redo.PARSE),  # only documents of that parser (L-BYD-03)
    Rule(_parser_first, Redo.PARSE),  # a parser that claims it was put before its own
    Rule(_file, Redo.READ),  # size or time; the bytes decide about parsing
    Rule(_cut, Redo.CUT),  # chunk size, preset, chunker version, algorithm, measure (L-BYD-04)
    Rule(_no_vectors, Redo.CUT),  # an embedder was installed (S-13)
    Rule(_source, Redo.STAMP),  # its source does not offer it any more, this one does
    Rule(_policy, Redo.STAMP),  # what the policy names is told by the rules above
    Rule(_chain, Redo.STAMP),
)
"""The first reason is the one that is told; everything that applies is done."""

_COVERED: Final = {
    Redo.STAMP: Redo.STAMP,
    Redo.CUT: Redo.CUT | Redo.STAMP,
    Redo.READ: Redo.READ | Redo.STAMP,
    Redo.PARSE: Redo.PARSE | Redo.READ | Redo.STAMP,
}
OTHERS: Final = "it belongs to another source of the store"
_EVERYTHING: Final = Redo.PARSE | Redo.CUT


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with one item, and why; ``known`` is the last version of its document."""

    item: Item
    action: PlanAction
    reason: str
    redo: Redo = Redo.NOTHING
    known: Known | None = None

    @property
    def recipe(self) -> Recipe | None:
        """How the last version was made."""
        return None if self.known is None else read_recipe(self.known.chunking)


def decide(
    item: Item,
    known: Known | None,
    *,
    source: Source,
    now: Current,
    offers: Callable[[str, str], bool] = lambda source_id, uri: False,
) -> Decision:
    """Hold one item against :data:`RULES`.

    ``offers`` tells whether another source of the store has this URI; a document stays
    with the source that made it for as long as that one offers it (L-BYD-05).
    """
    if known is None:
        return Decision(item, PlanAction.ADD, "new", _EVERYTHING)
    if known.source_id != source.id and offers(known.source_id, item.uri):
        return Decision(item, PlanAction.SKIP, OTHERS, known=known)
    recipe = read_recipe(known.chunking)
    if known.stale:
        said = "a migration of the database asks for it"
        return Decision(item, PlanAction.REPARSE, said, _EVERYTHING, known)
    if recipe is None:
        said = "it is not recorded how it was made"
        return Decision(item, PlanAction.REPARSE, said, _EVERYTHING, known)
    case = Case(item, source, known, recipe, now)
    redo, reasons, covered = Redo.NOTHING, [], Redo.NOTHING
    for rule in RULES:
        if rule.redo in covered or (why := rule.why(case)) is None:
            continue
        redo |= rule.redo
        covered |= _COVERED[rule.redo]
        reasons.append(why)
    again = redo & (Redo.PARSE | Redo.READ | Redo.CUT)
    action = PlanAction.REPARSE if again else PlanAction.SKIP
    return Decision(item, action, reasons[0] if reasons else "unchanged", redo, known)


def stamp(decision: Decision, *, source: Source, now: Current) -> Stamp:
    """What is written about a document that was found to be as it should be."""
    recipe = decision.recipe
    assert recipe is not None, "only a document that was looked at is stamped"
    item = decision.item
    return Stamp(
        uri=item.uri,
        source_id=source.id,
        policy_version=now.policy_version,
        chunking=replace(recipe, chain=now.digest).to_text(),
        size=item.size,
        mtime_ns=item.mtime_ns,
        added_at=item.added_at,
    )


def _foreign(case: Case) -> bool:
    return case.known.source_id != case.source.id


def _claimants(case: Case) -> list[str]:
    """Labels of the parsers that claim the file now, in order; needs its first bytes."""
    try:
        probe = probe_of(case.item)
    except OSError:  # the run will say so when it reads the file
        probe = Probe(name=case.item.name, head=b"", size=case.item.size, uri=case.item.uri)
    return [label(owned) for owned in claims(case.now.chain, probe)]


def unique(items: Iterable[Item]) -> list[Item]:
    """Items without those whose URI came before (two links to one file)."""
    return list({item.uri: item for item in items}.values())


@dataclass(frozen=True, slots=True)
class Sweep:
    """Documents of a source that were not seen, and whether that means anything.

    ``kept_because`` is a reason to keep them all: then nothing is prunable (L-ING-54).
    ``unread`` are those that nobody looked for: no parser in use takes them.
    """

    gone: tuple[str, ...] = ()
    kept_because: str | None = None
    unread: tuple[str, ...] = ()


def sweep(
    source: Source,
    listing: Listing,
    known: Mapping[str, Known],
    *,
    observable: bool,
    looked_for: Callable[[str, Known], bool] = lambda uri, known: True,
    offered: Callable[[str], bool] = lambda uri: False,
) -> Sweep:
    """What the source no longer offers, under the guards of §3.5.

    Ownership is by source id, never by path (L-ING-50). ``observable`` is False for
    kinds where absence never means gone. A document that nobody looked for (its parser
    was uninstalled, or taken off the list) is not missed either. One that another source
    offers (``offered``) will be that one's (L-BYD-05).
    """
    seen = {item.uri for item in listing.items} | {problem.uri for problem in listing.problems}
    mine = {uri: row for uri, row in known.items() if row.source_id == source.id}
    missing = sorted(uri for uri in mine if uri not in seen)
    if not observable or not missing:
        return Sweep()
    readable = [uri for uri in missing if looked_for(uri, mine[uri])]
    unread = tuple(sorted(set(missing).difference(readable)))
    if doubt := _doubt(listing, readable):
        return Sweep(tuple(readable), doubt, unread)
    gone = tuple(uri for uri in readable if not offered(uri))
    if gone and len(missing) == len(mine):  # L-ING-53
        return Sweep(gone, ZERO_SEEN, unread)
    return Sweep(gone, None, unread)


def _doubt(listing: Listing, missing: Sequence[str]) -> str | None:
    """Why these are perhaps not gone: absence is no proof where nobody looked (L-ING-52)."""
    if missing and not listing.complete:
        return listing.reason or "the source could not be listed completely"
    for folder in listing.hidden:
        if any(uri.startswith(f"{folder.uri}/") for uri in missing):
            return folder.reason
    return None


ZERO_SEEN: Final = "none of its documents was seen"
EMPTIED: Final = "the file is empty now; its last version is kept"
"""The two guards that a person may lift, having looked at the list (L-BYD-14)."""
