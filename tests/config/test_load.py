"""Every fault of a config file is named by its key or its line."""

import os

import pytest

from localdb_core.config.load import load_config, parse_config
from localdb_core.config.model import Config
from localdb_core.domain.errors import InvalidConfig

OVERRIDES_KEY = "defaults.indexing.chunking.preset_overrides"
OVERRIDES = "version: 1\ndefaults: {indexing: {chunking: {preset_overrides: {"


@pytest.mark.req("L-CFG-11")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("server: {}", "version is missing; add the line: version: 1"),
        ("version: 2", "version must be 1, not 2"),
        ("version: true", "version must be a whole number, not true"),
        ("version: '1'", "version must be a whole number, not '1'"),
        ("version: 1\nserver: {job_workers: 0}", "server.job_workers must be greater than zero"),
        ("version: 1\nserver: {port: 65536}", "server.port must be at most 65535"),
        ("version: 1\nserver: {port: -1}", "server.port must be at least 0"),
        ("version: 1\nserver: {port: on}", "server.port must be a whole number, not true"),
        ("version: 1\nserver: {port: }", "server.port must be a whole number, not nothing"),
        ("version: 1\nserver: 7", "server must be a mapping of keys, not 7"),
        ("version: 1\nserver: {bind: ''}", "server.bind must not be empty"),
        ('version: 1\npaths: {data: "a\\0b"}', "paths.data must not contain a NUL character"),
        ("version: 1\npaths: {data: 7}", "paths.data must be text, not 7"),
        (
            "version: 1\ndefaults: {indexing: {parsers: pdf}}",
            "defaults.indexing.parsers must be a list, not 'pdf'",
        ),
        (
            "version: 1\ndefaults: {indexing: {parsers: [pdf, no]}}",
            "defaults.indexing.parsers[1] must be text, not false",
        ),
        (OVERRIDES + "poem: '99'}}}}", f"{OVERRIDES_KEY}.poem is not a preset; there are code"),
        (OVERRIDES + "prose: 384}}}}", f"{OVERRIDES_KEY}.prose must be text, not 384"),
        (OVERRIDES + "prose: '15'}}}}", f"{OVERRIDES_KEY}.prose must be a whole number from 16"),
        (OVERRIDES + "code: '100000'}}}}", f"{OVERRIDES_KEY}.code must be a whole number from"),
        (OVERRIDES + "prose: '+20'}}}}", f"{OVERRIDES_KEY}.prose must be a whole number from"),
        (OVERRIDES + "prose: '٣٨٤'}}}}", f"{OVERRIDES_KEY}.prose must be a whole number from"),
        (OVERRIDES + 'prose: "384\\n"}}}}', f"{OVERRIDES_KEY}.prose must be a whole number"),
        (OVERRIDES + "prose: }}}}", f"{OVERRIDES_KEY}.prose must be text, not nothing"),
        ("version: 1\nproviders: [{name: a}]", "providers[0].kind is missing"),
        ("version: 1\nplugins: {auto_parsers: 1}", "plugins.auto_parsers must be true or false"),
        ("version: 1\nplugins: {config: {a: 1}}", "plugins.config.a must be a mapping of keys"),
        ("version: 1\nsearch: {ranker_candidates: 0}", "search.ranker_candidates must be greater"),
        ("version: 1\nhttp: {max_retries: -1}", "http.max_retries must be at least 0"),
        ("version: 1\nhttp: {rate_limit: {burst: 0}}", "http.rate_limit.burst must be greater"),
        ('version: 1\nhttp: {user_agent: "a\\nb"}', "http.user_agent must be printable ASCII"),
        ("version: 1\n1: 2", "the key 1 must be text"),
    ],
)
def test_a_wrong_value_is_named_by_its_key(text, message):
    with pytest.raises(InvalidConfig) as caught:
        parse_config(text)

    assert caught.value.bare.startswith(message)


@pytest.mark.req("L-CFG-10")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sever: {}", "sever is not a known key; did you mean server?"),
        ("server: {prot: 1}", "server.prot is not a known key; did you mean server.port?"),
        (
            "providers: [{name: a, kind: b, baseurl: c}]",
            "providers[0].baseurl is not a known key; did you mean providers[0].base_url?",
        ),
        ("http: {rate_limit: {zzz: 1}}", "http.rate_limit.zzz is not a known key"),
        ("stores: []", "stores is not a known key"),
    ],
)
def test_an_unknown_key_is_an_error_that_names_the_nearest(text, message):
    with pytest.raises(InvalidConfig) as caught:
        parse_config(f"version: 1\n{text}")

    assert caught.value.bare == message


@pytest.mark.req("L-CFG-15")
@pytest.mark.parametrize("key", ["stores", "sources", "store", "source"])
def test_stores_and_sources_are_not_declared_in_the_config(key):
    with pytest.raises(InvalidConfig, match=f"^invalid config: {key} is not a known key"):
        parse_config(f"version: 1\n{key}: [{{name: notes}}]")


def test_everything_that_is_wrong_is_said_at_once():
    with pytest.raises(InvalidConfig, match=r"server\.port must.*; http\.zzz is not"):
        parse_config("version: 1\nserver: {port: x}\nhttp: {zzz: 1}")


@pytest.mark.req("L-CFG-12")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; add the line: version: 1"),
        (b"# nothing\n", "is empty; add the line: version: 1"),
        (b"- version\n", "must be a mapping of keys"),
        (b"version: 1\nversion: 1\n", "line 2, column 1: the key version is already set in line 1"),
        (b"version: 1\nserver:\n\tport: 1\n", "line 3, column 1: there is a tab"),
        (b"version: 1\nserver:\n  port: 1\n  port: 2\n", "line 4, column 3: the key port"),
        (b"version: 1\n# caf\xe9\n", "line 2: not UTF-8 text"),
        (b"version: 1\n\x01\n", "line 2: the character U+0001 is not allowed"),
        (b"version: [1\n", "line 2, column 1: "),
        (b"version: !!python/name:os.system x\n", "line 1, column 10: "),
        (b"version: 1\n---\nversion: 1\n", "line 2, column 1: "),
        (b"version: 2020-13-01\n", "month must be"),
        (b"[" * 1200, "nested too deeply"),
        (b"a: " * 2000, "line 1, column 5: "),
        (b"? [a, b]\n: 1\n", "line 1, column 3: found unhashable key"),
        (b"a: &a [*a]\n", "line 1: an alias stands inside itself"),
        (b"a: " + b"9" * 5000 + b"\n", "integer string conversion"),
        (b"#" * (256 * 1024 + 1), "it is larger than 256 KiB"),
    ],
)
def test_a_file_that_is_no_config_is_refused_with_its_name(tmp_path, content, message):
    path = tmp_path / "config.yaml"
    path.write_bytes(content)

    with pytest.raises(InvalidConfig) as caught:
        load_config(path)

    assert str(path) in caught.value.bare
    assert message in caught.value.bare
    assert caught.value.exit_status == 2


@pytest.mark.req("L-CFG-12")
def test_a_missing_file_a_folder_a_pipe_and_a_device_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name, said in [
        ("none.yaml", "localdb init"),
        ("dangling", "is a link that leads nowhere; mend or remove it"),
        ("", "it is a folder"),
        ("pipe", "it is a pipe or a device"),
        ("/dev/zero", "it is a pipe or a device"),
    ]:
        with pytest.raises(InvalidConfig, match=said):
            load_config(tmp_path / name)


def test_a_file_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    def forbidden(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", forbidden)

    with pytest.raises(InvalidConfig, match=r"cannot read .*none\.yaml: Permission denied"):
        load_config(tmp_path / "none.yaml")


@pytest.mark.req("L-CFG-12")
@pytest.mark.parametrize("line", ["{0}: [{1}]", "{0}: {{<<: [{1}]}}"])
def test_aliases_that_stand_for_billions_of_values_are_refused(line):
    doubled = [line.format(f"k{n}", f"*a{n - 1}, *a{n - 1}") for n in range(1, 40)]
    bomb = ["version: 1", "a0: &a0 {x: 1}"]
    bomb += [text.replace(": ", f": &a{n} ", 1) for n, text in enumerate(doubled, 1)]

    with pytest.raises(InvalidConfig, match="its aliases stand for more than 50,000 values"):
        parse_config("\n".join(bomb))


def test_an_alias_and_a_merge_key_are_fine():
    config = parse_config(
        "version: 1\nplugins:\n  config:\n    a: &a {x: 1}\n    b: *a\n    c: {<<: *a, y: 2}\n"
    )

    assert config.plugins.config == {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}}


@pytest.mark.req("L-CFG-11")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("server: {1: 2}", "server: the key 1 must be text"),
        ("server: {null: 2}", "server: the key nothing must be text"),
        ("plugins: {pin: {no: acme}}", "plugins.pin: the key false must be text"),
        ("plugins: {config: {7: {}}}", "plugins.config: the key 7 must be text"),
        ("plugins: {config: {a: {on: 1}}}", "plugins.config.a: the key true must be text"),
        ("2020-01-01: 1", "the key datetime.date(2020, 1, 1) must be text"),
        ('server: {bind: "\\ud800"}', "server.bind must be text, not '\\ud800'"),
    ],
)
def test_a_key_that_is_no_text_is_refused_where_it_stands(text, message):
    with pytest.raises(InvalidConfig) as caught:
        parse_config(f"version: 1\n{text}")

    assert caught.value.bare == message


def test_a_byte_order_mark_and_empty_sections_are_fine(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes(b"\xef\xbb\xbfversion: 1\nserver:\nproviders:\nhttp:\n  rate_limit:\n")

    config = load_config(path)

    assert config == Config()
    assert not config.wrote("server")


def test_the_keys_of_a_plugin_are_left_to_the_plugin():
    config = parse_config("version: 1\nplugins: {config: {acme: {server: , n: [1]}}}")

    assert config.plugins.config == {"acme": {"server": None, "n": [1]}}


def test_what_was_written_is_told_from_what_is_the_default():
    config = parse_config("version: 1\nindex: {dense: chroma}\nplugins: {pin: {pdf: acme}}")

    assert config.wrote("index")
    assert config.wrote("index.dense")
    assert not config.wrote("index.sparse")
    assert config.wrote("plugins.pin.pdf")
    assert not config.wrote("plugins.pin.epub")
    assert not config.wrote("defaults.indexing.parsers")
    assert not config.wrote("no.such.key")


def test_an_editors_schema_line_is_accepted_and_the_config_cannot_be_changed():
    config = parse_config("version: 1\n$schema: ./schema.json")

    with pytest.raises(ValueError, match="frozen"):
        config.version = 2
