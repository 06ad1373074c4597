"""How a vector lies in the catalog: float32, or one bit for each dimension (L-STO-08)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from localdb_core.host.vectors import BINARY, signs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]


def pack(vector: Matrix, encoding: str) -> bytes:
    """The stored form of one vector.

    Binary: a bit is 1 where the value is at least 0, dimension 0 in the most
    significant bit of the first byte; the last byte is filled up with zeros.
    """
    import numpy as np

    if encoding == BINARY:
        return np.packbits(vector >= 0).tobytes()
    return vector.astype("<f4").tobytes()


def unpack(blobs: Sequence[bytes], *, dimension: int, encoding: str) -> Matrix:
    """Stored vectors as float32, shape (len(blobs), dimension).

    Bits come back as :func:`signs`.
    """
    import numpy as np

    joined = b"".join(blobs)
    if encoding != BINARY:
        return np.frombuffer(joined, dtype="<f4").reshape(len(blobs), dimension)
    packed = np.frombuffer(joined, dtype=np.uint8).reshape(len(blobs), -(-dimension // 8))
    bits = np.unpackbits(packed, axis=1, count=dimension)
    return signs(np.where(bits, np.float32(1), np.float32(-1)))
