"""The rows of ``index --plan``: what the run would do, told from the same survey."""

from __future__ import annotations

from collections.abc import Iterator

from localdb_core.domain.errors import InvalidConfig, InvalidRequest, PluginError, UnsupportedFormat
from localdb_core.domain.reports import PlanAction, PlanRow
from localdb_core.domain.store import Source, Store
from localdb_core.host.resolve import claims
from localdb_core.pipeline.parse import probe_of
from localdb_core.pipeline.plan import EMPTIED, Decision, Redo
from localdb_core.pipeline.prepare import check_size, hash_file
from localdb_core.pipeline.setup import Setup
from localdb_core.pipeline.survey import SourceFailed, Survey, View


def planned(
    store: Store, source: Source, survey: Survey, setup: Setup, *, delete: bool
) -> list[PlanRow]:
    """One row per item, per unreadable item, per document that is gone, per failing source.

    Files that are new or changed are looked into, none is parsed; what a parser will make
    of them is not known, so ``add`` and ``reparse`` may end as skipped or unsupported.
    """
    try:
        view = survey.look(source)
    except (SourceFailed, InvalidConfig, InvalidRequest, PluginError) as error:
        return [PlanRow(store, PlanAction.SKIP, source.location, str(error))]
    return list(_rows(store, source, view, setup, delete=delete))


def kept(guard: str) -> str:
    """The reason of a row whose document stays although it was not seen."""
    return f"kept: {guard}"


def _rows(
    store: Store, source: Source, view: View, setup: Setup, *, delete: bool
) -> Iterator[PlanRow]:
    if not view.listing.complete:
        reason = view.listing.reason or "it could not be listed completely"
        yield PlanRow(store, PlanAction.SKIP, source.location, reason)
    for problem in view.listing.problems:
        yield PlanRow(store, PlanAction.SKIP, problem.uri, problem.reason)
    for decision in view.decisions:
        action, reason = _looked_into(decision, setup)
        yield PlanRow(store, action, decision.item.uri, reason)
    for uri in view.sweep.unread:
        yield PlanRow(store, PlanAction.SKIP, uri, kept("no parser in use takes it"))
    guard = view.sweep.kept_because
    gone = "no longer at source" if delete else "no longer at source; kept without --delete"
    for uri in view.sweep.gone:
        if guard is not None:
            yield PlanRow(store, PlanAction.SKIP, uri, kept(guard))
        else:
            yield PlanRow(store, PlanAction.PRUNE, uri, gone)


def _looked_into(decision: Decision, setup: Setup) -> tuple[PlanAction, str]:
    """What the bytes of a new or changed file add to the decision."""
    item, known, redo = decision.item, decision.known, decision.redo
    try:
        if known is None and not any(claims(setup.now.chain, probe_of(item))):
            return PlanAction.SKIP, "no parser takes this kind of file"
        if redo & (Redo.READ | Redo.PARSE):
            check_size(item, max_file_mib=setup.max_file_mib)
        if known is not None and redo & Redo.READ and not redo & Redo.PARSE:
            if hash_file(item.path) != known.raw_hash:
                if item.size == 0:
                    return PlanAction.SKIP, EMPTIED
                return decision.action, decision.reason
            if not redo & Redo.CUT:
                return PlanAction.SKIP, "only its time changed, not its bytes"
    except UnsupportedFormat as error:
        return PlanAction.SKIP, error.bare
    except OSError as error:
        return PlanAction.SKIP, f"it cannot be read: {error.strerror or error}"
    return decision.action, decision.reason
