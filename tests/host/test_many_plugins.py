"""Dozens of odd and broken plugins at once: each fault is its owner's, and all else works."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass

import pytest

from localdb_core.cli.main import main
from localdb_core.cli.state import State

PARSERS = "@hookimpl\ndef localdb_parsers():\n    "
GOOD = "ParserSpec(name='good', target='m:P', suffixes=('.good-{}',))"

# name → (body, state, part of the error, None for nothing wrong)
ODD = {
    # fields and names that nobody has
    "misspelt-field": (
        PARSERS + "return [ParserSpec(name='p', target='m:P', sufixes=('.p',))]",
        "failed",
        "localdb_parsers: TypeError: ParserSpec.__init__() got an unexpected keyword argument "
        "'sufixes'",
    ),
    "missing-field": (
        "@hookimpl\ndef localdb_indexes():\n    return [IndexSpec(name='i', target='m:I')]",
        "failed",
        "missing 1 required keyword-only argument: 'leg'",
    ),
    "misspelt-info": ("PLUGIN = PluginInfo(api='1.0', sumary='x')", "failed", "'sumary'"),
    "unknown-name": ("from localdb_core.plugin import ParserSpecs", "failed", "ParserSpecs"),
    "private-import": (
        "from localdb_core.domain.errors import NoSuchError",
        "failed",
        "cannot import name 'NoSuchError'",
    ),
    "misspelt-hook": ("@hookimpl\ndef localdb_parzers(): return []", "failed", "localdb_parzers"),
    "early-minor": ("PLUGIN = PluginInfo(api='1.999')", "incompatible", "needs plugin API 1.999"),
    "next-major": ("PLUGIN = PluginInfo(api='2.0')", "incompatible", "needs plugin API 2.0"),
    "number-api": ("PLUGIN = PluginInfo(api=1.0)", "failed", "PLUGIN.api is 1.0"),
    # kinds and types that are not asked for
    "wrong-kind": (PARSERS + "return [ToolSpec]", "failed", "is no ParserSpec"),
    "dict-spec": (PARSERS + "return [{'name': 'p'}]", "failed", "{'name': 'p'} is no ParserSpec"),
    "mapping": (PARSERS + "return {'p': 1}", "failed", "returned {'p': 1}"),
    "class-attribute": (
        PARSERS + "return [ParserSpec(name='p', target='m:P', suffixes=['.p'])]",
        "failed",
        "suffixes is ['.p']",
    ),
    "number-name": (PARSERS + "return [ParserSpec(name=7, target='m:P')]", "failed", "name is 7"),
    "tool-target": (
        "@hookimpl\ndef localdb_tools():\n    return [ToolSpec(name='t', target='m:T', surface='s',"
        " title='t', description='d', arguments='nowhere')]",
        "failed",
        "'nowhere' is not written module:attribute",
    ),
    # what is not called as a plain function
    "async-hook": ("@hookimpl\nasync def localdb_parsers(): return []", "failed", "is async"),
    "async-generator": ("@hookimpl\nasync def localdb_parsers(): yield 1", "failed", "is async"),
    "coroutine": (
        "async def later(): return []\n" + PARSERS + "return later()",
        "failed",
        "returned a coroutine",
    ),
    "wrapper": ("@hookimpl(wrapper=True)\ndef localdb_parsers(): yield", "failed", "a wrapper"),
    "class-hook": (
        "class Hooks:\n    @hookimpl\n    def localdb_parsers(self): return []\n"
        "localdb_parsers = Hooks.localdb_parsers",
        "failed",
        "undeclared arguments: self",
    ),
    # exceptions that are odd themselves
    "cancelled": (
        "import asyncio\nraise asyncio.CancelledError('stop')",
        "failed",
        "CancelledError: stop",
    ),
    "base": ("class Odd(BaseException): pass\nraise Odd('base')", "failed", "Odd: base"),
    "unprintable": (
        "class Odd(Exception):\n    def __str__(self): raise RuntimeError('no')\nraise Odd",
        "failed",
        "Odd, which cannot be printed",
    ),
    "verbose": ("raise ValueError('x' * 1_000_000)", "failed", "xxx..."),
    "recursion": ("def f(): return f()\nf()", "failed", "RecursionError"),
    "exits": ("import sys; sys.exit('bye')", "failed", "SystemExit: bye"),
    "repr": (
        "class Odd:\n    def __repr__(self): raise OSError('repr')\n" + PARSERS + "return [Odd()]",
        "failed",
        "localdb_parsers: OSError: repr",
    ),
    "lazy-module": (
        "def __getattr__(name): raise LookupError(name)\ndel PLUGIN",
        "failed",
        "LookupError: PLUGIN",
    ),
    # too much
    "endless": (
        "import itertools\n"
        + PARSERS
        + "return (ParserSpec(name=str(n), target='m:P') for n in itertools.count())",
        "failed",
        "more than 1000 descriptions",
    ),
    "half-way": (
        PARSERS + f"yield {GOOD.format('half')}\n    raise OSError('disk')",
        "failed",
        "localdb_parsers: OSError: disk",
    ),
    "some-good": (PARSERS + f"return [{GOOD.format('some')}, None]", "degraded", "None is no"),
    # odd, and well
    "generator": (PARSERS + f"yield {GOOD.format('generator')}", "active", None),
    "optional": (
        "@hookimpl(optionalhook=True)\ndef localdb_dreams(): return []\n"
        + PARSERS
        + f"return [{GOOD.format('optional')}]",
        "active",
        None,
    ),
    "noisy": (f"print('noise')\n{PARSERS}return [{GOOD.format('noisy')}]", "active", None),
    "deep_name-1": (PARSERS + f"return [{GOOD.format('deep')}]", "active", None),
}

# entry-point names that no plugin may have
NAMES = ("../up", "a/b", "with blank", ".hidden")


@dataclass
class Quiet(State):
    """A state that leaves the descriptors of the test run alone."""

    def guard(self):
        """The streams are in memory already."""


@pytest.fixture
def localdb(site, tmp_path, monkeypatch):
    """The commands of one process in which every odd plugin was loaded, once."""
    for name, (body, *_) in ODD.items():
        site.add(name, body)
    for number, name in enumerate(NAMES):
        module = site.healthy(f"bad{number}", distribution=f"bad-{number}")
        site.distribution(f"named-{number}", "1.0", f"[localdb.plugins]\n{name} = {module}\n")
    site.distribution("gone", "1.0", "[localdb.plugins]\ngone = no_such_module_at_all\n")
    site.healthy("aaa")
    site.healthy("zzz")
    config = tmp_path / "config.yaml"
    config.write_text(f"version: 1\npaths: {{data: {tmp_path / 'data'}}}\n")
    monkeypatch.setenv("LOCALDB_CONFIG", str(config))
    only = [*ODD, *NAMES, *(f"bad{n}" for n in range(len(NAMES))), "gone", "aaa", "zzz"]
    host = site.load(only=tuple(only))

    def run(*arguments):
        state = Quiet(out=io.StringIO(), err=io.StringIO())
        state._host = host
        status = main(list(arguments), state)
        return status, state.out.getvalue(), state.err.getvalue()

    return run


@pytest.mark.req("L-CLI-38")
def test_the_list_is_right_about_each_of_dozens_of_odd_plugins(localdb):
    status, out, err = localdb("plugin", "list", "--json")

    assert status == 0, err
    listed = {plugin["name"]: plugin for plugin in json.loads(out)["plugins"]}
    assert len(ODD) >= 30
    found = {name: listed[name]["state"] for name in ODD}
    assert found == {name: state for name, (_, state, _) in ODD.items()}
    for name, (_, _, reason) in ODD.items():
        error = listed[name]["error"]
        assert (error is None) if reason is None else (reason in error), (name, error)
        assert error is None or (len(error) < 700 and "\n" not in error)
    for name in NAMES:
        assert listed[name]["error"].startswith("the entry point's name may have letters"), name
    assert listed["gone"]["error"] == "No module named 'no_such_module_at_all'"
    assert [listed[name]["state"] for name in ("aaa", "zzz")] == ["active", "active"]


@pytest.mark.req("L-CLI-38")
def test_every_command_about_plugins_works_beside_them(localdb):
    _, table, _ = localdb("plugin", "list")
    names = {line.split("  ")[0] for line in table.splitlines()[1:-1]}
    shown = {name: localdb("plugin", "info", name, "--json") for name in ODD}
    conflicts = localdb("plugin", "conflicts", "--json")

    assert set(ODD) <= names
    for name, (status, out, err) in shown.items():
        (plugin,) = json.loads(out)["plugins"]
        assert (status, plugin["name"], err) == (0, name, "")
        fault = plugin["state"] in ("failed", "degraded")
        assert not fault or plugin["traceback"], f"{name}: whose fault it is cannot be seen"
    assert conflicts == (0, '{\n  "conflicts": []\n}\n', "")
    assert localdb("store", "list", "--json")[0] == 0
    status, out, _ = localdb("plugin", "check", "unprintable")
    assert (status, out.partition(":")[0]) == (1, "fail  plugin unprintable")


def test_damaged_metadata_of_any_distribution_costs_that_distribution_only(site):
    site.distribution("nonsense", "1.0", "[localdb.plugins]\nnonsense\n= = =\n")
    site.distribution("unrelated", "1.0", "[console_scripts]\nnonsense\n")
    site.healthy("aaa")

    listed = site.listed()

    assert listed["aaa"]["state"] == "active"
    assert "nonsense" not in listed


def test_a_healthy_plugin_keeps_its_components_among_them(localdb):
    _, out, _ = localdb("plugin", "info", "aaa", "--json")

    (plugin,) = json.loads(out)["plugins"]
    assert [component["id"] for component in plugin["components"]] == ["aaa/aaa"]
