"""Progress lines of an index run."""

import io

import pytest

from localdb_core.cli.progress import LineView, indexing
from localdb_core.cli.state import State
from localdb_core.domain.events import (
    Discovered,
    DocumentFinished,
    DocumentStarted,
    IndexStats,
    Outcome,
    SourceFinished,
    SourceStarted,
)
from localdb_core.domain.store import Store

NOTES = Store(id="1", name="notes")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(count):
    yield SourceStarted("s", "/home/[me]/notes")
    yield Discovered(count)
    for number in range(count):
        uri = f"file:///notes/[{number}].md"
        yield DocumentStarted(uri, number, count)
        yield DocumentFinished(uri, Outcome.INDEXED, chunks=2)
    yield SourceFinished(IndexStats(docs_indexed=count, chunks_written=2 * count))


@pytest.mark.req("L-ING-61")
def test_lines_are_few_and_go_to_stderr():
    state = State(out=io.StringIO(), err=io.StringIO())

    with indexing(state, prefixed=False) as show:
        for event in run(25):
            show(NOTES, event)

    assert isinstance(show, LineView)
    assert state.out.getvalue() == ""
    assert state.err.getvalue().splitlines() == [
        "Indexing /home/[me]/notes",
        "  discovered 25 files",
        "  10/25 documents",
        "  20/25 documents",
        "  indexed 25 docs, 0 skipped, 0 deleted, 50 chunks",
    ]


def test_with_several_stores_every_line_names_its_own():
    state = State(out=io.StringIO(), err=io.StringIO())

    with indexing(state, prefixed=True) as show:
        for event in run(1):
            show(NOTES, event)

    assert all(line.startswith("[notes] ") for line in state.err.getvalue().splitlines())


def test_json_has_no_progress():
    state = State(json=True, out=io.StringIO(), err=Terminal())

    with indexing(state, prefixed=False) as show:
        for event in run(30):
            show(NOTES, event)

    assert state.err.getvalue() == ""


def test_a_terminal_gets_a_bar_and_the_summary_of_each_source(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    state = State(out=io.StringIO(), err=Terminal())

    with indexing(state, prefixed=False) as show:
        for event in run(3):
            show(NOTES, event)

    shown = state.err.getvalue()
    assert "/home/[me]/notes" in shown
    assert "indexed 3 docs, 0 skipped, 0 deleted, 6 chunks" in shown
    assert state.out.getvalue() == ""
