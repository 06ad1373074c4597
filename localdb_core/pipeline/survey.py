"""What a run of a store is about to do, source by source; the plan shows the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from localdb_core.domain.errors import LocaldbError
from localdb_core.domain.reports import PlanAction
from localdb_core.domain.store import Source
from localdb_core.domain.uri import file_path, file_uri
from localdb_core.pipeline.plan import OTHERS, Current, Decision, Sweep, decide, sweep, unique
from localdb_core.pipeline.presets import check_preset
from localdb_core.plugin import Accepts, Item, Listing, SourceKind
from localdb_core.storage.resources import Known

SourceKinds = Callable[[str], tuple[SourceKind, bool]]
"""The component that lists a kind of source, and whether it can observe everything."""


class SourceFailed(Exception):
    """A source cannot be read any further; what is done of it stays."""


@dataclass(frozen=True, slots=True)
class View:
    """One source before anything of it is read."""

    listing: Listing
    decisions: tuple[Decision, ...]
    sweep: Sweep


class Survey:
    """Lists sources and holds what they offer against what the store knows.

    survey = Survey(sources, kinds=…, accepts=…, known=…, now=…)
    for source in sources:
        view = survey.look(source)

    ``sources`` are all of the store, also when only one is looked at: the others may
    offer the same documents. ``known`` gives the store's documents, fresh at each look.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        kinds: SourceKinds,
        accepts: Accepts,
        known: Callable[[], Mapping[str, Known]],
        now: Current,
    ) -> None:
        self._sources: dict[str, Source] = {source.id: source for source in sources}
        self._kinds = kinds
        self._accepts = accepts
        self._known = known
        self._now = now
        self._parsers = {owned.full_id for owned in now.chain.parsers}
        self._offers: dict[str, _Offer] = {}
        self._taken: dict[str, str] = {}

    def look(self, source: Source) -> View:
        """List one source and decide about each item.

        Raises SourceFailed when it cannot be listed at all, InvalidRequest and
        InvalidConfig for a preset or a kind that nobody knows.
        """
        check_preset(source.preset)
        listing, observable = self._list(source)
        known = self._known()
        decisions = tuple(
            self._decide(item, known.get(item.uri), source) for item in unique(listing.items)
        )
        found = sweep(
            source,
            listing,
            known,
            observable=observable,
            looked_for=lambda uri, row: self._is_looked_for(source, uri, row),
            offered=lambda uri: self._is_offered_beside(source, uri),
        )
        return View(listing, decisions, found)

    def _decide(self, item: Item, known: Known | None, source: Source) -> Decision:
        if known is None and self._taken.setdefault(item.uri, source.id) != source.id:
            return Decision(item, PlanAction.SKIP, OTHERS)
        return decide(item, known, source=source, now=self._now, offers=self._is_offered_by)

    def _is_looked_for(self, source: Source, uri: str, known: Known) -> bool:
        """Whether the source would list this document now, were it there."""
        if known.parser is not None and known.parser not in self._parsers:
            return False
        if source.include or not uri.startswith("file:"):
            return True
        return self._accepts.takes(file_path(uri).name)

    def _list(self, source: Source) -> tuple[Listing, bool]:
        kind, observable = self._kinds(source.kind)
        try:
            listing = kind.list(source, self._accepts)
        except LocaldbError:
            raise
        except Exception as error:  # the plugin guard of sources
            reason = f"it cannot be listed: {type(error).__name__}: {error}"
            raise SourceFailed(reason) from error
        self._offers[source.id] = _Offer.of(listing)
        return listing, observable

    def _is_offered_by(self, source_id: str, uri: str) -> bool:
        """Whether a source has this item, or cannot be asked and might have it."""
        source = self._sources.get(source_id)
        if source is None:
            return False
        if source_id not in self._offers:
            try:
                self._list(source)
            except (LocaldbError, SourceFailed):
                self._offers[source_id] = _Offer(frozenset(), complete=False)
        offer = self._offers[source_id]
        return (
            uri in offer.uris
            or uri.startswith(offer.hidden)
            or (not offer.complete and _may_hold(source, uri))
        )

    def _is_offered_beside(self, source: Source, uri: str) -> bool:
        # Of one kind only: an address is never a file, and listing a site may cost minutes.
        return any(
            self._is_offered_by(other.id, uri)
            for other in self._sources.values()
            if other.id != source.id and other.kind == source.kind
        )


@dataclass(frozen=True, slots=True)
class _Offer:
    uris: frozenset[str]
    complete: bool
    hidden: tuple[str, ...] = ()

    @classmethod
    def of(cls, listing: Listing) -> _Offer:
        uris = [item.uri for item in listing.items] + [p.uri for p in listing.problems]
        hidden = tuple(f"{folder.uri}/" for folder in listing.hidden)
        return cls(frozenset(uris), listing.complete, hidden)


def _may_hold(source: Source, uri: str) -> bool:
    """Whether an item that was not seen could be one of a source that cannot be asked."""
    if source.root is None:
        return True
    try:
        return uri.startswith(file_uri(Path(os.path.realpath(source.root))) + "/")
    except OSError:
        return True
