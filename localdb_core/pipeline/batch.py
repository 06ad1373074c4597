"""Documents that wait for the next commit."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

from localdb_core.storage.resources import PreparedDocument

BATCH_CHUNKS: Final = 1000
BATCH_SECONDS: Final = 5.0
"""A killed run loses at most this much work, whichever comes first (E-2)."""


@dataclass
class Batch:
    """One document per URI; ``due`` when it is large or old enough to be committed."""

    documents: dict[str, PreparedDocument] = field(default_factory=dict)
    since: float = 0.0
    chunks: int = 0

    def add(self, document: PreparedDocument) -> None:
        """Take a document; the first one starts the clock."""
        if not self.documents:
            self.since = time.monotonic()
        self.documents[document.resource.uri] = document
        self.chunks += len(document.chunks)

    @property
    def due(self) -> bool:
        """Whether waiting any longer would put too much work at risk."""
        if not self.documents:
            return False
        return self.chunks >= BATCH_CHUNKS or time.monotonic() - self.since >= BATCH_SECONDS
