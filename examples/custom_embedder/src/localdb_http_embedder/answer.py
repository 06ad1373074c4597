"""What a service answers, believed only as far as it can be checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray


class OtherDimension(Exception):
    """A vector has another length than the settings say."""

    def __init__(self, found: int) -> None:
        super().__init__(found)
        self.found = found


def vectors(raw: bytes, *, count: int, dimension: int) -> NDArray[np.float32]:
    """Unit vectors, one row for each text, in the order of their ``index``.

    Raises:
        OtherDimension: the model has other vectors than expected.
        ValueError: anything else that is not one vector for each text.
    """
    rows = np.zeros((count, dimension), dtype=np.float64)
    missing = set(range(count))
    for item in _items(raw):
        index, values = _item(item)
        if index not in missing:
            raise ValueError(f"index {index} of {count} texts comes twice or is none of theirs")
        if len(values) != dimension:
            raise OtherDimension(len(values))
        rows[index] = values
        missing.remove(index)
    if missing:
        raise ValueError(f"vectors for {count - len(missing)} of {count} texts")
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not largest.all():
        raise ValueError("a vector without direction")
    rows /= largest  # or the squares of very large and very small numbers would be lost
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float32] = rows.astype(np.float32)
    return unit


def _items(raw: bytes) -> list[Any]:  # Any: JSON values
    try:
        answer = json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError("not JSON") from error
    items = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(items, list):
        raise ValueError("JSON without a list 'data'")
    return items


def _item(item: Any) -> tuple[int, Sequence[float]]:  # Any: a JSON value
    index = item.get("index") if isinstance(item, dict) else None
    if type(index) is not int:
        raise ValueError("a vector without 'index'")
    values = item.get("embedding")
    if not isinstance(values, list) or not {type(value) for value in values} <= {int, float}:
        raise ValueError("an 'embedding' that is no list of numbers")
    try:
        return index, [float(value) for value in values]
    except OverflowError:
        raise ValueError("an 'embedding' with numbers beyond all measure") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")
