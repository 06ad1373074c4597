"""How results are written."""

import io
import json
import sys

import pytest
from click import UsageError

from localdb_core.cli import render
from localdb_core.cli.state import State


class Terminal(io.StringIO):
    """A stream that a person looks at."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def state():
    return State(out=io.StringIO(), err=io.StringIO())


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0.0 B"),
        (1023, "1023.0 B"),
        (1536, "1.5 KB"),
        (1024**2, "1.0 MB"),
        (5 * 1024**3, "5.0 GB"),
        (3000 * 1024**4, "3000.0 TB"),
    ],
)
def test_sizes_go_in_steps_of_1024(count, shown):
    assert render.size(count) == shown


def test_control_characters_never_reach_the_terminal(state):
    render.line(state, "a\x1b[31mb\u202ec")
    render.table(state, ["NAME"], [["x\x07"]])

    assert state.out.getvalue() == "a\ufffd[31mb\ufffdc\nNAME\nx\ufffd\n"


def test_control_characters_in_a_note_or_a_question_never_reach_the_terminal(state, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))

    render.note(state, "a\x1b[31m\n\tb")
    render.confirm(state, "Remove 'c\x07'?")

    assert state.err.getvalue() == "a\ufffd[31m\n\tb\nRemove 'c\ufffd'? [y/N] "


def test_a_text_of_a_document_is_harmless_on_a_terminal_and_itself_elsewhere(state):
    content = "a\x1b[31mb\r\n\tc\u202ed\n"
    terminal = State(out=Terminal(), err=io.StringIO())

    render.text(state, content)
    render.text(terminal, content)

    assert state.out.getvalue() == content
    assert terminal.out.getvalue() == "a\ufffd[31mb\ufffd\n\tc\ufffdd\n"


def test_a_table_lines_up_and_has_no_colour_off_a_terminal(state):
    render.table(state, ["A", "BB"], [["long", "x"], ["s", "y"]])

    assert state.out.getvalue() == "A     BB\nlong  x\ns     y\n"


def test_a_terminal_gets_a_bold_header_unless_colour_is_unwanted(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    bold, plain = State(out=Terminal()), State(out=Terminal())

    render.table(bold, ["A"], [])
    monkeypatch.setenv("NO_COLOR", "1")
    render.table(plain, ["A"], [])

    assert "\x1b[1m" in bold.out.getvalue()
    assert plain.out.getvalue() == "A\n"


def test_json_stays_json_whatever_the_stream_can_encode():
    raw = io.BytesIO()
    latin = State(out=io.TextIOWrapper(raw, encoding="latin-1"))

    render.data(latin, {"title": "Žluťoučký kůň"})
    latin.out.flush()

    assert json.loads(raw.getvalue()) == {"title": "Žluťoučký kůň"}


@pytest.mark.req("L-CLI-40")
@pytest.mark.parametrize(
    ("answer", "agreed"), [("y", True), ("YES", True), ("n", False), ("", False)]
)
def test_a_person_is_asked_and_may_refuse(state, monkeypatch, answer, agreed):
    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))

    assert render.confirm(state, "Remove it?") is agreed
    assert state.err.getvalue() == "Remove it? [y/N] " + ("" if agreed else "Aborted.\n")


@pytest.mark.req("L-CLI-40")
def test_nobody_is_asked_with_yes_json_or_a_pipe(state, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert render.confirm(State(yes=True, err=state.err), "Remove it?")

    with pytest.raises(UsageError, match="--yes"):
        render.confirm(State(json=True, err=state.err), "Remove it?")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    with pytest.raises(UsageError, match="--yes"):
        render.confirm(state, "Remove it?")
    assert state.err.getvalue() == ""
