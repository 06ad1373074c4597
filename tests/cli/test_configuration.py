"""The config as a command meets it: scaffolding, refusals, the hidden schema command."""

import click
import pytest

from localdb_core.cli.main import main, root
from localdb_core.config.schema import schema_text

NO_PLUGINS = "--no-plugins"


def every_command():
    """The words of each command, with a value for whatever it cannot do without."""

    def below(group, words):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from below(command, [*words, name])
            else:
                yield [*words, name, *required(command)]

    return list(below(root(), []))


def required(command):
    for parameter in command.params:
        if parameter.required:
            if isinstance(parameter, click.Option):
                yield parameter.opts[0]
            choices = getattr(parameter.type, "choices", None)
            yield choices[0] if choices else "0" * 26  # an id, or a name


@pytest.mark.req("L-CFG-23")
@pytest.mark.parametrize("words", every_command(), ids=" ".join)
def test_every_command_refuses_a_config_in_no_folder(tmp_path, capsys, words):
    missing = tmp_path / "none" / "config.yaml"

    status = main(["--config", str(missing), *words])

    said = capsys.readouterr()
    assert (status, said.out) == (2, "")
    assert f"invalid config: the folder of {missing} does not exist; make it first" in said.err
    assert not list(tmp_path.iterdir())


@pytest.mark.req("L-CLI-32")
def test_a_hidden_command_prints_the_schema_and_makes_nothing(here):
    ran = here("internal", "print-schema")
    listed = here("--help")

    assert (ran.status, ran.out, ran.err) == (0, schema_text(), "")
    assert "internal" not in listed.out
    assert not list(here.home.iterdir())


@pytest.mark.req("L-CFG-26")
@pytest.mark.parametrize("refresh", ["0", "1d", "soon", "9" * 30])
def test_a_refresh_that_is_no_duration_is_refused_before_anything_is_added(
    tmp_path, capsys, refresh
):
    config = tmp_path / "config.yaml"

    status = main(["--config", str(config), "add", "--refresh", refresh, "http://localhost:1/a"])

    assert status == 2
    assert capsys.readouterr().err.startswith("error: invalid request: ")
    assert not list(tmp_path.iterdir())


@pytest.mark.req("L-CFG-24")
def test_with_a_daemon_named_the_config_is_made_and_the_database_is_not(here, monkeypatch):
    monkeypatch.setenv("LOCALDB_DAEMON_URL", "http://127.0.0.1:1")

    listed = here("store", "list", "--json")
    made = here("init", "--json")

    assert (listed.status, listed.error["error"]) == (5, "daemon_unreachable")
    assert (made.status, made.json["default_store"], made.json["warnings"]) == (0, "skipped", [])
    assert (here.home / ".config/localdb/config.yaml").exists()
    assert not list((here.home / ".local/share/localdb").iterdir())
    monkeypatch.delenv("LOCALDB_DAEMON_URL")
    assert here("store", "list", NO_PLUGINS).out == "default [sqlite]\n"


@pytest.mark.req("L-CFG-20")
@pytest.mark.req("L-CLI-10")
def test_init_makes_what_is_missing_and_no_store_that_was_removed(here):
    config, data = here.home / "config.yaml", here.home / "data"
    schema = here.home / "config.schema.json"
    config.write_text("# $schema=./config.schema.json\nversion: 1\npaths: {data: data}\n")
    schema.write_text('{"title": "Configuration of localdb"}')

    written_by_hand = here("init", "--json", NO_PLUGINS, "--config", config)
    here("store", "remove", "default", "--yes", NO_PLUGINS, "--config", config)
    removed = here("init", NO_PLUGINS, "--config", config)

    assert written_by_hand.json["default_store"] == "ok"
    assert (data / "localdb.db").exists()
    assert schema.read_text("utf-8") == schema_text()
    assert "no store is called default; make one with: localdb store add default" in removed.out
    assert "next:" not in removed.out


@pytest.mark.req("L-CFG-20")
def test_listing_plugins_is_a_first_run_too_and_works_where_nothing_can_be_made(here, monkeypatch):
    blocked = here.home / "file"
    blocked.touch()

    listed = here("plugin", "list", "--no-load")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(blocked))
    bare = here("plugin", "list", NO_PLUGINS)

    assert listed.status == bare.status == 0
    assert (here.home / ".config/localdb/config.yaml").exists()
    assert (here.home / ".local/share/localdb/localdb.db").exists()


# doctor reports what is missing; making it first would leave nothing to report.
MAKES_NOTHING = ("db", "completions", "internal", "doctor")
SERVES = ("mcp",)


@pytest.mark.req("L-CFG-20")
@pytest.mark.parametrize(
    "words",
    [words for words in every_command() if words[0] not in (*MAKES_NOTHING, *SERVES)],
    ids=" ".join,
)
def test_every_command_is_a_first_run_where_there_is_no_config(here, words):
    here(NO_PLUGINS, "--yes", *words)

    assert here.config.exists()
    assert (here.data / "localdb.db").exists()
    assert (here.home / ".cache/localdb/models").is_dir()
    assert (here.home / ".local/state/localdb/logs").is_dir()


@pytest.mark.req("L-CFG-20")
@pytest.mark.parametrize(
    "words", [words for words in every_command() if words[0] in MAKES_NOTHING], ids=" ".join
)
def test_commands_that_look_or_are_for_programs_make_nothing(here, words):
    here(NO_PLUGINS, "--yes", *words)

    assert not here.config.exists()
    assert not here.data.exists()
