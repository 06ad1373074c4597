"""What core offers through its own plugin API."""

from __future__ import annotations

import importlib

from localdb_core.builtin import plugin
from localdb_core.domain import BlockKind
from localdb_core.plugin import PluginContext


def test_every_component_can_be_built() -> None:
    specs = [
        *plugin.localdb_parsers(),
        *plugin.localdb_chunkers(),
        *plugin.localdb_sources(),
    ]

    for spec in specs:
        module, _, attribute = spec.target.partition(":")
        component = getattr(importlib.import_module(module), attribute)
        assert component(PluginContext(plugin="core")) is not None


def test_every_block_kind_is_claimed() -> None:
    claimed = {kind for spec in plugin.localdb_chunkers() for kind in spec.claims}

    assert claimed == set(BlockKind)


def test_names_are_unique_and_suffixes_have_one_owner() -> None:
    parsers = list(plugin.localdb_parsers())
    suffixes = [suffix for spec in parsers for suffix in spec.suffixes]

    assert len(suffixes) == len(set(suffixes))
    assert all(suffix.startswith(".") for suffix in suffixes)
    assert {spec.name for spec in parsers} == {"markdown", "plaintext"}
    assert len({tool.name for tool in plugin.localdb_tools()}) == len(tuple(plugin.localdb_tools()))
