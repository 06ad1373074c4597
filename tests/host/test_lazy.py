"""The heavy half: imported when needed, remembered, its faults named."""

from __future__ import annotations

from pathlib import Path

import pytest

from localdb_core.domain.errors import InvalidConfig, ModelMissing, PluginError
from localdb_core.host.lazy import METHODS, attribute, build
from localdb_core.host.owned import Owned
from localdb_core.host.settings import describe_settings
from localdb_core.plugin import (
    Chunker,
    Embedder,
    Index,
    Parser,
    ParserSpec,
    PluginContext,
    Ranker,
    ResourceReader,
    SourceKind,
    Tool,
)

HEAVY = """
import sys
from localdb_core.domain import ModelMissing
COUNT = []

class Thing:
    def __init__(self, context):
        COUNT.append(context.plugin)
    def parse(self, path, probe, progress): ...

class Outer:
    Inner = Thing

def raises(context): raise ValueError("no model")
def exits(context): sys.exit(4)
def nothing(context): return None
def number(context): return 42
async def later(context): return Thing(context)
def means_it(context): raise ModelMissing("run localdb init")
value = 7
"""


def owned(target: str) -> Owned[ParserSpec]:
    return Owned("acme", "acme-rtf", "2.0", ParserSpec(name="rtf", target=target))


@pytest.fixture
def heavy(site) -> str:
    """A module with targets of every sort; its name is unique, since targets are remembered."""
    name = f"heavy_{abs(hash(site.path))}"
    site.module(name, HEAVY)
    site.activate()
    return name


@pytest.mark.parametrize("target", ["Thing", "Outer.Inner"])
def test_a_target_is_called_with_the_context(heavy, target) -> None:
    thing = build(owned(f"{heavy}:{target}"), PluginContext("acme"))

    assert type(thing).__name__ == "Thing"


@pytest.mark.parametrize(
    ("target", "stage", "reason"),
    [
        ("raises", "build", "ValueError: no model"),
        ("exits", "build", "ends the process (SystemExit: 4)"),
        ("nothing", "build", "made a NoneType without parse"),
        ("number", "build", "made a int without parse"),
        ("later", "build", "is async"),
        ("value", "build", "TypeError"),
        ("absent", "import", "does not exist"),
        ("Outer.absent", "import", "does not exist"),
    ],
)
def test_a_component_that_cannot_be_built_is_named(heavy, target, stage, reason) -> None:
    with pytest.raises(PluginError) as caught:
        build(owned(f"{heavy}:{target}"), PluginContext("acme"))

    error = caught.value
    assert (error.plugin, error.stage, error.component) == ("acme", stage, "acme/rtf")
    assert error.distribution == "acme-rtf 2.0"
    assert reason in error.reason


def test_a_module_that_is_missing_is_named_every_time(site) -> None:
    for _ in range(2):
        with pytest.raises(PluginError, match="acme/rtf .*import: No module named 'no_such'"):
            build(owned("no_such.module:Thing"), PluginContext("acme"))


def test_a_failed_import_is_not_tried_again(site) -> None:
    counter = site.path / "count"
    site.module(
        "failing_heavy",
        f"""
        with open({str(counter)!r}, "a") as file: file.write("x")
        raise ImportError("native library missing")
        """,
    )
    site.activate()

    for _ in range(3):
        with pytest.raises(PluginError, match="native library missing"):
            attribute("failing_heavy:Thing", plugin="acme")

    assert counter.read_text() == "x"


def test_an_error_the_plugin_means_passes_as_it_is(heavy) -> None:
    with pytest.raises(ModelMissing, match="run localdb init"):
        build(owned(f"{heavy}:means_it"), PluginContext("acme"))


def test_the_required_methods_are_those_of_the_protocols() -> None:
    protocols = [Parser, Embedder, Index, Ranker, Tool, ResourceReader, SourceKind, Chunker]

    for methods, protocol in zip(METHODS.values(), protocols, strict=True):
        public = {name for name in vars(protocol) if not name.startswith("_")}
        assert set(methods) == public - {"card"}  # a property that may read the whole model


def test_a_context_has_folders_and_a_log_of_its_own(site) -> None:
    site.healthy("rtf")
    host = site.load()

    context = host.context("rtf", data_dir=Path("data"), cache_dir=Path("cache"), config=1)

    assert context.data_dir == Path("data/plugins/rtf")
    assert context.cache_dir == Path("cache/plugins/rtf")
    assert (context.log.name, context.config) == ("localdb.plugin.rtf", 1)


MODEL = """
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

class Login(BaseModel):
    password: SecretStr = SecretStr("hunter2")

class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: int = Field(16, description="how big")
    name: str | None = None
    token: str = "t0psecret"
    key_env: str = "MY_KEY"
    login: Login = Login()
    word: SecretStr | None = SecretStr("hunter3")

    @field_validator("name")
    @classmethod
    def _known(cls, value):
        if value == "bug": raise RuntimeError("validator bug")
        if value == "bad": raise ValueError("Bad name")
        return value
"""


def with_settings(site, name: str, model: str | None) -> object:
    """A host with one plugin whose settings model is this one."""
    if model is not None:
        site.module(f"{name}_settings", model)
    site.add(name, f"PLUGIN = PluginInfo(api='1.0', config='{name}_settings:Settings')")
    return site.load()


def test_a_section_becomes_the_plugins_own_model(site) -> None:
    host = with_settings(site, "conf_a", MODEL)

    assert host.settings("conf_a", {"size": 3}).size == 3
    assert host.settings("conf_a", None).size == 16


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"size": "t0p"}, "plugins.config.conf_b.size: input should be a valid integer"),
        ({"sise": 1}, "plugins.config.conf_b.sise: extra inputs are not permitted"),
        ({"name": "bad"}, "plugins.config.conf_b.name: bad name"),
        ({"login": {"password": ["t0p"]}}, "plugins.config.conf_b.login.password: "),
    ],
)
def test_a_wrong_setting_is_named_by_its_path_and_its_value_is_not_shown(
    site, section, message
) -> None:
    host = with_settings(site, "conf_b", MODEL)

    with pytest.raises(InvalidConfig) as caught:
        host.settings("conf_b", section)

    assert message in str(caught.value)
    assert "t0p" not in str(caught.value)
    assert caught.value.exit_status == 2


@pytest.mark.parametrize(
    ("name", "model", "reason"),
    [
        ("conf_c", None, "No module named 'conf_c_settings'"),
        ("conf_d", "Settings = 3", "is no pydantic model"),
        ("conf_e", "import sys; sys.exit()", "ends the process"),
    ],
)
def test_a_broken_settings_model_is_the_plugins_fault(site, name, model, reason) -> None:
    host = with_settings(site, name, model)

    with pytest.raises(PluginError, match=reason):
        host.settings(name, {})


def test_a_validator_that_crashes_is_the_plugins_fault(site) -> None:
    host = with_settings(site, "conf_f", MODEL)

    with pytest.raises(PluginError, match="configure: RuntimeError: validator bug"):
        host.settings("conf_f", {"name": "bug"})


def test_a_plugin_without_settings_takes_none(site) -> None:
    site.healthy("plain")
    host = site.load()

    assert host.settings("plain", {}) is None
    assert host.settings("absent", {"x": 1}) is None
    with pytest.raises(InvalidConfig, match="plugins.config.plain: this plugin has no settings"):
        host.settings("plain", {"x": 1})


def test_settings_are_described_with_their_types_and_defaults(site) -> None:
    host = with_settings(site, "conf_i", MODEL + "    needed: int\n")

    described = {
        s.key: (s.type, s.default) for s in describe_settings("conf_i", host.infos["conf_i"])
    }

    assert described == {
        "size": ("integer", "16"),
        "name": ("string or null", "None"),
        "token": ("string", "(secret)"),
        "key_env": ("string", "'MY_KEY'"),
        "login": ("object", "(secret)"),
        "word": ("string or null", "(secret)"),
        "needed": ("integer", "(required)"),
    }


@pytest.mark.req("L-CLI-38")
def test_info_shows_settings_but_never_a_secret(site) -> None:
    site.module("conf_g_settings", MODEL)
    site.add("conf_g", "PLUGIN = PluginInfo(api='1.0', config='conf_g_settings:Settings')")

    text = site.cli("plugin", "info", "conf_g").stdout
    data = site.cli("plugin", "info", "conf_g", "--json").stdout

    for shown in ("size  integer  16  how big", "key_env  string  'MY_KEY'", "token"):
        assert shown in text
    for secret in ("t0psecret", "hunter2", "hunter3"):
        assert secret not in text + data


@pytest.mark.req("L-CLI-38")
def test_info_reports_a_broken_settings_model(site) -> None:
    site.add("conf_h", "PLUGIN = PluginInfo(api='1.0', config='conf_h_settings:Settings')")

    done = site.cli("plugin", "info", "conf_h")

    assert done.returncode == 0
    assert "settings model: No module named 'conf_h_settings'" in done.stdout
