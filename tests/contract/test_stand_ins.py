"""The stand-ins for embedders and rankers obey the contracts of the real ones."""

from pathlib import Path

import pytest

from localdb_core.plugin import Embedder, EmbedderSpec, Ranker, RankerSpec
from localdb_core.testing.embedder import EmbedderContract
from localdb_core.testing.memory import FakeEmbedder, OverlapRanker
from localdb_core.testing.memory_plugin import localdb_embedders, localdb_rankers
from localdb_core.testing.ranker import RankerContract


@pytest.mark.req("L-EMB-17")
class TestFakeEmbedder(EmbedderContract):
    @classmethod
    def spec(cls) -> EmbedderSpec:
        return localdb_embedders()[0]

    @classmethod
    def build(cls, folder: Path) -> Embedder:
        return FakeEmbedder()


class TestOverlapRanker(RankerContract):
    @classmethod
    def spec(cls) -> RankerSpec:
        return localdb_rankers()[0]

    @classmethod
    def build(cls, folder: Path) -> Ranker:
        return OverlapRanker()
