"""Reading tensors out of an ONNX file and writing a new graph.

Our own codec, because the ``onnx`` package weighs 31 MB and all we need is to
copy tensors from one file into another. Field numbers are those of onnx.proto.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localdb_onnx import wire

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensor = NDArray[Any]  # Any: float32, int8 or int64, as the file says

Attribute = int | float | Sequence[int]

MICROSOFT = "com.microsoft"
"""The operator domain of ONNX Runtime's fused operators."""

_IR_VERSION, _OPSET = 8, 17
_ELEMENT_TYPES: Mapping[int, np.dtype[Any]] = {  # Any: three kinds
    1: np.dtype(np.float32),
    3: np.dtype(np.int8),
    7: np.dtype(np.int64),
}
_ELEMENT_NUMBERS = {kind: number for number, kind in _ELEMENT_TYPES.items()}
_MODEL_GRAPH, _GRAPH_INITIALIZER = 7, 5


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of a graph; a named dimension is free."""

    name: str
    kind: type[np.generic]
    shape: tuple[int | str, ...]


def read_tensors(model: bytes) -> dict[str, Tensor]:
    """The initialisers of a model by name, in file order, as views into its bytes.

    Left out are tensors of other element types than float32, int8 and int64, and
    those whose values do not stand in ``raw_data``.

    Raises:
        WireError: the bytes are not an ONNX model.
    """
    tensors = {}
    for number, graph in wire.fields(model):
        if number == _MODEL_GRAPH and isinstance(graph, memoryview):
            for part, value in wire.fields(graph):
                if part == _GRAPH_INITIALIZER and isinstance(value, memoryview):
                    name, tensor = _read_tensor(value)
                    if tensor is not None:
                        tensors[name] = tensor
    return tensors


def _read_tensor(message: memoryview) -> tuple[str, Tensor | None]:
    shape: list[int] = []
    name, kind = "", 0
    raw: memoryview | None = None
    for number, value in wire.fields(message):
        if number == 1:
            shape += wire.integers(value)
        elif number == 2 and isinstance(value, int):
            kind = value
        elif number == 8 and isinstance(value, memoryview):
            name = bytes(value).decode("utf-8", "replace")
        elif number == 9 and isinstance(value, memoryview):
            raw = value
    if kind not in _ELEMENT_TYPES or raw is None:
        return name, None
    try:
        return name, np.frombuffer(raw, _ELEMENT_TYPES[kind]).reshape(shape)
    except (ValueError, OverflowError) as error:
        raise wire.WireError(f"tensor {name!r} does not fill its shape {shape}") from error


class GraphWriter:
    """Collects nodes and tensors, then becomes the bytes of a model.

    graph = GraphWriter()
    doubled = graph.add("Mul", "x", graph.tensor("two", two))
    graph.model(inputs=[x], outputs=[(y, doubled)])
    """

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._tensors: dict[str, bytes] = {}

    def tensor(self, name: str, value: Tensor) -> str:
        """Add an initialiser; its name, for use as an input."""
        shape = b"".join(wire.number(1, size) for size in value.shape)
        self._tensors[name] = (
            shape
            + wire.number(2, _ELEMENT_NUMBERS[value.dtype])
            + wire.data(8, name)
            + wire.data(9, np.ascontiguousarray(value).tobytes())
        )
        return name

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Attribute) -> str:
        """Add a node of one output; the output's name."""
        return self.add_split(operator, *inputs, count=1, domain=domain, **attributes)[0]

    def add_split(
        self, operator: str, *inputs: str, count: int, domain: str = "", **attributes: Attribute
    ) -> list[str]:
        """Add a node of several outputs; their names."""
        outputs = [f"{operator}_{len(self._nodes)}_{index}" for index in range(count)]
        self._node(operator, inputs, outputs, domain=domain, attributes=attributes)
        return outputs

    def model(self, inputs: Sequence[Port], outputs: Sequence[tuple[Port, str]]) -> bytes:
        """The finished model; ``outputs`` pairs each port with the value it shows."""
        for port, value in outputs:
            self._node("Identity", [value], [port.name])
        graph = b"".join(
            [
                *(wire.data(1, node) for node in self._nodes),
                wire.data(2, "localdb"),
                *(wire.data(_GRAPH_INITIALIZER, tensor) for tensor in self._tensors.values()),
                *(wire.data(11, _port(port)) for port in inputs),
                *(wire.data(12, _port(port)) for port, _ in outputs),
            ]
        )
        return (
            wire.number(1, _IR_VERSION)
            + wire.data(2, "localdb")
            + wire.data(_MODEL_GRAPH, graph)
            + wire.data(8, wire.data(1, "") + wire.number(2, _OPSET))
            + wire.data(8, wire.data(1, MICROSOFT) + wire.number(2, 1))
        )

    def _node(
        self,
        operator: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        *,
        domain: str = "",
        attributes: Mapping[str, Attribute] | None = None,
    ) -> None:
        self._nodes.append(
            b"".join(
                [
                    *(wire.data(1, name) for name in inputs),
                    *(wire.data(2, name) for name in outputs),
                    wire.data(4, operator),
                    *(wire.data(5, _attribute(*item)) for item in (attributes or {}).items()),
                    wire.data(7, domain),
                ]
            )
        )


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return wire.data(1, name) + wire.real(2, value) + wire.number(20, 1)
    if isinstance(value, int):
        return wire.data(1, name) + wire.number(3, value) + wire.number(20, 2)
    items = b"".join(wire.number(8, item) for item in value)
    return wire.data(1, name) + items + wire.number(20, 7)


def _port(port: Port) -> bytes:
    sizes = (
        wire.number(1, size) if isinstance(size, int) else wire.data(2, size) for size in port.shape
    )
    shape = b"".join(wire.data(1, size) for size in sizes)
    element = wire.number(1, _ELEMENT_NUMBERS[np.dtype(port.kind)])
    return wire.data(1, port.name) + wire.data(2, wire.data(1, element + wire.data(2, shape)))
