"""The public plugin API changes together with its version, and older plugins still load."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from localdb_core.host import loader
from localdb_core.host.host import Host
from localdb_core.host.kinds import KINDS
from localdb_core.host.selection import PluginSelection


def _load(path):
    spec = importlib.util.spec_from_file_location("localdb_api_surface", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


api = _load(Path(__file__).with_name("api.py"))
WRITTEN = json.loads(api.FILE.read_text("utf-8"))


def test_the_public_api_is_the_one_that_was_written_down():
    wrong = api.faults(api.surface(), WRITTEN)

    assert not wrong, f"{wrong}; then: python tests/contract/api.py --write"


def changed():
    found = api.surface()
    found["hooks"]["localdb_dreams"] = "(self) -> 'Iterable[DreamSpec]'"
    return found


def test_a_change_fails_until_file_and_version_change_together(monkeypatch):
    found = changed()

    with pytest.raises(ValueError, match="raise API_VERSION"):
        api.renewed(found, WRITTEN)
    by_hand = {"versions": WRITTEN["versions"], "surface": found}
    assert api.faults(found, WRITTEN)
    assert api.faults(found, by_hand), "the surface alone was edited"

    major, minor = map(int, api.VERSION.split("."))
    monkeypatch.setattr(api, "VERSION", f"{major}.{minor + 1}")
    assert api.faults(found, WRITTEN), "the version alone was raised"
    renewed = api.renewed(found, WRITTEN)
    assert api.faults(found, renewed) == []
    assert renewed["versions"].items() > WRITTEN["versions"].items()


def test_every_public_class_says_what_it_has():
    surface = api.surface()["localdb_core.plugin"]

    assert surface["ParserSpec"]["fields"]["suffixes"] == "tuple[str, ...] = ()"
    assert surface["Parser"]["members"]["parse"].startswith("(self, path: 'Path', probe: 'Probe'")
    assert "at 0x" not in json.dumps(api.surface())


OLD = '''
"""A plugin as it was written for API 1.0; it must load for as long as the major is 1."""

from localdb_core.plugin import (
    Check, ChunkerSpec, EmbedderSpec, IndexSpec, ParserSpec, PluginInfo, RankerSpec, ResourceSpec,
    SourceSpec, SurfaceFlag, SurfaceSpec, ToolSpec, hookimpl,
)

PLUGIN = PluginInfo(api="1.0", summary="old", config=None, migrations=None, homepage=None)


@hookimpl
def localdb_parsers():
    return [ParserSpec(
        name="old", target="m:P", summary="", media_types=("text/x-old",), suffixes=(".old",),
        filenames=("Oldfile",), magic=(b"OLD",), version="3", runs="thread", stall_limit=1.0,
        total_limit=2, memory_limit=None,
    )]


@hookimpl
def localdb_embedders():
    return [EmbedderSpec(
        name="old", target="m:E", models=("old-*",), encoding="binary", uses_context=True,
        needs_network=True, callers=2, group="old",
    )]


@hookimpl
def localdb_indexes():
    return [IndexSpec(
        name="old", target="m:I", leg="sparse", encodings=("float32",), persistent=False
    )]


@hookimpl
def localdb_rankers():
    return [RankerSpec(name="old", target="m:R", top=5, needs_network=False)]


@hookimpl
def localdb_tools():
    return [ToolSpec(
        name="old", target="m:T", surface="old", title="Old", description="As before.",
        arguments="m:A", result="m:R", effects="read", idempotent=True, open_world=True,
        flag="allow-old",
    )]


@hookimpl
def localdb_surfaces():
    return [SurfaceSpec(
        name="old", instructions="As before.", argument_errors="protocol",
        protocols=("2026-07-28",), flags=(SurfaceFlag("allow-old", help="old"),), result_cap=1000,
    )]


@hookimpl
def localdb_resources():
    return [ResourceSpec(
        name="old", target="m:R", surface="old", uri_template="old://{day}", title="Old",
        description="As before.", media_type="text/plain",
    )]


@hookimpl
def localdb_sources():
    return [SourceSpec(name="old", target="m:S", kind="old", can_observe_all=False)]


@hookimpl
def localdb_chunkers():
    return [ChunkerSpec(
        name="old", target="m:C", claims=("text",), presets=("code",), scope="document", version="2"
    )]


@hookimpl
def localdb_checks(context):
    return [Check.ok("old", context.model)]
'''


def load_old(source):
    module = type(json)("old_plugin")
    module.__file__ = None
    exec(compile(source, "old_plugin.py", "exec"), vars(module))
    host = Host.load(PluginSelection(no_plugins=True), builtins=False, extra=[("old", module)])
    return host.statuses[0]


@pytest.mark.parametrize("minor", [None, 1, 7])
def test_a_plugin_written_for_1_0_loads_in_every_later_minor(monkeypatch, minor):
    if minor is not None:
        monkeypatch.setattr(loader, "API_VERSION", (1, minor))

    status = load_old(OLD)

    assert (status.state, status.error, status.advice) == ("active", None, ())
    assert sorted(provided.kind for provided in status.provides) == sorted(KINDS)


@pytest.mark.parametrize(
    ("needed", "here"), [("1.4", (1, 3)), ("2.0", (1, 9)), ("1.9", (2, 0)), ("1.10", (1, 9))]
)
def test_a_plugin_that_needs_another_api_is_incompatible_in_one_clear_line(
    monkeypatch, needed, here
):
    monkeypatch.setattr(loader, "API_VERSION", here)

    status = load_old(OLD.replace('api="1.0"', f'api="{needed}"'))

    assert (status.state, status.stage) == ("incompatible", "describe")
    assert status.error == f"needs plugin API {needed}, this is {here[0]}.{here[1]}"
