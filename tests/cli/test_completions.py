"""Completing in a shell: the script, and what it is offered."""

import pytest

from localdb_core.cli.main import main

NO_PLUGINS = "--no-plugins"


@pytest.mark.req("L-CLI-31")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed_before_there_is_anything(here, shell):
    ran = here("completions", shell)

    assert (ran.status, ran.err) == (0, "")
    assert f"_LOCALDB_COMPLETE={shell}_complete" in ran.out
    assert list(here.home.iterdir()) == []


@pytest.mark.req("L-CLI-31")
def test_the_script_needs_no_config_that_can_be_read(here):
    here.config.parent.mkdir(parents=True)
    here.config.write_text("bogus")

    assert here("completions", "bash").status == 0


@pytest.mark.req("L-CLI-31")
def test_another_shell_is_a_usage_error(here):
    ran = here("completions", "tcsh")

    assert (ran.status, ran.out) == (2, "")
    assert "tcsh" in ran.err


@pytest.fixture
def offered(here, monkeypatch, capsys):
    """What a shell is offered for a line."""

    def ask(line):
        monkeypatch.setenv("_LOCALDB_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        capsys.readouterr()
        assert main([], here.state()) == 0
        monkeypatch.delenv("_LOCALDB_COMPLETE")
        return [said.partition(",")[2] for said in capsys.readouterr().out.split("\n") if said]

    return ask


@pytest.mark.req("L-CLI-31")
def test_commands_options_and_choices_are_offered(here, offered):
    assert offered("localdb st") == ["status", "store"]
    assert offered("localdb engine rebuild ") == ["dense", "sparse"]
    assert "--plan" in offered("localdb index --p")
    assert "internal" not in offered("localdb ")
    assert list(here.home.iterdir()) == []


@pytest.mark.req("L-CLI-31")
def test_names_of_stores_sources_and_plugins_are_offered(here, offered):
    here("store", "add", "work", NO_PLUGINS)
    (here.home / "a.md").write_text("Herons.\n")
    here("add", here.home / "a.md", NO_PLUGINS)
    (source,) = here("source", "list", "--json", NO_PLUGINS).json["sources"]

    assert offered("localdb search -s ") == ["default", "work"]
    assert offered("localdb store remove w") == ["work"]
    assert offered("localdb index --source ") == [source["id"]]
    assert "pdf" in offered("localdb plugin info p")


@pytest.mark.req("L-CLI-31")
@pytest.mark.parametrize("damage", ["no config", "broken config", "broken database"])
def test_nothing_to_offer_is_no_error(here, offered, damage):
    if damage != "no config":
        here("store", "list", NO_PLUGINS)
    if damage == "broken config":
        here.config.write_text("bogus")
    if damage == "broken database":
        (here.data / "localdb.db").write_bytes(b"no database" * 1000)

    assert offered("localdb search -s ") == []
