"""Who may be loaded at all; decided on names, before any plugin is imported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from localdb_core.host.discovery import Candidate
from localdb_core.host.firstparty import CORE, is_first_party, normalised
from localdb_core.host.selection import PluginSelection


@dataclass(frozen=True, slots=True)
class Verdict:
    """One candidate's fate at the gate; ``reason`` says why it stays out."""

    candidate: Candidate
    state: Literal["admitted", "disabled", "ambiguous"]
    reason: str = ""


def judge(candidates: Sequence[Candidate], selection: PluginSelection) -> list[Verdict]:
    """A verdict for every candidate, in their order."""
    refusals = {candidate: _refusal(candidate, selection) for candidate in candidates}
    verdicts = {
        candidate: Verdict(candidate, "disabled", reason)
        for candidate, reason in refusals.items()
        if reason
    }
    remaining = sorted(candidate for candidate in candidates if candidate not in verdicts)
    for name, rivals in groupby(remaining, key=lambda candidate: candidate.name):
        verdicts.update((v.candidate, v) for v in _settle(name, list(rivals)))
    return [verdicts[candidate] for candidate in candidates]


def _refusal(candidate: Candidate, selection: PluginSelection) -> str:
    """Why the user does not want it; empty when they do."""
    names = {normalised(candidate.name), normalised(candidate.distribution)}
    if selection.no_plugins:
        return "no plugins are loaded"
    if names & selection.disable:
        return "disabled by the user"
    if selection.only is not None and not names & selection.only:
        return "not among the plugins to load"
    owner = selection.pin.get(normalised(candidate.name))
    if owner is not None and normalised(owner) != normalised(candidate.distribution):
        return f"the name {candidate.name} is pinned to {owner}"
    return ""


def _settle(name: str, rivals: list[Candidate]) -> Iterable[Verdict]:
    """One name, one or more distributions: at most one of them is admitted."""
    if name == CORE:
        return [Verdict(r, "ambiguous", f"the name {CORE} is built in") for r in rivals]
    keeper = keeper_of(rivals)
    if keeper is None:
        reason = "several distributions offer this name: " + ", ".join(
            rival.distribution for rival in rivals
        )
        return [Verdict(r, "ambiguous", f"{reason}; pin one in plugins.pin") for r in rivals]
    return [
        Verdict(r, "admitted")
        if r is keeper
        else Verdict(r, "ambiguous", f"{keeper.distribution} keeps the name {name}")
        for r in rivals
    ]


def keeper_of(rivals: Sequence[Candidate]) -> Candidate | None:
    """The only one, else the only one of ours, else nobody."""
    if len(rivals) == 1:
        return rivals[0]
    ours = [rival for rival in rivals if is_first_party(rival.distribution)]
    return ours[0] if len(ours) == 1 else None
