"""The index contract, on embedded Chroma."""

from localdb_chroma.index import build

from localdb_core.plugin import Index, IndexContext
from localdb_core.testing.index import DenseIndexContract
from localdb_core.testing.plugin import PluginContract


class TestChromaIndex(DenseIndexContract):
    def build(self, context: IndexContext) -> Index:
        return build(context)


class TestPlugin(PluginContract):
    plugin = "chroma"
