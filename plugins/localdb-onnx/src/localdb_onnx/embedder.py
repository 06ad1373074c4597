"""The embedder: one text a call, any number of callers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from localdb_core.domain import InternalError, InvalidConfig
from localdb_core.plugin import EmbedderCard, EmbedderContext, Role
from localdb_onnx import graph, minilm
from localdb_onnx.folder import ModelFolder
from localdb_onnx.session import Session
from localdb_onnx.tokenizer import Tokenizer, bert_tokenizer, tokenizer_of

if TYPE_CHECKING:
    from localdb_core.plugin.protocols import Vectors


def build(context: EmbedderContext) -> OnnxEmbedder:
    """The embedder for ``context.model``: a known name, or the path of a folder.

    Raises:
        InvalidConfig: the name is not known.
        ModelMissing: files of the model are absent or damaged.
    """
    model = context.model or minilm.NAME
    if model.lower() == minilm.NAME:
        return _minilm(context)
    if _is_path(model):
        return _of_folder(Path(model).expanduser())
    raise InvalidConfig(
        f"the embedder onnx does not know the model {model!r}; it knows {minilm.NAME}, "
        "or give the path of a folder with model.onnx and tokenizer.json"
    )


class OnnxEmbedder:
    """Runs one text at a time, so vectors do not depend on their neighbours.

    One call keeps one core busy and lets other threads run meanwhile, so two
    threads calling side by side use two.
    """

    def __init__(self, card: EmbedderCard, tokenizer: Tokenizer, session: Session) -> None:
        self._card = card
        self._tokenizer = tokenizer
        self._session: Session | None = session

    @property
    def card(self) -> EmbedderCard:
        """Dimension, longest input and fingerprint of the model."""
        return self._card

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors, one row a text; what is over the longest input is cut off."""
        session = self._session
        if session is None:
            raise InternalError("the embedder was used after it was closed")
        prefix = self._card.prefixes.get(role, "")
        rows = np.empty((len(texts), self._card.dimension), np.float32)
        for row, ids in enumerate(self._tokenizer.encode([prefix + text for text in texts])):
            rows[row] = session.vector(ids)
        return rows

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as a passage; more than ``max_tokens`` means it will be cut."""
        prefix = self._card.prefixes.get("passage", "")
        return self._tokenizer.count([prefix + text for text in texts])

    def close(self) -> None:
        """Release the session; a call still running finishes with it."""
        self._session = None


def _is_path(model: str) -> bool:
    return "/" in model or "\\" in model or model.startswith(("~", "."))


def _minilm(context: EmbedderContext) -> OnnxEmbedder:
    weights = minilm.weights_path()
    model = minilm.load_graph(weights, context.cache_dir, context.log)
    card = EmbedderCard(
        name=minilm.NAME,
        dimension=graph.DIMENSION,
        max_tokens=graph.MAX_TOKENS,
        fingerprint=minilm.FINGERPRINT,
        languages=("en",),
        licence="Apache-2.0",
    )
    tokenizer = Tokenizer(bert_tokenizer(), max_tokens=card.max_tokens)
    return OnnxEmbedder(card, tokenizer, Session(model, origin=minilm.NAME))


def _of_folder(path: Path) -> OnnxEmbedder:
    folder = ModelFolder.read(path)
    session = Session(str(folder.model), origin=str(folder.model), pooling=folder.pooling)
    card = EmbedderCard(
        name=folder.path.name,
        dimension=session.dimension(),
        max_tokens=folder.max_tokens,
        fingerprint=minilm.fingerprint_of(
            f"files {folder.digest}",
            f"pooling {folder.pooling}, l2",
            f"prefixes {sorted(folder.prefixes.items())}",
            f"tokens {folder.max_tokens}",
        ),
        prefixes=folder.prefixes,
    )
    tokenizer = Tokenizer(tokenizer_of(folder.tokenizer), max_tokens=folder.max_tokens)
    return OnnxEmbedder(card, tokenizer, session)
