"""Names of plugins that the user wrote, held against what is installed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal

from localdb_core.host.discovery import Candidate
from localdb_core.host.firstparty import (
    CORE,
    CORE_DISTRIBUTION,
    OFFERS,
    Offer,
    install_line,
    normalised,
)

Meant = Literal["left out", "loaded alone", "pinned", "pinned to", "configured"]

# For these it is enough that the name could be installed: nothing is missed without it.
_HARMLESS: Final = ("left out", "pinned")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that somebody wrote.

    Attributes:
        place: where, as a person finds it: ``plugins.disable[0]``, ``-P no:pdf``.
        meant: what is to happen with the plugin.
        typed: for this one run, so that a name nobody has is a mistake to stop at.
    """

    place: str
    name: str
    meant: Meant
    typed: bool = False


def complaint(mention: Mention, candidates: Iterable[Candidate], taken: Collection[str]) -> str:
    """What is wrong with a name, one line; empty when nothing is.

    ``taken`` are names of plugins that are there without being installed.
    """
    plugins, distributions = {CORE, *taken}, {CORE_DISTRIBUTION}
    for candidate in candidates:
        plugins.add(candidate.name)
        distributions.add(normalised(candidate.distribution))
    if _is_known(mention, plugins, distributions):
        return ""
    offer = _offer(mention.name)
    if offer is not None and offer.distribution not in distributions:
        if mention.meant in _HARMLESS:
            return ""
        return f"{mention.place}: {mention.name} is not installed; get it: {install_line(offer)}"
    return f"{mention.place}: {_unknown(mention, plugins, distributions)}"


def _is_known(mention: Mention, plugins: set[str], distributions: set[str]) -> bool:
    name = normalised(mention.name)
    match mention.meant:
        case "configured":  # a section is found by the plugin's name as it is
            return mention.name in plugins
        case "pinned":
            return name in map(normalised, plugins)
        case "pinned to":
            return name in distributions
        case "left out" | "loaded alone":
            return name in {*map(normalised, plugins), *distributions}


def _offer(name: str) -> Offer | None:
    names = (normalised(name), f"localdb-{normalised(name)}")
    return next((offer for offer in OFFERS if offer.distribution in names), None)


def _unknown(mention: Mention, plugins: set[str], distributions: set[str]) -> str:
    if mention.meant == "pinned to":
        said, pool = f"no distribution is named {mention.name!r}", distributions
    elif mention.meant in ("pinned", "configured"):
        said, pool = f"no plugin is named {mention.name!r}", plugins
    else:
        said, pool = f"no plugin is named {mention.name!r}", plugins | distributions
    near = _nearest(mention.name, pool)
    if near is None:
        return f"{said}; see: localdb plugin list"
    above, dot, _ = mention.place.rpartition(f".{mention.name}")
    return f"{said}; did you mean {above}{dot and '.'}{near}?"


def _nearest(name: str, pool: Collection[str]) -> str | None:
    """By spelling; a distribution of ours is also near its plugin's name."""
    spelt = {normalised(known): known for known in sorted(pool)}
    wanted = normalised(name)
    for form in (wanted, wanted.removeprefix("localdb-")):
        near = get_close_matches(form, spelt, n=1)
        if near:
            return spelt[near[0]]
    return None
