"""Any config that the schema allows: read, written out, read again; and what it may change."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from localdb_core.config.load import parse_config
from localdb_core.config.model import Indexing, Section
from localdb_core.config.paths import Paths
from localdb_core.config.schema import config_schema
from localdb_core.domain.ids import policy_version
from localdb_core.services.components import Components

SCHEMA = config_schema()
FEW = settings(max_examples=60, deadline=None)
ANYTHING = st.none() | st.booleans() | st.integers() | st.text(max_size=8)


def allowed(schema):
    """Values of a JSON Schema, as far as the config's schema goes; a new kind of key fails here."""
    if "$ref" in schema:
        return allowed(SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        around = {key: value for key, value in schema.items() if key != "anyOf"}
        return st.one_of([allowed({**around, **part}) for part in schema["anyOf"]])
    if "const" in schema:
        return st.just(schema["const"])
    return KINDS[schema["type"]](schema)


def objects(schema):
    keys = {key: allowed(part) for key, part in schema.get("properties", {}).items()}
    always = {key: keys.pop(key) for key in schema.get("required", ())}
    more = schema.get("additionalProperties", False)
    if more is False:
        return st.fixed_dictionaries(always, optional=keys)
    named = schema.get("propertyNames")
    names = st.sampled_from(named["enum"]) if named else st.text(max_size=5)
    return st.dictionaries(names, ANYTHING if more is True else allowed(more), max_size=3)


def texts(schema):
    if "pattern" in schema:
        return st.from_regex(schema["pattern"], fullmatch=True).filter(
            lambda text: len(text) >= schema.get("minLength", 0) and "\n" not in text
        )
    return st.text(min_size=schema.get("minLength", 0), max_size=8)


KINDS = {
    "object": objects,
    "string": texts,
    "array": lambda schema: st.lists(allowed(schema["items"]), max_size=3),
    "integer": lambda schema: st.integers(schema.get("minimum"), schema.get("maximum")),
    "boolean": lambda schema: st.booleans(),
    "null": lambda schema: st.none(),
}

configs = allowed(SCHEMA["$defs"]["version1"])


@FEW
@given(configs)
def test_a_config_that_is_written_out_again_is_the_same_config(raw):
    config = parse_config(yaml.safe_dump(raw))

    dumped = config.model_dump(mode="json", by_alias=True, exclude_unset=True)
    again = parse_config(yaml.safe_dump(dumped, allow_unicode=True))

    assert again == config
    assert again.model_fields_set == config.model_fields_set


def policy(raw):
    config = parse_config(yaml.safe_dump(raw))
    paths = Paths.of(Path("/etc/localdb/config.yaml"), config)
    return policy_version(Components(config, paths, load_host=nobody).policy())


def nobody():
    raise AssertionError("the policy needs no plugin")


@pytest.mark.req("L-CFG-14")
@FEW
@given(configs)
def test_no_other_section_has_a_say_in_the_policy(raw):
    without = {key: raw[key] for key in ("version", "defaults") if key in raw}

    assert policy(raw) == policy(without)


@pytest.mark.req("L-CFG-14")
def test_what_becomes_of_a_text_has_a_say_in_the_policy_and_which_files_are_read_has_not():
    read = {"max_file_mib"}
    changed = [
        {"parsers": ["markdown"]},
        {"embedding": {"model": "other"}},
        {"embedding": {"provider": "other"}},
        {"chunking": {"preset_overrides": {"prose": "200"}}},
    ]

    policies = {policy({"version": 1, "defaults": {"indexing": indexing}}) for indexing in changed}

    assert len(policies | {policy({"version": 1})}) == len(set(leaves(Indexing)) - read) + 1
    assert policy({"version": 1, "defaults": {"indexing": {"max_file_mib": 7}}}) not in policies


def leaves(section):
    defaults = {
        name: field.get_default(call_default_factory=True)
        for name, field in section.model_fields.items()
    }
    return [
        leaf
        for name, value in defaults.items()
        for leaf in (leaves(type(value)) if isinstance(value, Section) else [name])
    ]
