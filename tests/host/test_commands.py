"""``plugin list`` and ``plugin info`` as a user sees them, and the contract for authors."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from localdb_core.host.firstparty import OFFERS, Offer, install_line
from localdb_core.host.status import PluginStatus, Provided, statuses_table
from localdb_core.testing.plugin import PluginContract

ROOT = Path(__file__).parents[2]


def test_the_table_keeps_its_columns_when_a_failure_is_long() -> None:
    names = [Provided("tool", name) for name in "abcd"]
    statuses = [
        PluginStatus("pdf", "d", "1.0", "active", provides=(Provided("parser", "pdf"),), load_ms=1),
        PluginStatus("rtf", "d", "0.1", "failed", "import", error="No module named " + "x" * 60),
        PluginStatus("old", "d", "0.2", "incompatible", "describe", error="needs plugin API 2.0"),
        PluginStatus("big", "d", "1.0", "active", provides=tuple(names), load_ms=2.25),
        PluginStatus(
            *("acme", "d", "1.0", "degraded", "collect"),
            provides=(Provided("parser", "acme", shadowed=True),),
            error="42 is no ParserSpec",
        ),
    ]

    lines = statuses_table(statuses).splitlines()

    assert lines == [
        "NAME  VERSION  STATE         PROVIDES     LOAD",
        "pdf   1.0      active        parser: pdf  1.0 ms",
        "rtf   0.1      failed        import: No module named " + "x" * 60,
        "old   0.2      incompatible  needs plugin API 2.0",
        "big   1.0      active        4 tools      2.2 ms",
        "acme  1.0      degraded      parser: acme (shadowed); collect: 42 is no ParserSpec",
    ]


@pytest.mark.req("L-CLI-38")
def test_the_list_names_the_environment_and_the_conflicts(site) -> None:
    site.healthy("dup", distribution="one-dup")
    site.healthy("dup", distribution="two-dup")

    done = site.cli("plugin", "list")
    told = site.cli("plugin", "conflicts")

    assert done.returncode == 0
    assert "looked in " in done.stdout
    assert "1 conflict; see: localdb plugin conflicts" in done.stdout
    assert "plugin-name dup: none of one-dup, two-dup (several distributions" in told.stdout
    assert "to change it: plugins.pin: {dup: one-dup}" in told.stdout


def test_what_a_plugin_says_cannot_steer_the_terminal(site) -> None:
    site.add("loud", "raise RuntimeError('no \\x1b[31m')")

    for command in (["list"], ["info", "loud"]):
        done = site.cli("plugin", *command)

        assert "RuntimeError: no \ufffd[31m" in done.stdout
        assert "\x1b" not in done.stdout


def test_a_strict_status_fails_and_does_not_only_mention_the_plugin(site) -> None:
    site.add("loud", "raise RuntimeError('no')")

    folders = dict.fromkeys(("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"), "")
    done = site.cli("status", "--strict-plugins", env={**folders, "HOME": str(site.path)})

    assert done.returncode == 2
    assert "plugin loud is failed: RuntimeError: no" in done.stderr


@pytest.mark.req("L-CLI-38")
def test_the_list_can_be_narrowed_to_a_kind(site) -> None:
    site.healthy("aaa")
    site.add("tools-only", "@hookimpl\ndef localdb_tools(): return []")

    listed = site.listed("--kind", "parser")

    assert "aaa" in listed
    assert "tools-only" not in listed


def test_a_kind_cannot_be_known_without_loading(site) -> None:
    done = site.cli("plugin", "list", "--kind", "parser", "--no-load")

    assert (done.returncode, done.stdout) == (2, "")
    assert "leave out --no-load" in done.stderr


@pytest.mark.req("L-CLI-38")
def test_options_and_environment_choose_the_plugins(site) -> None:
    site.healthy("aaa")
    site.healthy("bbb")

    skipped = site.listed("-P", "no:aaa")
    only = site.listed(env={"LOCALDB_PLUGINS": "test-aaa"})
    none = site.listed("--no-plugins")

    assert (skipped["aaa"]["state"], skipped["bbb"]["state"]) == ("disabled", "active")
    assert (only["aaa"]["state"], only["bbb"]["state"]) == ("active", "disabled")
    assert set(none) == {"core"}


def test_asking_for_a_program_without_core_is_a_usage_error(site) -> None:
    done = site.cli("plugin", "list", "-P", "no:core")

    assert done.returncode == 2
    assert "cannot be disabled" in done.stderr


@pytest.mark.req("L-CLI-38")
def test_info_shows_components_with_their_claims(site) -> None:
    site.healthy("aaa", version="3.2")

    by_name = site.cli("plugin", "info", "aaa")
    by_distribution = site.cli("plugin", "info", "test_aaa")

    assert by_name.stdout == by_distribution.stdout
    for part in (
        *("aaa 3.2 (test-aaa)", "made by a test", "state:     active", str(site.path)),
        *("https://plugins.example", "parser aaa/aaa", "suffixes: .aaa", "runs in: process"),
    ):
        assert part in by_name.stdout


def test_info_shows_every_kind_of_component(site) -> None:
    done = site.cli("plugin", "info", "core", "--json")

    (core,) = json.loads(done.stdout)["plugins"]
    claims = {c["kind"]: c["claims"] for c in core["components"]}
    assert claims["tool"] == {"surface": "core", "effects": "read"}
    assert claims["source"] == {"source kind": "path"}
    assert "blocks" in claims["chunker"]


@pytest.mark.req("L-CLI-38")
def test_info_of_a_failed_plugin_has_the_traceback(site) -> None:
    site.add("bad", "def inner():\n    raise ValueError('deep')\ninner()")

    text = site.cli("plugin", "info", "bad").stdout
    (data,) = json.loads(site.cli("plugin", "info", "bad", "--json").stdout)["plugins"]

    assert "import: ValueError: deep" in text
    assert "line" in data["traceback"]
    assert "in inner" in text
    assert (data["state"], data["location"]) == ("failed", data["location"])


def test_info_of_an_unknown_plugin_is_exit_2_and_lists_the_known_ones(site) -> None:
    done = site.cli("plugin", "info", "nonsense")

    assert (done.returncode, done.stdout) == (2, "")
    assert "no plugin is named 'nonsense'; installed: core" in done.stderr


def test_info_of_a_contested_name_shows_every_claimant(site) -> None:
    site.healthy("dup", distribution="one-dup")
    site.healthy("dup", distribution="two-dup")

    done = site.cli("plugin", "info", "dup")

    assert done.stdout.count("gate: several distributions offer this name") == 2


@pytest.mark.parametrize("folder", sorted((ROOT / "plugins").glob("localdb-*/pyproject.toml")))
def test_our_distributions_stand_in_the_table_with_their_plugin_names(folder) -> None:
    project = tomllib.loads(folder.read_text("utf-8"))["project"]

    offers = {offer.distribution: offer.plugin for offer in OFFERS}
    assert project["name"] in offers
    assert list(project["entry-points"]["localdb.plugins"]) == [offers[project["name"]]]


def test_the_install_line_is_one_that_can_be_typed() -> None:
    assert install_line(Offer("localdb-pdf", "pdf")) == "pip install localdb-pdf"


def contract(site, name: str, body: str) -> PluginContract:
    """The contract over a plugin that is installed now."""
    site.add(name, body)
    site.activate()
    kept = PluginContract()
    kept.plugin = name  # type: ignore[misc]
    return kept


def test_the_contract_holds_for_a_good_plugin(site) -> None:
    site.module("good_heavy", "class Thing: ...")
    kept = contract(
        site,
        "good",
        "@hookimpl\ndef localdb_parsers():"
        " return [ParserSpec(name='good', target='good_heavy:Thing')]",
    )

    for name in dir(kept):
        if name.startswith("test_"):
            getattr(kept, name)()


@pytest.mark.parametrize(
    ("body", "test", "message"),
    [
        ("raise ValueError('no')", "test_the_plugin_loads_without_a_fault", "ValueError: no"),
        ("", "test_the_plugin_loads_without_a_fault", "no hook offers anything"),
        (
            "import click",
            "test_the_light_module_imports_only_core_itself_and_the_standard_library",
            "click",
        ),
        ("print('hello')", "test_loading_prints_nothing_to_standard_output", "hello"),
        (
            "@hookimpl\ndef localdb_parsers(): return [ParserSpec(name='x', target='nowhere:X')]",
            "test_every_target_can_be_imported",
            "nowhere",
        ),
        (
            "import itertools\ncount = itertools.count()\n@hookimpl\ndef localdb_parsers():"
            " return [ParserSpec(name=f'p{next(count)}', target='m:X')]",
            "test_two_loads_in_one_process_agree",
            "p0",
        ),
    ],
)
def test_the_contract_finds_the_fault(site, body, test, message) -> None:
    kept = contract(site, "faulty", body)

    with pytest.raises(AssertionError, match=message):
        getattr(kept, test)()


def test_the_contract_finds_a_settings_model_that_takes_anything(site) -> None:
    site.module(
        "loose_settings",
        "from pydantic import BaseModel\nclass Settings(BaseModel):\n    size: int = 1\n",
    )
    kept = contract(
        site, "loose", "PLUGIN = PluginInfo(api='1.0', config='loose_settings:Settings')"
    )

    with pytest.raises(AssertionError, match="accepts unknown keys"):
        kept.test_the_settings_model_is_strict_and_can_be_documented()


def test_the_contract_says_when_the_plugin_is_not_installed() -> None:
    kept = PluginContract()
    kept.plugin = "absent"  # type: ignore[misc]

    with pytest.raises(AssertionError, match="not installed"):
        kept.test_the_entry_point_is_installed_and_names_a_module()
