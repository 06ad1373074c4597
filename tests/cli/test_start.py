"""What every invocation has in common: version, help, usage errors, what is imported."""

import os
import subprocess
import sys

import pytest

from localdb_core.cli.main import COMMANDS
from localdb_core.version import __version__

HEAVY = ("pydantic", "yaml", "rich", "numpy", "mcp", "sqlite3", "pluggy", "localdb_chroma")


@pytest.fixture
def localdb(here):
    return here


def imported_by(statement):
    """The modules that a fresh interpreter holds after a statement."""
    code = f"{statement}\nimport sys; print('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    return set(done.stderr.split())


@pytest.mark.req("L-CLI-49")
@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_is_one_line(localdb, option):
    ran = localdb(option)

    assert (ran.status, ran.out, ran.err) == (0, f"localdb {__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["store", "--help"]])
def test_version_and_help_import_nothing_heavy(arguments):
    modules = imported_by(f"from localdb_core.cli.main import main; main({arguments!r})")

    assert not modules.intersection(HEAVY)
    assert not {name for name in modules if name.startswith("localdb_core.plugin")}


def test_help_and_version_make_nothing(localdb):
    localdb("--version")
    localdb("index", "--help")
    localdb("--no-such-option")

    assert not list(localdb.home.iterdir())


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"mcp"}))
def test_every_command_says_how_it_is_used_with_an_example(localdb, command):
    ran = localdb(command, "--help")

    assert ran.status == 0
    assert f"Usage: localdb {command}" in ran.out
    assert "Examples:\n  localdb " in ran.out
    assert "--strict-plugins" in ran.out


@pytest.mark.req("L-CLI-48")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bogus"], "bogus"),
        (["--bogus"], "--bogus"),
        (["store", "add"], "NAME"),
        (["search"], "QUERY"),
        (["search", "--limit", "0", "x"], "--limit must be greater than zero"),
        (["search", "--mode", "psychic", "x"], "psychic"),
        (["init", "--store", "x"], "'localdb init' does not take --store"),
        (["store", "add", "x", "-s", "x"], "'localdb store add' does not take --store"),
        (["-s", "x", "plugin", "list"], "'localdb plugin list' does not take --store"),
        (["search", "-s", "a/b", "x"], "a store name must not contain"),
        (["-P", "pdf", "status"], "-P takes no:NAME"),
        (["source", "remove", "some/folder"], "--store"),
        (["add", "--max-entries", "3", "."], "--kind feed"),
        (["add", "--kind", "feed", "--max-entries", "0", "http://x"], "greater than zero"),
        (["add", "--no-fetch-full-content", "--kind", "url", "http://x"], "--kind feed"),
        (["add", "--refresh", "1h", "."], "--refresh"),
        (["add", "--kind", "url", "notes"], "http://"),
        (["add", "--kind", "mail", "x"], "no installed plugin lists mail sources; --kind takes"),
        (["add", "--kind", "feed", "ftp://x"], "http://"),
        (["source", "add", "--max-entries", "3", "http://x"], "--kind feed"),
        (["source", "add", "--kind", "path", "--refresh", "1h", "http://x"], "--refresh"),
        (["status", "--config", "none/config.yaml"], "does not exist"),
    ],
)
@pytest.mark.parametrize("json_asked", [False, True])
def test_a_usage_error_is_exit_2_and_does_nothing(localdb, arguments, said, json_asked):
    # Up to a query, --json may stand anywhere.
    ran = localdb(*(["--json"] if json_asked else []), *arguments)

    assert ran.status == 2
    assert ran.out == ""
    if json_asked:
        assert set(ran.error) == {"error", "message"}
        assert ran.error["error"] in ("invalid_request", "invalid_config")
        assert said in ran.error["message"]
    else:
        assert ran.err.startswith("error: ")
        assert said in ran.err
    assert not list(localdb.home.iterdir())


def test_without_a_command_help_is_shown_and_the_status_is_2(localdb):
    ran = localdb()

    assert (ran.status, ran.out) == (2, "")
    assert "Usage: localdb" in ran.err


@pytest.mark.req("L-CFG-21")
def test_a_broken_config_is_reported_by_its_key_and_left_alone(localdb):
    config = localdb.home / "config.yaml"
    config.write_text("version: 1\nserver: {job_workers: 0}\n")

    ran = localdb("status", "--config", config, "--json")

    assert ran.status == 2
    assert ran.error == {
        "error": "invalid_config",
        "message": "invalid config: server.job_workers must be greater than zero",
    }
    assert config.read_text() == "version: 1\nserver: {job_workers: 0}\n"
    assert [entry.name for entry in localdb.home.iterdir()] == ["config.yaml"]


def test_a_reader_that_goes_away_is_no_error(localdb):
    running = localdb.start("--help", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    running.stdout.close()

    with running.stderr:
        assert running.stderr.read() == ""
    running.wait(timeout=60)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["--help"], ["plugin", "list", "--no-load"]])
def test_results_that_cannot_be_written_are_one_line_and_status_5(localdb, arguments):
    with open("/dev/full", "w", encoding="utf-8") as full:
        running = localdb.start(*arguments, stdout=full, stderr=subprocess.PIPE)
        _, said = running.communicate(timeout=60)

    assert said == (
        "error: storage unavailable: [Errno 28] No space left on device; "
        "free some space and try again\n"
    )
    assert running.returncode == 5
