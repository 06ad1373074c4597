"""What an embedder answers, looked at before anything is done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localdb_core.domain.errors import InternalError
from localdb_core.plugin import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]


def checked(rows: Matrix, count: int, embedder: Embedder) -> Matrix:
    """The vectors, if they are what the card promises. Raises InternalError (L-EMB-01, E-3)."""
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
    return np.ascontiguousarray(found)
