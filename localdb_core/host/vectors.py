"""What an embedder answers, looked at before anything is done with it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from localdb_core.domain.errors import InternalError
from localdb_core.plugin import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]


BINARY: Final = "binary"


def checked(rows: Matrix, count: int, embedder: Embedder) -> Matrix:
    """The vectors, if they are what the card promises; of a binary embedder, their signs.

    Raises InternalError (L-EMB-01, E-3).
    """
    import numpy as np

    card = embedder.card
    found = np.asarray(rows, dtype=np.float32)
    if found.shape != (count, card.dimension):
        raise InternalError(
            f"embedder {card.name} returned shape {found.shape} "
            f"for {count} texts of dimension {card.dimension}"
        )
    lengths = np.linalg.norm(found, axis=1)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise InternalError(f"embedder {card.name} returned a vector without direction")
    return signs(found) if card.encoding == BINARY else np.ascontiguousarray(found)


def signs(vectors: Matrix) -> Matrix:
    """What a bit for each dimension keeps of vectors of shape (n, dimension), as unit vectors.

    The cosine of two of them is ``1 - 2 * hamming / dimension``, so every dense leg
    scores both encodings by one formula (L-SRCH-12).
    """
    import numpy as np

    unit = np.float32(1 / math.sqrt(vectors.shape[1]))
    return np.where(vectors >= 0, unit, -unit)
