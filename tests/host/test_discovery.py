"""Installed plugins are found by metadata; who loads is decided on names alone."""

from __future__ import annotations

import json

import pytest

from localdb_core.domain.errors import InvalidConfig, InvalidRequest
from localdb_core.host.discovery import Candidate, discover
from localdb_core.host.gate import judge
from localdb_core.host.host import Host
from localdb_core.host.resolve import resolve_name
from localdb_core.host.selection import PluginSelection


def candidate(name: str, distribution: str) -> Candidate:
    return Candidate(name, distribution, "1.0", f"{name}_module", "/somewhere")


def states(*candidates: Candidate, **inputs) -> dict[str, str]:
    verdicts = judge(candidates, PluginSelection.from_inputs(**inputs))
    return {verdict.candidate.distribution: verdict.state for verdict in verdicts}


def test_discovery_sorts_by_name_and_knows_where_a_plugin_comes_from(site) -> None:
    site.healthy("zeta", version="2.1")
    site.healthy("alpha")
    site.activate()

    found = [c for c in discover() if c.distribution.startswith("test-")]

    assert [(c.name, c.distribution, c.version) for c in found] == [
        ("alpha", "test-alpha", "1.0"),
        ("zeta", "test-zeta", "2.1"),
    ]
    assert {c.location.rstrip("/") for c in found} == {str(site.path)}


def test_the_same_entry_point_twice_on_the_path_counts_once(site, tmp_path, monkeypatch) -> None:
    site.healthy("twice", version="1.0")
    site.activate()
    other = tmp_path / "other"
    folder = other / "Test_Twice-0.9.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: Test_Twice\nVersion: 0.9\n")
    (folder / "entry_points.txt").write_text("[localdb.plugins]\ntwice = elsewhere\n")
    monkeypatch.syspath_prepend(str(other))
    monkeypatch.syspath_prepend(str(site.path))

    assert [c.version for c in discover() if c.name == "twice"] == ["1.0"]


@pytest.mark.parametrize(
    ("metadata", "entry_points"),
    [
        (None, b"[localdb.plugins]\nx = y\n"),
        (b"Version: 1\n\n", b"[localdb.plugins]\nx = y\n"),
        (b"Name: damaged\nVersion: 1\n", b"[localdb.plugins]\n\xff\xfe = y\n"),
        (b"Name: damaged\nVersion: 1\n", b"localdb.plugins\nnonsense"),
    ],
    ids=["no metadata", "no name", "not utf-8", "no section"],
)
def test_damaged_metadata_costs_only_its_own_distribution(
    site, status, metadata, entry_points
) -> None:
    site.healthy("whole")
    folder = site.path / "damaged-1.0.dist-info"
    folder.mkdir()
    if metadata is not None:
        (folder / "METADATA").write_bytes(metadata)
    (folder / "entry_points.txt").write_bytes(entry_points)

    host = site.load(only=("whole",))

    assert status(host, "whole").state == "active"


def test_names_may_be_the_plugins_or_the_distributions() -> None:
    rtf, ini = candidate("rtf", "Acme_RTF"), candidate("ini", "acme-ini")

    assert states(rtf, ini, switches=["no:rtf"]) == {"Acme_RTF": "disabled", "acme-ini": "admitted"}
    assert states(rtf, ini, disable=["acme.rtf"])["Acme_RTF"] == "disabled"
    assert states(rtf, ini, only=["acme-rtf"]) == {"Acme_RTF": "admitted", "acme-ini": "disabled"}
    assert set(states(rtf, ini, no_plugins=True).values()) == {"disabled"}


def test_the_environment_wins_over_the_config() -> None:
    rtf, ini = candidate("rtf", "acme-rtf"), candidate("ini", "acme-ini")

    environ = {"LOCALDB_PLUGINS": " ini , "}
    assert states(rtf, ini, only=["rtf"], environ=environ)["acme-rtf"] == "disabled"
    assert states(rtf, ini, environ={"LOCALDB_PLUGINS": " "})["acme-rtf"] == "admitted"


def test_an_empty_list_in_the_config_admits_nothing() -> None:
    assert states(candidate("rtf", "acme-rtf"), only=[]) == {"acme-rtf": "disabled"}


@pytest.mark.parametrize("name", ["core", "localdb-core", "LocalDB_Core"])
def test_the_built_in_plugin_cannot_be_disabled(name) -> None:
    with pytest.raises(InvalidRequest, match="cannot be disabled"):
        PluginSelection.from_inputs(switches=[f"no:{name}"])
    with pytest.raises(InvalidRequest, match="cannot be disabled"):
        PluginSelection.from_inputs(disable=[name])


@pytest.mark.parametrize("switch", ["pdf", "yes:pdf", "no:", "no: "])
def test_a_switch_nobody_understands_is_a_usage_error(switch) -> None:
    with pytest.raises(InvalidRequest, match="-P no:NAME"):
        PluginSelection.from_inputs(switches=[switch])


def test_a_first_party_distribution_keeps_a_contested_name() -> None:
    ours, dup = candidate("pdf", "localdb-pdf"), candidate("pdf", "dup-pdf")

    assert states(dup, ours) == {"dup-pdf": "ambiguous", "localdb-pdf": "admitted"}


def test_a_name_like_ours_is_not_ours() -> None:
    one, two = candidate("pdf", "localdb-pdf-extra"), candidate("pdf", "dup-pdf")

    assert set(states(one, two).values()) == {"ambiguous"}


def test_of_two_strangers_neither_loads_until_one_is_pinned(site, status) -> None:
    site.healthy("dup", distribution="one-dup")
    site.healthy("dup", distribution="two-dup")

    host = site.load()
    pinned = site.load(pin={"dup": "two-dup"})

    assert [s.state for s in host.statuses if s.name == "dup"] == ["ambiguous", "ambiguous"]
    assert host.registry.parsers == ()
    conflict = host.conflicts[0]
    assert (conflict.kind, conflict.key, conflict.winner) == ("plugin-name", "dup", None)
    assert conflict.losers == ("one-dup", "two-dup")
    assert conflict.remedy == "plugins.pin: {dup: one-dup}"
    assert [(o.distribution) for o in pinned.registry.parsers] == ["two-dup"]
    assert pinned.conflicts == ()


def test_disabling_one_of_two_strangers_settles_it_too() -> None:
    one, two = candidate("dup", "one-dup"), candidate("dup", "two-dup")

    assert states(one, two, switches=["no:one-dup"]) == {
        "one-dup": "disabled",
        "two-dup": "admitted",
    }


def test_a_pin_keeps_the_name_free_for_a_distribution_that_is_not_installed() -> None:
    assert states(candidate("pdf", "localdb-pdf"), pin={"pdf": "acme-pdf"}) == {
        "localdb-pdf": "disabled"
    }


def test_nobody_else_may_be_called_core() -> None:
    assert states(candidate("core", "localdb-core")) == {"localdb-core": "ambiguous"}


def test_a_disabled_plugin_is_not_imported(site, status) -> None:
    site.add("bomb", "raise SystemExit('imported')")

    host = site.load(switches=["no:bomb"])

    assert (status(host, "bomb").state, status(host, "bomb").stage) == ("disabled", "gate")
    assert status(host, "bomb").error == "disabled by the user"


def test_scanning_tells_what_would_be_loaded(site) -> None:
    site.healthy("aaa")
    site.healthy("bbb")
    site.activate()

    selection = PluginSelection.from_inputs(only=["aaa", "bbb"], switches=["no:bbb"])
    host = Host.scan(selection)

    found = {status.name: status.state for status in host.statuses}
    assert (found["core"], found["aaa"], found["bbb"]) == ("found", "found", "disabled")
    assert host.registry.parsers == ()
    with pytest.raises(InvalidConfig, match="plugin bbb is disabled"):
        resolve_name(host.registry, "parser", "bbb")


def test_entry_points_of_other_groups_are_not_ours(site) -> None:
    site.distribution(
        "test-mixed", "1.0", "[console_scripts]\nrun = m:f\n[localdb.plugins]\nmixed = m\n"
    )
    site.activate()

    assert [c.name for c in discover() if c.distribution == "test-mixed"] == ["mixed"]


def test_scanning_imports_no_plugin_and_nothing_heavy(site) -> None:
    module = site.add("bomb", "raise SystemExit('imported')")
    driver = (
        "import sys, json\n"
        "from localdb_core.host.host import Host\n"
        "from localdb_core.host.selection import PluginSelection\n"
        "host = Host.scan(PluginSelection())\n"
        f"heavy = {{'numpy', 'pydantic', 'click', 'mcp', {module!r}}} & set(sys.modules)\n"
        "print(json.dumps([sorted(heavy), {s.name: s.state for s in host.statuses}]))"
    )

    done = site.python("-c", driver)

    heavy, found = json.loads(done.stdout)
    assert heavy == []
    assert found["bomb"] == "found"
    assert found["core"] == "found"


def test_loading_the_host_with_light_plugins_imports_nothing_heavy(site) -> None:
    site.healthy("light")
    driver = (
        "import sys\n"
        "from localdb_core.host.host import Host\n"
        "from localdb_core.host.selection import PluginSelection\n"
        "host = Host.load(PluginSelection(only=frozenset({'light'})))\n"
        "assert 'active' in [s.state for s in host.statuses if s.name == 'light']\n"
        "print(sorted({'numpy', 'pydantic', 'click', 'mcp', 'yaml', 'rich'} & set(sys.modules)))"
    )

    assert site.python("-c", driver).stdout == "[]\n"


@pytest.mark.req("L-CLI-38")
def test_no_load_in_the_real_program_imports_no_plugin(site) -> None:
    site.add("bomb", "open(__file__ + '.imported', 'w').close()")

    listed = site.listed("--no-load")

    assert listed["bomb"]["state"] == "found"
    assert listed["bomb"]["version"] == "1.0"
    assert list(site.path.glob("*.imported")) == []


def test_a_module_handed_over_takes_the_name_from_an_installed_plugin(site, status) -> None:
    site.healthy("taken")
    module = site.healthy("other")
    site.activate()
    import importlib

    selection = PluginSelection(only=frozenset({"taken"}))
    host = Host.load(selection, builtins=False, extra=[("taken", importlib.import_module(module))])

    assert [owned.full_id for owned in host.registry.parsers] == ["taken/other"]
    assert sorted(s.state for s in host.statuses if s.name == "taken") == ["active", "disabled"]


def test_without_plugins_the_built_in_one_is_still_there() -> None:
    host = Host.load(PluginSelection(no_plugins=True))

    assert [status.name for status in host.statuses] == ["core"]
    assert host.statuses[0].state == "active"
    assert {owned.value.name for owned in host.registry.parsers} == {"markdown", "plaintext"}


def test_a_name_is_given_to_one_module_only(site) -> None:
    import json as module

    with pytest.raises(ValueError, match="two plugins are named x"):
        Host.load(
            PluginSelection(no_plugins=True), extra=[("x", module), ("x", module)], builtins=False
        )
