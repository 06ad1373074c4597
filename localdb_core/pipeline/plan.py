"""What is new, changed, unchanged or gone: decided before anything is read (S-3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from localdb_core.domain.reports import PlanAction
from localdb_core.domain.store import Source
from localdb_core.plugin import Item, Listing
from localdb_core.storage.resources import Known

Versions = Mapping[str, str]
"""Version of every installed parser by full id."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with one item, and why."""

    item: Item
    action: PlanAction
    reason: str


def decide(
    item: Item, known: Known | None, *, policy: str, versions: Versions, embeds: bool = False
) -> Decision:
    """Skip an item unread, or say why it must be looked at.

    ``embeds`` says that there is an embedder now, for documents stored without (S-13).
    """
    if known is None:
        return Decision(item, PlanAction.ADD, "new")
    if known.stale:
        return Decision(item, PlanAction.REPARSE, "a migration of the database asks for it")
    if known.policy_version != policy:
        return Decision(item, PlanAction.REPARSE, "the indexing policy changed")
    if known.parser is None or known.parser not in versions:
        return Decision(item, PlanAction.REPARSE, f"its parser {known.parser} is not installed")
    if versions[known.parser] != known.parser_version:
        return Decision(item, PlanAction.REPARSE, f"parser {known.parser} has a new version")
    if embeds and not known.embedded:
        return Decision(item, PlanAction.REPARSE, "it has no vectors yet")
    if item.size is None or (item.size, item.mtime_ns) != (known.size, known.mtime_ns):
        return Decision(item, PlanAction.REPARSE, "the file changed")
    return Decision(item, PlanAction.SKIP, "unchanged")


def unique(items: Iterable[Item]) -> list[Item]:
    """Items without those whose URI came before (two links to one file)."""
    return list({item.uri: item for item in items}.values())


@dataclass(frozen=True, slots=True)
class Sweep:
    """Documents of a source that were not seen, and whether that means anything.

    ``kept_because`` is a reason to keep them all: then nothing is prunable (L-ING-54).
    """

    gone: tuple[str, ...]
    kept_because: str | None = None


def sweep(
    source: Source,
    listing: Listing,
    known: Mapping[str, Known],
    *,
    versions: Versions,
    observable: bool,
) -> Sweep:
    """What the source no longer offers, under the guards of §3.5.

    Ownership is by source id, never by path (L-ING-50). ``observable`` is False for
    kinds where absence never means gone. A document whose parser is not there now
    (left out, uninstalled) is not looked for, so it is not missed either.
    """
    owned = [
        uri
        for uri, row in known.items()
        if row.source_id == source.id and (row.parser is None or row.parser in versions)
    ]
    seen = {item.uri for item in listing.items} | {problem.uri for problem in listing.problems}
    gone = tuple(sorted(uri for uri in owned if uri not in seen))
    if not observable or not gone:
        return Sweep(())
    if not listing.complete:  # L-ING-52: absence is not proof
        return Sweep(gone, listing.reason or "the source could not be listed completely")
    if len(gone) == len(owned):  # L-ING-53
        return Sweep(gone, "none of its documents was seen")
    return Sweep(gone)
