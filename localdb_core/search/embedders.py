"""Loaded embedders, one per provider and model, built when first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from localdb_core.domain.errors import InvalidRequest, LocaldbError
from localdb_core.plugin import Embedder
from localdb_core.storage.stores import StoredEmbedder


class Embedders:
    """Builds embedders once and closes them at the end; thread-safe.

    ``build(provider, model)`` raises InvalidConfig, ModelMissing or PluginError when
    there is none; the failure is remembered, so it costs its time once. ``wanted`` is
    the provider and model of the config.
    """

    def __init__(
        self, build: Callable[[str, str], Embedder], wanted: tuple[str, str] | None = None
    ) -> None:
        self._build = build
        self._wanted = wanted
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

    def of_store(self, stored: StoredEmbedder) -> Embedder:
        """The embedder that makes the vectors a store holds.

        The recorded one, else the configured one if it makes the same vectors (L-EMB-03).
        Raises what keeps the recorded one from being used.
        """
        failure: LocaldbError | None = None
        recorded = (stored.provider, stored.model)
        for provider, model in dict.fromkeys([recorded, self._wanted or recorded]):
            try:
                found = self.get(provider, model)
            except LocaldbError as error:
                failure = failure or error
                continue
            if found.card.fingerprint == stored.fingerprint:
                return found
            failure = failure or InvalidRequest(
                f"model {model} is not the one the store was embedded with (expected "
                f"{stored.fingerprint[:12]}, found {found.card.fingerprint[:12]})"
            )
        assert failure is not None, "there is at least the recorded one"
        raise failure

    def close(self) -> None:
        """Close what was built."""
        with self._lock:
            for made in self._made.values():
                if not isinstance(made, LocaldbError):
                    made.close()
            self._made.clear()
