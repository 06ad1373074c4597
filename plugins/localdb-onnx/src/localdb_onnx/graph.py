"""The MiniLM graph that computes in int8, made from the tensors of the shipped file.

The shipped file stores each weight matrix as int8 with one scale a column, but
multiplies in float32. ONNX Runtime's ``DynamicQuantizeMatMul`` takes exactly those
tensors, so nothing is quantised again here; they are only wired up differently.

The graph takes one text at a time: no padding, so no attention mask, and a vector
that does not depend on its neighbours (activations get one scale a call).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from localdb_onnx.onnx_file import MICROSOFT, GraphWriter, Port, read_tensors
from localdb_onnx.wire import WireError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensor = NDArray[Any]  # Any: float32, int8 or int64

GRAPH_VERSION: Final = "1"
"""Part of the fingerprint; raise it when the graph's numbers change."""

DIMENSION: Final = 384
MAX_TOKENS: Final = 256  # one vector of a model trained on short texts; 512 was not better
LAYERS: Final = 6

_HEADS = 12
_EPSILON = 1e-12
_PER_LAYER = 6  # query, key, value, output, feed-forward in and out
_MATRIX = re.compile(r"val_(\d+)_q")
_WORDS = "inner.embeddings.word_embeddings.weight"
_POSITIONS = "inner.embeddings.position_embeddings.weight"


def build_graph(shipped: bytes) -> bytes:
    """The int8 model: ``input_ids`` (1, tokens) to ``sentence_embedding`` (1, 384).

    Raises:
        WireError: the file does not hold the tensors of all-MiniLM-L6-v2.
    """
    tensors = read_tensors(shipped)
    try:
        return _Builder(tensors).model()
    except KeyError as error:
        raise WireError(f"the file has no tensor {error}") from error


class _Builder:
    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self._tensors = tensors
        self._matrices = _matrices(tensors)
        self._graph = GraphWriter()

    def model(self) -> bytes:
        graph = self._graph
        hidden = self._embeddings("input_ids")
        for layer in range(LAYERS):
            hidden = self._layer(layer, hidden)
        mean = graph.add("ReduceMean", hidden, axes=[1], keepdims=0)
        unit = graph.add("LpNormalization", mean, axis=1, p=2)
        return graph.model(
            inputs=[Port("input_ids", np.int64, (1, "tokens"))],
            outputs=[(Port("sentence_embedding", np.float32, (1, DIMENSION)), unit)],
        )

    def _embeddings(self, ids: str) -> str:
        """Word + position + token type (always 0), normalised."""
        graph = self._graph
        rows = graph.add("Gather", self._copy(f"{_WORDS}_q"), ids)
        scales = graph.add("Gather", self._copy(f"{_WORDS}_scale"), ids)
        words = graph.add("Mul", graph.add("Cast", rows, to=1), scales)

        fixed = self._tensors[f"{_POSITIONS}_q"] * self._tensors[f"{_POSITIONS}_scale"]
        fixed = fixed + self._tensors["inner.embeddings.token_type_embeddings.weight"][:1]
        places = graph.tensor("places", fixed[:MAX_TOKENS].astype(np.float32))
        zero = graph.tensor("zero", np.array([0], np.int64))
        length = graph.add("Shape", ids, start=1)
        placed = graph.add("Slice", places, zero, length, zero)

        total = graph.add("Add", words, placed)
        norm = "inner.embeddings.LayerNorm"
        weights = (self._copy(f"{norm}.weight"), self._copy(f"{norm}.bias"))
        return graph.add("LayerNormalization", total, *weights, axis=-1, epsilon=_EPSILON)

    def _layer(self, layer: int, hidden: str) -> str:
        name = f"inner.encoder.layer.{layer}"
        query, key, value, out, rise, fall = self._matrices[
            layer * _PER_LAYER : (layer + 1) * _PER_LAYER
        ]
        biases = [f"{name}.attention.self.{part}.bias" for part in ("query", "key", "value")]
        together = self._multiply(hidden, [query, key, value], biases)
        split = self._graph.add_split("Split", together, count=3, axis=-1)
        mixed = self._graph.add("MultiHeadAttention", *split, domain=MICROSOFT, num_heads=_HEADS)
        attended = self._multiply(mixed, [out], [f"{name}.attention.output.dense.bias"])
        hidden = self._add_and_normalise(attended, hidden, f"{name}.attention.output.LayerNorm")

        risen = self._multiply(hidden, [rise], [])
        bias = self._copy(f"{name}.intermediate.dense.bias")
        active = self._graph.add("BiasGelu", risen, bias, domain=MICROSOFT)
        fallen = self._multiply(active, [fall], [f"{name}.output.dense.bias"])
        return self._add_and_normalise(fallen, hidden, f"{name}.output.LayerNorm")

    def _multiply(self, value: str, matrices: list[str], biases: list[str]) -> str:
        """One int8 product with the matrices side by side, plus their biases."""
        stem = "_".join(matrices)
        weights = np.concatenate([self._tensors[f"{name}_q"] for name in matrices], axis=1)
        scales = np.concatenate([self._tensors[f"{name}_scale"][0] for name in matrices])
        inputs = [
            value,
            self._graph.tensor(f"{stem}_q", weights),
            self._graph.tensor(f"{stem}_scale", scales),
        ]
        if biases:
            bias = np.concatenate([self._tensors[name] for name in biases])
            inputs += ["", self._graph.tensor(f"{stem}_bias", bias)]  # "": symmetric, no zero point
        return self._graph.add("DynamicQuantizeMatMul", *inputs, domain=MICROSOFT)

    def _add_and_normalise(self, value: str, skip: str, norm: str) -> str:
        weights = (self._copy(f"{norm}.weight"), self._copy(f"{norm}.bias"))
        return self._graph.add(
            "SkipLayerNormalization", value, skip, *weights, domain=MICROSOFT, epsilon=_EPSILON
        )

    def _copy(self, name: str) -> str:
        return self._graph.tensor(name, self._tensors[name])


def _matrices(tensors: Mapping[str, Tensor]) -> list[str]:
    """Names of the weight matrices, checked to stand in the model's layer order."""
    found = [name.removesuffix("_q") for name in tensors if _MATRIX.fullmatch(name)]
    square, wide, tall = (DIMENSION, DIMENSION), (DIMENSION, 1536), (1536, DIMENSION)
    expected = [square, square, square, square, wide, tall] * LAYERS
    shapes = [tensors[f"{name}_q"].shape for name in found]
    if shapes != expected:
        raise WireError(
            f"expected {len(expected)} weight matrices in layer order, found {len(shapes)}"
        )
    return found
