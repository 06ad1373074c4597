"""The published JSON Schema says what the loader does."""

from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict

from localdb_core.config.load import parse_config
from localdb_core.config.scaffold import SCHEMA_NAME, template, write_config
from localdb_core.config.schema import config_schema, schema_text
from localdb_core.domain.errors import InvalidConfig

COMMITTED = Path(__file__).parents[2] / "docs" / "reference" / "config.schema.json"


def accepted(text):
    try:
        parse_config(text)
    except InvalidConfig:
        return False
    return True


@pytest.mark.req("L-CFG-16")
def test_the_committed_schema_is_the_generated_one_byte_for_byte():
    assert COMMITTED.read_bytes() == schema_text().encode(), (
        "localdb internal print-schema > docs/reference/config.schema.json"
    )


@pytest.mark.req("L-CFG-16")
def test_the_schema_is_a_valid_one_and_knows_one_version():
    schema = config_schema()

    Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    assert schema["properties"]["version"] == {"enum": [1]}
    sections = [part for part in schema["$defs"].values() if part["type"] == "object"]
    assert all(part["additionalProperties"] is False for part in sections)


@pytest.mark.req("L-CFG-16")
@pytest.mark.req("L-INV-09")
@pytest.mark.parametrize(
    "text",
    [
        "version: 1",
        "version: 1\n$schema: x\nserver: {port: 0}\nproviders: []",
        "version: 1\nserver:\nproviders:\ndefaults:\n  indexing:\n    parsers:\n",
        "version: 1\nproviders: [{name: a, kind: b, api_key_env: KEY}]",
        "version: 1\nhttp: {user_agent: me/1, rate_limit: {burst: 1}}",
        "version: 1\nplugins: {only: null, pin: {pdf: acme}, config: {acme: {any: [1]}}}",
        "{}",
        "version: 2",
        "version: '1'",
        "version: 1\nsever: {}",
        "version: 1\nserver: {prot: 1}",
        "version: 1\nserver: {port: 65536}",
        "version: 1\nserver: {port: null}",
        "version: 1\nserver: {job_workers: 0}",
        "version: 1\nserver: []",
        "version: 1\npaths: {data: ''}",
        'version: 1\npaths: {data: "a\\0b"}',
        'version: 1\nhttp: {user_agent: " x"}',
        "version: 1\nsearch: {ranker_candidates: 0}",
        "version: 1\nstores: []",
        "version: 1\nsources: []",
        "version: 1\nproviders: [{name: a}]",
        "version: 1\nproviders: [{name: a, kind: b, api_key: hunter2}]",
        "version: 1\nproviders: [{name: a, kind: b, token: hunter2}]",
        "version: 1\nplugins: {config: {acme: 1}}",
    ],
)
def test_the_schema_and_the_loader_agree(text):
    valid = Draft202012Validator(config_schema()).is_valid(yaml.safe_load(text))

    assert valid is accepted(text)


@pytest.mark.req("L-CFG-25")
@pytest.mark.parametrize("installed", [(), ("localdb-chroma", "localdb-whoosh")])
def test_the_generated_file_is_valid_and_names_its_schema_first(installed):
    text = template(installed.__contains__)

    Draft202012Validator(config_schema()).validate(yaml.safe_load(text))
    assert text.splitlines()[0] == f"# yaml-language-server: $schema=./{SCHEMA_NAME}"


def test_the_schema_is_written_beside_a_new_config_only(tmp_path):
    write_config(tmp_path / "new" / "config.yaml")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "config.yaml").touch()
    write_config(tmp_path / "old" / "config.yaml")

    assert (tmp_path / "new" / SCHEMA_NAME).read_text("utf-8") == schema_text()
    assert not (tmp_path / "old" / SCHEMA_NAME).exists()


def test_the_sections_of_plugins_keep_their_own_definitions():
    class Server(BaseModel):
        model_config = ConfigDict(extra="forbid")
        port: int = 1

    class Settings(BaseModel):
        model_config = ConfigDict(extra="forbid")
        server: Server = Server()

    schema = Draft202012Validator(config_schema({"acme": Settings}))

    def is_valid(section):
        return schema.is_valid({"version": 1, "plugins": {"config": {"acme": section}}})

    Draft202012Validator.check_schema(schema.schema)
    assert is_valid({"server": {"port": 2}})
    assert not is_valid({"server": {"port": "x"}})
    assert not is_valid({"sever": {}})
    assert schema.is_valid({"version": 1, "server": {"bind": "::"}})
