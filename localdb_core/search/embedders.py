"""Loaded embedders, one per provider and model, built when first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from localdb_core.domain.errors import LocaldbError
from localdb_core.plugin import Embedder


class Embedders:
    """Builds embedders once and closes them at the end; thread-safe.

    ``build(provider, model)`` raises InvalidConfig, ModelMissing or PluginError when
    there is none; the failure is remembered, so it costs its time once.
    """

    def __init__(self, build: Callable[[str, str], Embedder]) -> None:
        self._build = build
        self._made: dict[tuple[str, str], Embedder | LocaldbError] = {}
        self._lock = threading.Lock()

    def get(self, provider: str, model: str) -> Embedder:
        """The embedder of this provider and model."""
        key = (provider, model)
        with self._lock:
            if key not in self._made:
                try:
                    self._made[key] = self._build(provider, model)
                except LocaldbError as error:
                    self._made[key] = error
            made = self._made[key]
        if isinstance(made, LocaldbError):
            raise made
        return made

    def close(self) -> None:
        """Close what was built."""
        with self._lock:
            for made in self._made.values():
                if not isinstance(made, LocaldbError):
                    made.close()
            self._made.clear()
