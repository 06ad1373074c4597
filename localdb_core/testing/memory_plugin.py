"""A plugin of stand-ins: embedder ``fake``, indexes ``memory-*``, ranker ``overlap``."""

from localdb_core.plugin import EmbedderSpec, IndexSpec, PluginInfo, RankerSpec, hookimpl

PLUGIN = PluginInfo(api="1.0", summary="Exact stand-ins for tests")


@hookimpl
def localdb_embedders() -> list[EmbedderSpec]:
    """The fake embedder."""
    return [EmbedderSpec(name="fake", target="localdb_core.testing.memory:FakeEmbedder", callers=2)]


@hookimpl
def localdb_indexes() -> list[IndexSpec]:
    """One index per leg."""
    target = "localdb_core.testing.memory:MemoryIndex"
    return [
        IndexSpec(name="memory-dense", leg="dense", target=target),
        IndexSpec(name="memory-sparse", leg="sparse", target=target),
    ]


@hookimpl
def localdb_rankers() -> list[RankerSpec]:
    """The ranker that counts words."""
    return [RankerSpec(name="overlap", target="localdb_core.testing.memory:OverlapRanker")]
