"""The index contract, on Whoosh."""

from localdb_whoosh.index import build

from localdb_core.plugin import Index, IndexContext
from localdb_core.testing.plugin import PluginContract
from localdb_core.testing.sparse import SparseIndexContract


class TestWhooshIndex(SparseIndexContract):
    def build(self, context: IndexContext) -> Index:
        return build(context)


class TestPlugin(PluginContract):
    plugin = "whoosh"
