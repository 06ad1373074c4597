"""Which plugins are installed, read from package metadata; none is imported."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localdb_core.host.firstparty import normalised
from localdb_core.plugin import ENTRY_POINT_GROUP

if TYPE_CHECKING:
    from importlib_metadata import IDistribution

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, order=True)
class Candidate:
    """A plugin that could be loaded.

    Attributes:
        name: the entry point's name, which is the plugin's.
        distribution: the installed distribution it belongs to.
        version: that distribution's version.
        module: what the entry point names; checked when it is loaded.
        location: the folder the distribution was found in.
    """

    name: str
    distribution: str
    version: str
    module: str
    location: str

    @property
    def origin(self) -> str:
        """Distribution and version, as errors print them."""
        return f"{self.distribution} {self.version}".strip()


def discover() -> list[Candidate]:
    """Every installed plugin, sorted by name and then distribution.

    An entry point met twice (a folder twice on the path, an editable install
    beside its metadata) counts once: the first on the path, which is also the
    one an import would find.
    """
    from importlib_metadata import distributions  # 20 ms

    found: dict[tuple[str, str], Candidate] = {}
    for distribution in distributions():
        for candidate in _offered_by(distribution):
            found.setdefault((candidate.name, normalised(candidate.distribution)), candidate)
    return sorted(found.values())


def environment() -> str:
    """The Python environment that is searched, for people."""
    return sys.prefix


def _offered_by(distribution: IDistribution) -> list[Candidate]:
    """Plugins of one distribution; unreadable metadata costs only that distribution."""
    try:
        text = distribution.read_text("entry_points.txt")
        if not text or ENTRY_POINT_GROUP not in text:  # spares the rest for most distributions
            return []
        return list(_candidates(distribution))
    except (OSError, ValueError, LookupError, AttributeError, TypeError) as error:
        # whatever a damaged or foreign metadata folder makes the reader raise
        _LOG.warning("cannot read the metadata of an installed distribution: %s", error)
        return []


def _candidates(distribution: IDistribution) -> Iterator[Candidate]:
    name = distribution.metadata["Name"]
    if not name:
        raise ValueError("it has no name")
    for point in distribution.entry_points:
        if point.group == ENTRY_POINT_GROUP:
            yield Candidate(
                name=point.name,
                distribution=name,
                version=distribution.version or "",
                module=point.value,
                location=str(distribution.locate_file("")),
            )
