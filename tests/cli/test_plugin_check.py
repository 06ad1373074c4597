"""``plugin check`` and ``plugin conflicts``, within this process."""

from __future__ import annotations

import types

import pytest
import yaml

from localdb_core.host.host import Host
from localdb_core.host.selection import PluginSelection
from localdb_core.plugin import (
    Check,
    ChunkerSpec,
    EmbedderSpec,
    IndexSpec,
    ParserSpec,
    PluginInfo,
    RankerSpec,
    SourceSpec,
    hookimpl,
)
from localdb_core.plugin.hookspecs import LocaldbSpec
from localdb_core.testing import memory_plugin

pytestmark = pytest.mark.req("L-CLI-38")


def module(**members):
    """A light module made of functions and constants."""
    made = types.ModuleType("made_by_a_test")
    made.__file__ = None
    made.PLUGIN = PluginInfo(api="1.0")
    for name, member in members.items():
        setattr(made, name, member)
    return made


def offering(hook, *specs, name=None):
    """A light module with one hook."""

    def answer():
        return list(specs)

    answer.__name__ = hook
    return module(**{hook: hookimpl(answer)})


def loaded(*modules):
    return Host.load(PluginSelection(no_plugins=True), extra=modules)


def checks(ran):
    return [
        (plugin["name"], check["status"], check["message"])
        for plugin in ran.json["plugins"]
        for check in plugin["checks"]
    ]


def settle(here, **config):
    """A config with these sections."""
    here.config.parent.mkdir(parents=True, exist_ok=True)
    here.config.write_text(yaml.safe_dump({"version": 1, **config}))


def test_a_plugin_is_checked_by_its_contract_its_settings_and_itself(here):
    ran = here("plugin", "check", "onnx", "--json")

    said = [message for _, _, message in checks(ran)]
    assert ran.status == 0, ran.out
    assert {status for _, status, _ in checks(ran)} == {"ok"}
    assert "two loads in one process agree" in said
    assert any(message.startswith("the light module imports only core") for message in said)
    assert any("ms CPU" in message for message in said)
    assert "as the plugin wants them" not in said
    assert any("model" in message for message in said), "its own checks were not asked"


def test_a_plugin_that_cannot_be_loaded_is_a_fault_and_nothing_else_is_said(here):
    here.host = loaded(("broken", module(PLUGIN=None)))

    ran = here("plugin", "check", "broken")

    assert ran.status == 1
    assert ran.out.startswith("fail  plugin broken: ")
    assert len(ran.out.splitlines()) == 1


def test_a_name_nobody_has_is_refused(here):
    ran = here("plugin", "check", "rtff")

    assert ran.status == 2
    assert "no plugin is named 'rtff'; installed: core" in ran.err


def test_deep_builds_every_component_of_every_kind(here):
    here.host = loaded(("memory", memory_plugin))

    ran = here("plugin", "check", "memory", "--deep", "--json")
    core = here("plugin", "check", "core", "--deep", "--json")

    built = [
        check["name"]
        for check in ran.json["plugins"][0]["checks"]
        if check["message"] == "can be built"
    ]
    assert built == [
        "embedder memory/fake",
        "index memory/memory-dense",
        "index memory/memory-sparse",
        "ranker memory/overlap",
    ]
    kinds = {check["name"].partition(" ")[0] for check in core.json["plugins"][0]["checks"]}
    assert {"parser", "chunker", "source", "tool"} <= kinds
    assert {status for _, status, _ in checks(core)} == {"ok"}


def test_a_component_that_cannot_be_built_is_a_fault(here):
    here.host = loaded(
        ("odd", offering("localdb_parsers", ParserSpec(name="odd", target="json:JSONDecoder")))
    )

    shallow, deep = (here("plugin", "check", "odd", *more) for more in ([], ["--deep"]))

    assert "can be built" not in shallow.out
    assert deep.status == 1
    assert "fail  parser odd/odd: " in deep.out


def test_deprecated_hooks_and_arguments_that_are_never_filled_are_told(here, monkeypatch):
    options = LocaldbSpec.localdb_rankers.localdb_spec
    told = DeprecationWarning("localdb_rankers goes away in 2.0; use localdb_orderings")
    monkeypatch.setitem(options, "warn_on_impl", told)
    old = offering("localdb_rankers", RankerSpec(name="r", target="m:R"))

    @hookimpl
    def localdb_checks(context=None):
        return [Check.ok("self", "well")]

    old.localdb_checks = localdb_checks
    here.host = loaded(("old", old))

    ran = here("plugin", "check", "old", "--json")

    warned = [message for _, status, message in checks(ran) if status == "warn"]
    assert warned == [
        "localdb_rankers goes away in 2.0; use localdb_orderings",
        "localdb_checks: context has a default, so it is never filled",
    ]
    listed = here("plugin", "list", "--json").json["plugins"]
    assert [p["state"] for p in listed if p["name"] == "old"] == ["active"]


def test_wrong_settings_are_a_fault_of_the_check(here):
    settle(here, plugins={"config": {"office": {"no_such_key": 1}}})

    ran = here("plugin", "check", "office")

    assert ran.status == 1
    assert "plugins.config.office.no_such_key" in ran.out


def rivals():
    """Two plugins that want everything the other one wants."""
    made = []
    for name in ("acme", "bolt"):
        made.append(
            (
                name,
                module(
                    localdb_parsers=_hook(
                        "localdb_parsers",
                        ParserSpec(name=f"{name}-md", target="m:P", suffixes=(".md", ".zz")),
                    ),
                    localdb_embedders=_hook(
                        "localdb_embedders", EmbedderSpec(name="fast", target="m:E")
                    ),
                    localdb_indexes=_hook(
                        "localdb_indexes", IndexSpec(name="tree", target="m:I", leg="dense")
                    ),
                    localdb_rankers=_hook("localdb_rankers", RankerSpec(name="best", target="m:R")),
                    localdb_chunkers=_hook(
                        "localdb_chunkers", ChunkerSpec(name="cut", target="m:C", claims=("text",))
                    ),
                    localdb_sources=_hook(
                        "localdb_sources", SourceSpec(name=name, target="m:S", kind="imap")
                    ),
                ),
            )
        )
    return made


def _hook(name, *specs):
    def answer():
        return list(specs)

    answer.__name__ = name
    return hookimpl(answer)


def test_each_conflict_has_a_winner_a_rule_and_a_line_of_config(here):
    here.host = loaded(*rivals())

    ran = here("plugin", "conflicts", "--json")

    found = {
        (c["kind"], c["key"]): (c["winner"], c["losers"], c["remedy"])
        for c in ran.json["conflicts"]
    }
    assert ran.status == 0
    assert found == {
        ("parser", ".md"): (
            "core/markdown",
            ["acme/acme-md", "bolt/bolt-md"],
            "defaults.indexing.parsers: [acme/acme-md, markdown, plaintext]",
        ),
        ("parser", ".zz"): (
            "acme/acme-md",
            ["bolt/bolt-md"],
            "defaults.indexing.parsers: [markdown, plaintext, bolt/bolt-md]",
        ),
        ("embedder", "fast"): (
            None,
            ["acme/fast", "bolt/fast"],
            "defaults.indexing.embedding.provider: acme/fast",
        ),
        ("index", "tree"): (None, ["acme/tree", "bolt/tree"], "index.dense: acme/tree"),
        ("ranker", "best"): (None, ["acme/best", "bolt/best"], "search.ranker: acme/best"),
        ("chunker", "cut"): (None, ["acme/cut", "bolt/cut"], "plugins.chunkers: [acme/cut]"),
        ("source", "imap"): (None, ["acme/acme", "bolt/bolt"], "plugins.disable: [bolt]"),
    }
    assert all(c["rule"] for c in ran.json["conflicts"])


def test_the_line_of_config_that_is_printed_changes_the_outcome(here):
    """Each line is written into the config as it is printed, and judged again."""
    here.host = loaded(*rivals())
    before = here("plugin", "conflicts", "--json").json["conflicts"]

    for conflict in before:
        key, _, value = conflict["remedy"].partition(": ")
        if key == "plugins.disable":  # who is loaded was decided before; see the host's tests
            continue
        section = yaml.safe_load(value)
        for part in reversed(key.split(".")):
            section = {part: section}
        settle(here, **section)

        after = here("plugin", "conflicts", "--json").json["conflicts"]

        same = [c for c in after if (c["kind"], c["key"]) == (conflict["kind"], conflict["key"])]
        if conflict["kind"] == "parser":
            assert [c["winner"] for c in same] in ([conflict["losers"][0]], [])
        settle(here)


def test_conflicts_are_counted_in_the_list_and_told_in_full_by_their_command(here):
    here.host = loaded(*rivals())

    listed, shown = here("plugin", "list"), here("plugin", "conflicts")
    here.host = loaded(("memory", memory_plugin))
    none = here("plugin", "conflicts")

    assert "7 conflicts; see: localdb plugin conflicts" in listed.out
    assert (
        "embedder fast: none of acme/fast, bolt/fast (nobody has precedence)\n"
        "  to change it: defaults.indexing.embedding.provider: acme/fast\n"
    ) in shown.out
    assert none.out == "no conflicts\n"
