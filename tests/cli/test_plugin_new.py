"""``plugin new`` as it is typed."""

import os
import shlex
import sys

import pytest

pytestmark = pytest.mark.req("L-CLI-38")


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """An environment of its own, with Python and localdb in it and not on the ``PATH``."""
    programs = tmp_path / "an environment" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "localdb"):
        (programs / name).touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    return programs


def test_the_next_three_commands_are_printed_and_can_be_typed(here, environment, monkeypatch):
    monkeypatch.setenv("PATH", str(environment))
    ran = here("plugin", "new", "ics", "--kind", "parser")

    made, *commands = ran.out.splitlines()
    assert ran.status == 0
    assert made == "made localdb-ics; next:"
    assert [shlex.split(command) for command in commands] == [
        [
            "python3",
            "-m",
            "pip",
            "--python",
            sys.executable,
            "install",
            "-e",
            "./localdb-ics[test]",
        ],
        [sys.executable, "-m", "pytest", "./localdb-ics"],
        ["localdb", "plugin", "check", "ics", "--deep"],
    ]
    assert (here.home / "localdb-ics" / "pyproject.toml").is_file()


@pytest.mark.parametrize("path", ["nowhere", "elsewhere"])
def test_localdb_is_named_by_its_path_where_the_shell_would_run_none_or_another(
    here, environment, monkeypatch, path
):
    other = here.home / "elsewhere"
    other.mkdir()
    (other / "localdb").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(here.home / path))

    ran = here("plugin", "new", "ics", "--kind", "parser")

    assert shlex.split(ran.out.splitlines()[-1])[0] == str(environment / "localdb")


def test_it_can_be_made_elsewhere_and_told_as_json(here):
    place = here.home / "my plugins"
    place.mkdir()

    ran = here("plugin", "new", "acme-notes", "--kind", "ranker", "--path", place, "--json")

    assert ran.json["path"] == str(place / "localdb-acme-notes")
    assert (ran.json["distribution"], ran.json["kind"]) == ("localdb-acme-notes", "ranker")
    assert shlex.split(ran.json["next"][1])[-1] == ran.json["path"]
    assert os.listdir(place) == ["localdb-acme-notes"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ics"], "Missing option '--kind'"),
        (["ics", "--kind", "dream"], "'dream' is not one of"),
        (["whoosh", "--kind", "index"], "whoosh is the name of a plugin of localdb's own"),
        (["Ics", "--kind", "parser"], "try ics"),
        (["ics", "--kind", "parser", "--path", "missing"], "missing is no folder"),
    ],
)
def test_what_is_refused_is_a_usage_error_and_makes_nothing(here, arguments, said):
    ran = here("plugin", "new", *arguments)

    assert ran.status == 2
    assert said in ran.err
    shown = [path.name for path in here.home.iterdir() if not path.name.startswith(".")]
    assert shown == [], "only a first run leaves something: localdb's own hidden folders"
