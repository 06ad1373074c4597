"""The protobuf wire format: as much of it as ONNX files need.

Only three of its value kinds occur: varints, 32-bit values and byte strings. A
message is written by joining fields and read as a stream of (number, value).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

Buffer = memoryview | bytes
Value = int | float | memoryview

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """The bytes are not a protobuf message."""


def varint(value: int) -> bytes:
    """A non-negative number, or a negative 64-bit one in two's complement."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    """An integer field."""
    return varint(field << 3 | _VARINT) + varint(value)


def real(field: int, value: float) -> bytes:
    """A 32-bit float field."""
    return varint(field << 3 | _FIXED32) + struct.pack("<f", value)


def data(field: int, value: bytes | str) -> bytes:
    """A string, bytes or nested message field."""
    raw = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | _BYTES) + varint(len(raw)) + raw


def fields(message: Buffer) -> Iterator[tuple[int, Value]]:
    """Every field of a message, in order, without copying byte strings.

    Raises:
        WireError: the message is cut off or uses a kind that ONNX does not.
    """
    view = memoryview(message)
    position = 0
    while position < len(view):
        key, position = _varint_at(view, position)
        value: Value
        if key & 7 == _VARINT:
            value, position = _varint_at(view, position)
        else:
            size, position = _size_at(view, position, kind=key & 7)
            raw = view[position : position + size]
            position += size
            if len(raw) < size:
                raise WireError("the message is cut off")
            value = raw if key & 7 == _BYTES else _real(raw)
        yield key >> 3, value


def integers(value: Value) -> list[int]:
    """A repeated integer field's values: one, or a packed run.

    Raises:
        WireError: the field holds something else.
    """
    if isinstance(value, float):
        raise WireError("a real number stands where integers should")
    if isinstance(value, int):
        return [value]
    found = []
    position = 0
    while position < len(value):
        item, position = _varint_at(value, position)
        found.append(item)
    return found


def _real(raw: memoryview) -> float:
    return float(struct.unpack("<f" if len(raw) == 4 else "<d", raw)[0])


def _size_at(view: memoryview, position: int, *, kind: int) -> tuple[int, int]:
    if kind == _BYTES:
        return _varint_at(view, position)
    if kind == _FIXED32:
        return 4, position
    if kind == _FIXED64:
        return 8, position
    raise WireError(f"unknown wire type {kind}")


def _varint_at(view: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(view) or shift > 63:
            raise WireError("the message is cut off inside a number")
        byte = view[position]
        value |= (byte & 0x7F) << shift
        position += 1
        shift += 7
        if byte < 0x80:
            return value, position
