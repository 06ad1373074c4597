"""The light half: what this plugin offers. Imports nothing but localdb_core.plugin."""

from __future__ import annotations

from localdb_core.plugin import EmbedderSpec, PluginInfo, hookimpl

PLUGIN = PluginInfo(
    api="1.0",
    summary="embeds through a service with an OpenAI-compatible /v1/embeddings",
    config="localdb_http_embedder.config:HttpEmbedderConfig",
)


@hookimpl
def localdb_embedders() -> list[EmbedderSpec]:
    """The one embedder; which models there are is the service's business."""
    return [
        EmbedderSpec(
            name="http-embedder",
            target="localdb_http_embedder.embedder:HttpEmbedder",
            summary="any model of the service that providers[] names",
            needs_network=True,
            # Waiting for a service takes no processor; more would run into its limits.
            callers=4,
        )
    ]
