"""The light module: what this plugin offers."""

from collections.abc import Iterable

from localdb_core.plugin import IndexSpec, PluginInfo, hookimpl

PLUGIN = PluginInfo(api="1.0", summary="Chroma vector index: HNSW in a folder, inside the process")


@hookimpl
def localdb_indexes() -> Iterable[IndexSpec]:
    """The dense index ``chroma/chroma``."""
    return [
        IndexSpec(
            name="chroma",
            leg="dense",
            target="localdb_chroma.index:build",
            summary="approximate nearest neighbours by cosine, embedded Chroma",
        )
    ]
