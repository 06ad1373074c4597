"""The embedder: texts to requests, answers to vectors."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from localdb_core.domain import InvalidConfig, ProviderUnavailable
from localdb_core.plugin import EmbedderCard, EmbedderContext, Role
from localdb_http_embedder.answer import OtherDimension, vectors
from localdb_http_embedder.config import HttpEmbedderConfig
from localdb_http_embedder.endpoint import Endpoint
from localdb_http_embedder.http import Client

_NUMBER_BYTES = 64
"""A number of an answer takes less, however it is laid out."""


class HttpEmbedder:
    """Asks the service; building one connects to nothing."""

    def __init__(self, context: EmbedderContext) -> None:
        """Raises InvalidConfig: no model, or no usable entry in ``providers[]``."""
        if not context.model:
            raise InvalidConfig("http-embedder needs defaults.indexing.embedding.model")
        self._settings: HttpEmbedderConfig = context.config
        self._endpoint = Endpoint.of(context.provider)
        self._client = Client(
            self._endpoint, timeout=self._settings.timeout, retries=self._settings.retries
        )
        self._prefixes: dict[str, str] = {
            "query": self._settings.query_prefix,
            "passage": self._settings.passage_prefix,
        }
        self._longest = self._settings.max_tokens * self._settings.bytes_per_token
        if self._endpoint.exposes_key:
            context.log.warning("%s gets the key unencrypted; use https", self._endpoint.host)
        self._card = self._described(context.model)

    @property
    def card(self) -> EmbedderCard:
        """What this embedder is, as far as the settings say."""
        return self._card

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        """Unit vectors, one row a text.

        Raises:
            ProviderUnavailable, RateLimited: the service does not answer, or nonsense.
            InvalidConfig: its vectors have another length, or the key cannot be read.
        """
        written = [self._written(text, role) for text in texts]
        size = self._settings.batch
        rows = [self._asked(written[at : at + size]) for at in range(0, len(written), size)]
        return np.concatenate([np.zeros((0, self._card.dimension), dtype=np.float32), *rows])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """An estimate, by bytes, since the service cannot be asked; it cuts as it counts."""
        each = self._settings.bytes_per_token
        return [-(-len(self._bytes(text, "passage")) // each) for text in texts]

    def close(self) -> None:
        """Let nobody wait for the service any longer."""
        self._client.close()

    def _described(self, model: str) -> EmbedderCard:
        settings = self._settings
        facts = [model, settings.dimension, self._longest, self._prefixes]
        return EmbedderCard(
            name=model,
            dimension=settings.dimension,
            max_tokens=settings.max_tokens,
            # Not the address: a model keeps its vectors when it moves to another host.
            fingerprint=f"http-embedder:1:{json.dumps(facts, sort_keys=True)}",
            prefixes={role: prefix for role, prefix in self._prefixes.items() if prefix},
            batch_invariant=False,  # nobody promises it
        )

    def _bytes(self, text: str, role: Role) -> bytes:
        # Half a surrogate pair, from a damaged file name, has no UTF-8; "?" stands for it.
        written: str = self._prefixes[role] + text
        return written.encode("utf-8", "replace")

    def _written(self, text: str, role: Role) -> str:
        """What is sent: cut to the longest input, and not empty, which services refuse."""
        return self._bytes(text, role)[: self._longest].decode("utf-8", "ignore") or " "

    def _asked(self, texts: list[str]) -> NDArray[np.float32]:
        body = json.dumps({"input": texts, "model": self._card.name}).encode()
        dimension = self._card.dimension
        # Room for a model with longer vectors than expected, so that this is what is said.
        limit = len(texts) * max(dimension, 4096) * _NUMBER_BYTES + 1024 * 1024
        raw = self._client.post(body, limit=limit)
        try:
            return vectors(raw, count=len(texts), dimension=dimension)
        except OtherDimension as other:
            raise InvalidConfig(
                f"{self._card.name} of {self._endpoint.label} has {other.found} numbers in a "
                f"vector, not {dimension}; "
                f"set plugins.config.http-embedder.dimension to {other.found}"
            ) from other
        except ValueError as error:
            raise ProviderUnavailable(
                f"{self._endpoint.label} answered what is no embedding: {error}"
            ) from error
