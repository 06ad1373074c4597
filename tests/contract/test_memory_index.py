"""The yardstick obeys its own contract."""

import numpy as np

from localdb_core.plugin import Index, IndexContext
from localdb_core.testing.index import DenseIndexContract
from localdb_core.testing.memory import FakeEmbedder, MemoryIndex
from localdb_core.testing.sparse import SparseIndexContract


class TestMemoryIndexDense(DenseIndexContract):
    def build(self, context: IndexContext) -> Index:
        return MemoryIndex(context)


class TestMemoryIndexSparse(SparseIndexContract):
    def build(self, context: IndexContext) -> Index:
        return MemoryIndex(context)


def test_the_fake_embedder_gives_unit_vectors_that_do_not_depend_on_their_neighbours() -> None:
    embedder = FakeEmbedder()
    texts = ["the lease", "", "\ud800 🦓", "lease the"]

    together = embedder.embed(texts, "passage")
    alone = np.concatenate([embedder.embed([text], "query") for text in texts])

    assert np.array_equal(together, alone)
    assert np.allclose(np.linalg.norm(together, axis=1), 1)
    assert np.array_equal(together[0], together[3])
    assert embedder.count_tokens(texts) == [4, 2, 2, 4]
    assert embedder.embed([], "query").shape == (0, 64)
