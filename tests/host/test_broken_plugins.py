"""A broken plugin costs its own components, is named, and leaves the others alone."""

from __future__ import annotations

import json

import pluggy
import pytest

from localdb_core.domain.errors import InvalidConfig, PluginError
from localdb_core.host.discovery import Candidate
from localdb_core.host.guard import Meter
from localdb_core.host.loader import load
from localdb_core.plugin.hookspecs import LocaldbSpec

GOOD = 'ParserSpec(name="good", target="m:P", suffixes=(".good",))'

# name → (body, state, stage, part of the error)
BROKEN = {
    "raises": ("raise ValueError('no licence')", "failed", "import", "ValueError: no licence"),
    "exits": ("import sys; sys.exit(3)", "failed", "import", "SystemExit: 3"),
    "silent-exit": ("raise SystemExit", "failed", "import", "ends the process (SystemExit)"),
    "lacks": ("import no_such_library", "failed", "import", "No module named 'no_such_library'"),
    "syntax": ("def (:", "failed", "import", "SyntaxError"),
    "no-plugin": ("del PLUGIN", "failed", "describe", "has no PLUGIN"),
    "wrong-plugin": ("PLUGIN = {'api': '1.0'}", "failed", "describe", "PLUGIN is a dict"),
    "vague-api": ("PLUGIN = PluginInfo(api='one')", "failed", "describe", "major.minor"),
    "newer-minor": (
        "PLUGIN = PluginInfo(api='1.99')",
        "incompatible",
        "describe",
        "needs plugin API 1.99, this is 1.",
    ),
    "newer-major": ("PLUGIN = PluginInfo(api='2.0')", "incompatible", "describe", "API 2.0"),
    "unknown-hook": (
        "@hookimpl\ndef localdb_parser(): return []",
        "failed",
        "register",
        "unknown hook localdb_parser",
    ),
    "undeclared": (
        "@hookimpl\ndef localdb_parsers(config): return []",
        "failed",
        "register",
        "undeclared arguments: config",
    ),
    "async-hook": (
        "@hookimpl\nasync def localdb_parsers(): return []",
        "failed",
        "register",
        "localdb_parsers is async",
    ),
    "wrapper": (
        "@hookimpl(wrapper=True)\ndef localdb_parsers(): return (yield)",
        "failed",
        "register",
        "is a wrapper",
    ),
    "old-wrapper": (
        "@hookimpl(hookwrapper=True)\ndef localdb_parsers(): yield",
        "failed",
        "register",
        "is a wrapper",
    ),
    "unmarked": (
        "def localdb_parsers(): return []",
        "failed",
        "register",
        "not marked with @hookimpl",
    ),
    "half-way": (
        f"@hookimpl\ndef localdb_parsers():\n    yield {GOOD}\n    raise OSError('disk')",
        "failed",
        "collect",
        "localdb_parsers: OSError: disk",
    ),
    "hook-exits": (
        "@hookimpl\ndef localdb_parsers(): raise SystemExit(1)",
        "failed",
        "collect",
        "SystemExit: 1",
    ),
    "numbers": (
        "@hookimpl\ndef localdb_parsers(): return [42]",
        "failed",
        "collect",
        "42 is no ParserSpec",
    ),
    "bare-spec": (
        f"@hookimpl\ndef localdb_parsers(): return {GOOD}",
        "failed",
        "collect",
        "returned a bare ParserSpec",
    ),
    "nothing": (
        "@hookimpl\ndef localdb_parsers(): pass",
        "failed",
        "collect",
        "returned None; return a list of ParserSpec",
    ),
    "text": (
        "@hookimpl\ndef localdb_parsers(): return 'pdf'",
        "failed",
        "collect",
        "returned 'pdf'",
    ),
    "coroutine": (
        "async def later(): return []\n@hookimpl\ndef localdb_parsers(): return later()",
        "failed",
        "collect",
        "returned a coroutine",
    ),
    "async-generator": (
        "async def later(): yield 1\n@hookimpl\ndef localdb_parsers(): return later()",
        "failed",
        "collect",
        "async generator",
    ),
    "wrong-kind": (
        "@hookimpl\ndef localdb_parsers(): return [IndexSpec(name='i', target='m:I', leg='dense')]",
        "failed",
        "collect",
        "is no ParserSpec",
    ),
    "wrong-field": (
        "@hookimpl\ndef localdb_parsers():"
        " return [ParserSpec(name='p', target='m:P', suffixes='.p')]",
        "failed",
        "collect",
        "suffixes is '.p'",
    ),
    "wrong-literal": (
        "@hookimpl\ndef localdb_indexes(): return [IndexSpec(name='i', target='m:I', leg='warm')]",
        "failed",
        "collect",
        "leg is 'warm'",
    ),
    "no-colon": (
        "@hookimpl\ndef localdb_parsers(): return [ParserSpec(name='p', target='m.P')]",
        "failed",
        "collect",
        "module:attribute",
    ),
    "upper-suffix": (
        "@hookimpl\ndef localdb_parsers():"
        " return [ParserSpec(name='p', target='m:P', suffixes=('PDF',))]",
        "failed",
        "collect",
        "with its dot",
    ),
    "all-magic": (
        "@hookimpl\ndef localdb_parsers():"
        " return [ParserSpec(name='p', target='m:P', magic=(b'',))]",
        "failed",
        "collect",
        "match everything",
    ),
    "slash": (
        "@hookimpl\ndef localdb_parsers(): return [ParserSpec(name='a/b', target='m:P')]",
        "failed",
        "collect",
        "has no slash",
    ),
    "some-good": (
        f"@hookimpl\ndef localdb_parsers(): return [{GOOD}, 42, {GOOD}]",
        "degraded",
        "collect",
        "42 is no ParserSpec; two ParserSpec are named 'good'",
    ),
    "one-hook-good": (
        f"@hookimpl\ndef localdb_parsers(): return [{GOOD}]\n"
        "@hookimpl\ndef localdb_tools(): return 1 / 0",
        "degraded",
        "collect",
        "localdb_tools: ZeroDivisionError",
    ),
}


@pytest.mark.req("L-CLI-38")
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plugin_is_named_and_the_one_beside_it_works(site, status, name) -> None:
    body, state, stage, reason = BROKEN[name]
    site.healthy("aaa")
    site.add(name, body)
    site.healthy("zzz")

    host = site.load()

    broken = status(host, name)
    assert (broken.state, broken.stage) == (state, stage)
    assert reason in broken.error
    assert "\n" not in broken.error
    assert [status(host, n).state for n in ("aaa", "zzz")] == ["active", "active"]
    expected = {"aaa/aaa", "zzz/zzz"} | ({f"{name}/good"} if state == "degraded" else set())
    assert {owned.full_id for owned in host.registry.parsers} == expected


@pytest.mark.req("L-CLI-38")
def test_the_real_program_lists_every_broken_plugin_and_nothing_else_on_stdout(site) -> None:
    for name, (body, *_) in BROKEN.items():
        site.add(name, "print('printed at import')\nimport os; os.write(1, b'raw')\n" + body)
    site.healthy("aaa")

    listed = site.listed()

    found = {name: (listed[name]["state"], listed[name]["stage"]) for name in BROKEN}
    assert found == {name: (state, stage) for name, (_, state, stage, _) in BROKEN.items()}
    assert listed["aaa"]["state"] == "active"
    assert listed["aaa"]["provides"] == ["parser: aaa"]
    assert set(listed["aaa"]) == {
        *("name", "distribution", "version", "state"),
        *("stage", "provides", "error", "load_ms"),
    }


@pytest.mark.req("L-CLI-38")
def test_what_plugins_print_goes_to_stderr(site) -> None:
    site.add(
        "noisy",
        """
        import os, sys, subprocess
        print("from print")
        os.write(1, b"from write\\n")
        subprocess.run([sys.executable, "-c", "print('from a child')"])

        @hookimpl
        def localdb_parsers():
            print("from a hook")
            return []
        """,
    )

    done = site.cli("plugin", "list", "--json")

    assert {p["name"] for p in json.loads(done.stdout)["plugins"]} >= {"noisy", "core"}
    for line in ("from print", "from write", "from a child", "from a hook"):
        assert line in done.stderr


def test_a_slow_import_is_announced_with_the_way_to_skip_it(site) -> None:
    site.add("slow", "import time; time.sleep(0.6)")
    driver = (
        "from localdb_core.host.host import Host\n"
        "from localdb_core.host.selection import PluginSelection\n"
        "s = PluginSelection(only=frozenset({'slow'}))\n"
        "host = Host.load(s, builtins=False, notice_after=0.05)\n"
        "print([status.name for status in host.statuses if status.state == 'active'])"
    )

    done = site.python("-c", driver)

    assert done.stdout == "['slow']\n"
    assert done.stderr == "still loading plugin slow; skip it with -P no:slow\n"


def test_a_quick_import_is_not_announced(site, capfd) -> None:
    site.healthy("quick")

    site.load()

    assert capfd.readouterr() == ("", "")


def test_a_generator_hook_is_welcome(site, status) -> None:
    site.add("lazy", f"@hookimpl\ndef localdb_parsers():\n    yield {GOOD}")

    host = site.load()

    assert status(host, "lazy").state == "active"
    assert [owned.full_id for owned in host.registry.parsers] == ["lazy/good"]


def test_a_hook_for_a_newer_minor_may_be_optional(site, status) -> None:
    site.add("early", "@hookimpl(optionalhook=True)\ndef localdb_dreams(): return []")

    assert status(site.load(), "early").state == "active"


def test_an_argument_with_a_default_is_left_alone(site, status) -> None:
    site.add("default", "@hookimpl\ndef localdb_parsers(extra=None): return []")

    assert status(site.load(), "default").state == "active"


@pytest.mark.parametrize("passing", ["KeyboardInterrupt", "MemoryError"])
def test_what_is_not_about_the_plugin_passes_through(site, passing) -> None:
    site.add("passing", f"raise {passing}")

    with pytest.raises((KeyboardInterrupt, MemoryError)):
        site.load()


def test_the_traceback_begins_in_the_plugin(site, status) -> None:
    module = site.add("deep", "def inner():\n    raise ValueError('deep down')\ninner()")

    trace = status(site.load(), "deep").traceback

    first = trace.splitlines()[1]
    assert f"{module}.py" in first
    assert "host" not in trace
    assert "ValueError: deep down" in trace


def test_an_entry_point_that_names_an_attribute_is_refused(site, status) -> None:
    site.add("attribute", value="test_attribute_attribute:PLUGIN")

    broken = status(site.load(), "attribute")

    assert broken.state == "failed"
    assert "must name a module" in broken.error


def test_one_module_cannot_be_two_plugins(site, status) -> None:
    module = site.healthy("first")
    site.distribution("test-twin", "1.0", f"[localdb.plugins]\nsecond = {module}\n")

    host = site.load()

    assert status(host, "first").state == "active"
    assert (status(host, "second").state, status(host, "second").stage) == ("failed", "register")
    assert [owned.full_id for owned in host.registry.parsers] == ["first/first"]


def test_a_manager_that_gives_up_half_way_keeps_nothing(site) -> None:
    """As pluggy 1.6 does when it finds a fault after the first hooks of a plugin."""

    class HalfWay(pluggy.PluginManager):
        def register(self, plugin, name=None):
            super().register(plugin, name)
            raise pluggy.PluginValidationError(plugin, "found late")

    module = site.healthy("half")
    site.activate()
    manager = HalfWay("localdb")
    manager.add_hookspecs(LocaldbSpec)

    with pytest.raises(PluginError, match="register: PluginValidationError: found late"):
        load(manager, Candidate("half", "test-half", "1.0", module, ""), meter=Meter())

    assert manager.get_plugins() == set()
    assert manager.hook.localdb_parsers.get_hookimpls() == []


def test_strict_mode_turns_a_broken_plugin_into_an_error(site) -> None:
    site.add("raises", "raise ValueError('no licence')")

    site.load().enforce()
    with pytest.raises(InvalidConfig, match="plugin raises is failed: ValueError: no licence"):
        site.load(strict=True).enforce()
