"""The light half of the plugin: what it offers, without importing any of it."""

from __future__ import annotations

from collections.abc import Iterable

from localdb_core.plugin import Check, CheckContext, EmbedderSpec, PluginInfo, hookimpl

PLUGIN = PluginInfo(api="1.0", summary="embeds on this computer with ONNX Runtime, offline")


@hookimpl
def localdb_embedders() -> list[EmbedderSpec]:
    """The one embedder; local folders go through it too."""
    return [
        EmbedderSpec(
            name="onnx",
            target="localdb_onnx.embedder:build",
            summary="all-MiniLM-L6-v2 in int8, or a local folder with model.onnx",
            models=("all-minilm-l6-v2",),
            callers=2,
        )
    ]


@hookimpl
def localdb_checks(context: CheckContext) -> Iterable[Check]:
    """Whether the files of the configured model are there."""
    from localdb_onnx.health import checks

    return checks(context)
