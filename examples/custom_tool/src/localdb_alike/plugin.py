"""The light half: what this plugin offers. Imports nothing but localdb_core.plugin."""

from __future__ import annotations

from localdb_core.plugin import PluginInfo, ResourceSpec, SurfaceSpec, ToolSpec, hookimpl

PLUGIN = PluginInfo(api="1.0", summary="passages like this one, and what a store is about")

_SURFACE = "alike"


@hookimpl
def localdb_surfaces() -> list[SurfaceSpec]:
    """The surface: how an agent begins, and how long an answer may be."""
    return [
        SurfaceSpec(
            name=_SURFACE,
            summary="look around from a passage",
            instructions=(
                "Call summarise_store to see what a store is about, and find_similar with the "
                "resource_id and chunk_id of a passage to find others like it."
            ),
            result_cap=200_000,
        )
    ]


@hookimpl
def localdb_tools() -> list[ToolSpec]:
    """Both tools read only, so they need no start flag."""
    return [
        ToolSpec(
            name="find_similar",
            target="localdb_alike.similar:FindSimilar",
            summary="passages like a given one",
            surface=_SURFACE,
            title="Find similar passages",
            arguments="localdb_alike.similar:SimilarArguments",
            result="localdb_alike.similar:SimilarResult",
            description=(
                "Find passages that say something like a given passage. Use it after a search, to "
                "see whether other documents agree, repeat or contradict. Pass the resource_id and "
                "chunk_id of a hit. Returns passages, best first, without the given one; read "
                "around one of them by calling find_similar or get_chunks with its ids."
            ),
        ),
        ToolSpec(
            name="summarise_store",
            target="localdb_alike.summary:SummariseStore",
            summary="what a store holds",
            surface=_SURFACE,
            title="Summarise a store",
            arguments="localdb_alike.summary:SummaryArguments",
            result="localdb_alike.summary:StoreSummary",
            description=(
                "Say what a store holds, without searching: how many documents and passages, in "
                "which formats and languages, and the longest documents. Use it before choosing a "
                "store. Looks at every document, so it takes a while for a large store."
            ),
        ),
    ]


@hookimpl
def localdb_resources() -> list[ResourceSpec]:
    """The summary again, for hosts that show resources."""
    return [
        ResourceSpec(
            name="store-summary",
            target="localdb_alike.summary:SummaryReader",
            surface=_SURFACE,
            uri_template="alike://store/{name}",
            title="Summary of a store",
            description="What a store holds, as text; the name or the id of the store.",
        )
    ]
