"""Secrets stand outside the config: named there, read when a component is built."""

import copy
import logging
import os
import pickle
import sys
from types import ModuleType

import pytest
from pydantic import BaseModel, ConfigDict, SecretStr

from localdb_core.config.load import parse_config
from localdb_core.config.paths import Paths
from localdb_core.config.schema import config_schema
from localdb_core.domain.errors import InvalidConfig
from localdb_core.host.host import Host
from localdb_core.host.selection import PluginSelection
from localdb_core.host.settings import describe_settings
from localdb_core.plugin import EmbedderSpec, PluginInfo, Secret, hookimpl
from localdb_core.services.components import Components
from localdb_core.testing.plugin import inline_secrets

PASSWORD = "hunter2"


class Server(BaseModel):
    model_config = ConfigDict(extra="forbid")
    password: Secret


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")
    token: Secret | None = None
    servers: dict[str, Server] = {}


class Embedder:
    """Knows nothing but how it was built."""

    def __init__(self, context):
        self.provider = context.provider

    def embed(self, texts, role): ...
    def count_tokens(self, texts): ...
    def close(self): ...


@pytest.fixture
def components(monkeypatch, tmp_path):
    """From a config's text to the components of it, a plugin called acme installed."""
    settings = ModuleType("acme_settings")
    settings.Settings, settings.build = Settings, Embedder
    monkeypatch.setitem(sys.modules, "acme_settings", settings)
    plugin = ModuleType("acme_plugin")
    plugin.__file__ = __file__
    plugin.PLUGIN = PluginInfo(api="1.0", config="acme_settings:Settings")
    plugin.localdb_embedders = hookimpl(
        lambda: [EmbedderSpec(name="acme", target="acme_settings:build")],
        specname="localdb_embedders",
    )

    def made(text):
        config = parse_config(f"version: 1\n{text}")
        host = Host.load(PluginSelection(no_plugins=True), extra=[("acme", plugin)])
        return Components(config, Paths.of(tmp_path / "config.yaml", config), lambda: host)

    return made


@pytest.fixture
def secret_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(f"{PASSWORD}\n")
    path.chmod(0o600)
    return path


def refusal(components, section):
    loaded = components(f"plugins: {{config: {{acme: {section}}}}}")
    with pytest.raises(InvalidConfig) as caught:
        loaded.context("acme")
    assert PASSWORD not in repr(caught.value)
    return caught.value.bare


@pytest.mark.req("L-INV-09")
def test_a_secret_comes_from_the_environment_or_a_file(components, secret_file, monkeypatch):
    monkeypatch.setenv("ACME_TOKEN", PASSWORD)

    loaded = components(
        "plugins: {config: {acme: {token: {env: ACME_TOKEN},"
        f" servers: {{a: {{password: {{file: '{secret_file}'}}}}}}}}}}}}"
    )
    config = loaded.context("acme").config

    assert config.token.get_secret_value() == PASSWORD
    assert config.servers["a"].password.get_secret_value() == PASSWORD


@pytest.mark.req("L-INV-09")
@pytest.mark.parametrize(
    ("section", "said"),
    [
        (
            "{token: {env: NO_SUCH_VARIABLE}}",
            "token: the environment variable NO_SUCH_VARIABLE is not set",
        ),
        ("{token: {env: EMPTY}}", "token: the environment variable EMPTY is empty"),
        ("{servers: {a: {password: hunter2}}}", "servers.a.password: write {env: NAME} or"),
        ("{token: hunter2}", "token: write {env: NAME} or {file: PATH}; a secret itself never"),
        ("{token: [hunter2]}", "token: write {env: NAME} or {file: PATH}"),
        ("{token: {env: hunter2, file: x}}", "token: write {env: NAME} or {file: PATH}"),
        ("{token: {value: hunter2}}", "token: write {env: NAME} or {file: PATH}"),
        ("{token: {env: 7}}", "token: write {env: NAME} or {file: PATH}"),
        ("{token: {file: here}}", "token: write the whole path of the file here, or"),
        ('{token: {file: "/a\\0b"}}', "token: the file /a\0b cannot be read: "),
    ],
)
def test_what_is_no_reference_or_leads_nowhere_is_named_by_its_key(
    components, monkeypatch, section, said
):
    monkeypatch.setenv("EMPTY", "  ")

    assert refusal(components, section).startswith(f"plugins.config.acme.{said}")


@pytest.mark.req("L-INV-09")
@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        (None, 0o600, "cannot be read: No such file"),
        (b"hunter2", 0o644, "cannot be read: everybody may read it; chmod 600 "),
        (b"hunter2" * 10_000, 0o600, "cannot be read: it is larger than 64 KiB"),
        (b"hunter2\xff", 0o600, "is not UTF-8 text"),
        (b"hunter2\0", 0o600, "is binary, not text"),
        (b"\n", 0o600, "is empty"),
    ],
)
def test_a_file_that_cannot_hold_a_secret_is_refused(components, tmp_path, content, mode, said):
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
        path.chmod(mode)

    bare = refusal(components, f"{{token: {{file: '{path}'}}}}")

    assert bare.startswith(f"plugins.config.acme.token: the file {path} {said}")


def test_a_pipe_and_a_folder_are_no_secret_files(components, tmp_path):
    os.mkfifo(tmp_path / "pipe", 0o600)

    assert "it is a pipe" in refusal(components, f"{{token: {{file: '{tmp_path / 'pipe'}'}}}}")
    assert "it is a folder" in refusal(components, f"{{token: {{file: '{tmp_path}'}}}}")


def test_only_a_plugin_that_is_used_needs_its_secrets(components):
    loaded = components("plugins: {config: {acme: {token: {env: NO_SUCH_VARIABLE}}}}")

    assert loaded.host.registry.embedders
    with pytest.raises(InvalidConfig, match="NO_SUCH_VARIABLE"):
        loaded.build_embedder("acme", "m")


@pytest.mark.req("L-INV-09")
def test_nothing_that_shows_settings_shows_a_secret(monkeypatch, caplog):
    monkeypatch.setenv("ACME_TOKEN", PASSWORD)
    settings = Settings.model_validate({"token": {"env": "ACME_TOKEN"}})
    logging.getLogger("localdb").warning("%s %r", settings.token, settings)

    shown = [repr(settings), str(settings.token), settings.model_dump_json(), caplog.text]
    shown += [repr(pickle.dumps(settings.token)), repr(vars(settings))]

    assert not [text for text in shown if PASSWORD in text]


def test_settings_with_a_secret_can_be_dumped_and_read_back(monkeypatch):
    """A parser's worker process gets its settings so."""
    monkeypatch.setenv("ACME_TOKEN", PASSWORD)
    settings = Settings.model_validate({"token": {"env": "ACME_TOKEN"}})

    assert Settings.model_validate(settings.model_dump(mode="json")) == settings
    assert Settings.model_validate(settings.model_dump()) == settings
    assert copy.deepcopy(settings) == settings


def test_a_file_that_changed_counts(secret_file):
    secret = Secret.parse({"file": str(secret_file)})
    secret_file.write_text("other")

    assert secret.get_secret_value() == "other"


@pytest.mark.req("L-INV-09")
def test_the_key_of_a_provider_is_read_when_the_embedder_asks_for_it(components, monkeypatch):
    text = (
        "providers: [{name: x, kind: other, api_key_env: A},"
        " {name: y, kind: acme, api_key_env: NO_SUCH_VARIABLE}, {name: z, kind: acme}]"
    )

    keyed = components(text).build_embedder("acme", "m").provider
    keyless = components(text).build_embedder("z", "m").provider

    assert (keyed.name, keyless.name) == ("y", "z")
    assert keyless.api_key is None
    with pytest.raises(InvalidConfig) as caught:
        keyed.api_key.get_secret_value()
    assert caught.value.bare == (
        "providers[1].api_key_env: the environment variable NO_SUCH_VARIABLE is not set"
    )
    monkeypatch.setenv("NO_SUCH_VARIABLE", PASSWORD)
    assert keyed.api_key.get_secret_value() == PASSWORD


@pytest.mark.req("L-INV-09")
def test_a_config_schema_has_no_key_that_holds_a_secret(components, monkeypatch):
    schema = config_schema({"acme": Settings})

    assert inline_secrets(schema) == []
    assert set(schema["$defs"]["Provider"]["properties"]) == {
        "name", "kind", "base_url", "api_key_env"
    }  # fmt: skip


def test_a_model_that_takes_a_secret_itself_is_found_by_the_contract():
    class Inline(BaseModel):
        token: SecretStr

    assert inline_secrets(Inline.model_json_schema()) == ["token"]


def test_a_secret_is_described_without_its_default(components):
    components("")
    info = PluginInfo(api="1.0", config="acme_settings:Settings")

    shown = {setting.key: setting.default for setting in describe_settings("acme", info)}

    assert shown == {"token": "(secret)", "servers": "(secret)"}


@pytest.mark.req("L-INV-09")
@pytest.mark.parametrize("section", [PASSWORD, [PASSWORD]])
def test_a_secret_written_in_place_of_a_section_is_not_repeated(section):
    with pytest.raises(InvalidConfig) as caught:
        parse_config(f"version: 1\nplugins: {{config: {{acme: {section}}}}}")

    assert caught.value.bare == "plugins.config.acme must be a mapping of keys"
