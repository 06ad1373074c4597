"""What is logged, and how much of it, is said by LOCALDB_LOG, RUST_LOG or --verbose."""

import logging

import pytest

from localdb_core.cli import logs

pytestmark = pytest.mark.usefixtures("kept_logging")


def shown(capsys, environ, *, verbose=False):
    """The levels that come through, and what was said besides."""
    logs.set_up(verbose=verbose, environ=environ)
    said = capsys.readouterr().err
    for level in ("debug", "info", "warning", "error"):
        getattr(logging.getLogger("localdb.index"), level)("x")
    lines = capsys.readouterr().err.splitlines()
    return [line.partition(":")[0] for line in lines], said


EVERYTHING = ["debug", "info", "warning", "error"]


@pytest.mark.parametrize(
    ("environ", "levels"),
    [
        ({}, EVERYTHING[2:]),
        ({"LOCALDB_LOG": ""}, EVERYTHING[2:]),
        ({"LOCALDB_LOG": "trace"}, EVERYTHING),
        ({"LOCALDB_LOG": "debug"}, EVERYTHING),
        ({"LOCALDB_LOG": " Info "}, EVERYTHING[1:]),
        ({"LOCALDB_LOG": "warn"}, EVERYTHING[2:]),
        ({"LOCALDB_LOG": "warning"}, EVERYTHING[2:]),
        ({"LOCALDB_LOG": "error"}, EVERYTHING[3:]),
        ({"LOCALDB_LOG": "off"}, []),
        ({"RUST_LOG": "debug"}, EVERYTHING),
        ({"RUST_LOG": "hyper=trace,info"}, EVERYTHING[1:]),
        ({"RUST_LOG": "warn,localdb=debug"}, EVERYTHING),
        ({"RUST_LOG": "debug,localdb_core::index=error"}, EVERYTHING[3:]),
        ({"RUST_LOG": "hyper=trace"}, EVERYTHING[2:]),
        ({"RUST_LOG": "[span{field=1}]=x,,="}, EVERYTHING[2:]),
        ({"LOCALDB_LOG": "error", "RUST_LOG": "debug"}, EVERYTHING[3:]),
    ],
)
def test_a_level_lets_through_what_it_says(capsys, environ, levels):
    assert shown(capsys, environ) == (levels, "")


def test_verbose_shows_everything_whatever_the_variables_say(capsys):
    assert shown(capsys, {"LOCALDB_LOG": "off"}, verbose=True) == (EVERYTHING, "")


@pytest.mark.parametrize("level", ["loud", "1", "debugg", "hyper=debug", "x" * 10_000, "\x1b[31m"])
def test_a_level_that_there_is_none_of_is_told_once_and_warnings_stay(capsys, level):
    levels, said = shown(capsys, {"LOCALDB_LOG": level})

    assert levels == EVERYTHING[2:]
    assert said.count("\n") == 1
    assert said.startswith("warning: LOCALDB_LOG=")
    assert "is not understood; use error, warn, info, debug, trace or off" in said
    assert "\x1b" not in said
    assert len(said) < 140


@pytest.mark.req("L-LOG-01")
def test_a_warning_is_one_line_on_stderr_with_its_text_made_harmless(capsys):
    logs.set_up(verbose=False, environ={})

    logging.getLogger("localdb.index").warning("bad\nname \x1b[31m\udcff")

    out, err = capsys.readouterr()
    assert out == ""
    assert err == "warning: bad\ufffdname \ufffd[31m\\udcff\n"
