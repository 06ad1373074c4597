"""A model in ONNX Runtime: token ids of one text in, one unit vector out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from localdb_core.domain import InvalidConfig, ModelMissing

if TYPE_CHECKING:
    import onnxruntime  # type: ignore[import-untyped]  # it ships no stubs

    from localdb_core.plugin.protocols import Vector
    from localdb_onnx.folder import Pooling

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_POOLED_OUTPUT = "sentence_embedding"
_ERRORS_ONLY = 3
_PADDING = [0]


class Session:
    """Runs a model on one thread of its own; several threads may call :meth:`vector`.

    Args:
        model: the file's path, or its bytes.
        origin: what to call the model in errors.
        pooling: how token vectors become one, when the model does not do it itself.

    Raises:
        ModelMissing: ONNX Runtime cannot load the model.
        InvalidConfig: the model wants inputs that no text gives.
    """

    def __init__(self, model: str | bytes, *, origin: str, pooling: Pooling = "mean") -> None:
        self._origin = origin
        self._session = _load(model, origin)
        self._pooling = pooling
        self._inputs = [port.name for port in self._session.get_inputs()]
        strange = [name for name in self._inputs if name not in _INPUTS]
        if strange:
            raise InvalidConfig(f"{origin} wants the inputs {strange}; known are {list(_INPUTS)}")
        outputs = [port.name for port in self._session.get_outputs()]
        self._output = _POOLED_OUTPUT if _POOLED_OUTPUT in outputs else outputs[0]

    def vector(self, ids: Sequence[int]) -> Vector:
        """The unit vector of one text."""
        row = np.array([ids or _PADDING], np.int64)  # a text without any token still has a vector
        feeds = {
            "input_ids": row,
            "attention_mask": np.ones_like(row),
            "token_type_ids": np.zeros_like(row),
        }
        needed = {name: feeds[name] for name in self._inputs}
        found = np.asarray(self._session.run([self._output], needed)[0], np.float32)
        pooled = self._pool(found)
        unit: Vector = pooled / np.linalg.norm(pooled)
        return unit

    def dimension(self) -> int:
        """Length of a vector, found by running the model once.

        Raises:
            InvalidConfig: the model's output is no vector.
        """
        try:
            return len(self.vector(_PADDING))
        except Exception as error:  # noqa: BLE001 the library's errors have no common base
            raise InvalidConfig(f"{self._origin} cannot be run on a text: {error}") from error

    def _pool(self, output: Vector) -> Vector:
        """One text's vector out of (1, dimension) or (1, tokens, dimension)."""
        if output.ndim not in (2, 3):
            raise InvalidConfig(f"{self._origin} answers with {output.ndim} dimensions, not 2 or 3")
        pooled: Vector = output[0]
        if output.ndim == 3:
            pooled = pooled[0] if self._pooling == "cls" else pooled.mean(axis=0)
        return pooled


def _load(model: str | bytes, origin: str) -> onnxruntime.InferenceSession:
    import onnxruntime  # 160 ms

    onnxruntime.set_default_logger_severity(_ERRORS_ONLY)
    try:
        return onnxruntime.InferenceSession(
            model, _options(onnxruntime), providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # noqa: BLE001 the library's errors have no common base
        raise ModelMissing(
            f"{origin} cannot be loaded by onnxruntime ({error}); get the file again"
        ) from error


def _options(library: Any) -> onnxruntime.SessionOptions:  # Any: the module, imported lazily
    options = library.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    # Callers bring the threads; idle ones must not spin on a core that others want.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Without VNNI, int8 products of an AVX2 machine saturate unless weights are shifted to
    # uint8; ONNX Runtime does that when asked and ignores the wish elsewhere.
    options.add_session_config_entry("session.x64quantprecision", "1")
    return options
