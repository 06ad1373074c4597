"""The light module: what this plugin offers."""

from collections.abc import Iterable

from localdb_core.plugin import IndexSpec, PluginInfo, hookimpl

PLUGIN = PluginInfo(
    api="1.0",
    summary="Whoosh keyword index: BM25 in pure Python, stemming by language",
    config="localdb_whoosh.config:WhooshConfig",
)


@hookimpl
def localdb_indexes() -> Iterable[IndexSpec]:
    """The sparse index ``whoosh/whoosh``."""
    return [
        IndexSpec(
            name="whoosh",
            leg="sparse",
            target="localdb_whoosh.index:build",
            summary="BM25 in a folder of files, no compiled code",
        )
    ]
