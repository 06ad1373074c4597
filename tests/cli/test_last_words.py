"""Whatever is raised, wherever: one line, a status, and a traceback only when asked for."""

import io
import json
import logging
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from localdb_core.cli import interrupt, logs, main, render
from localdb_core.cli.batch import Batch
from localdb_core.domain.errors import LocaldbError, StoreNotFound
from localdb_core.host.host import Host
from localdb_core.host.selection import PluginSelection

NO_PLUGINS = "--no-plugins"


def _raise(error):
    raise error


@pytest.fixture
def faulty(here, monkeypatch):
    """A program in which listing stores raises what is given."""

    def make(error):
        monkeypatch.setattr("localdb_core.services.stores.Stores.list", lambda self: _raise(error))
        return here

    here("store", "list", NO_PLUGINS)
    return make


@pytest.mark.req("L-CLI-48")
@pytest.mark.parametrize(
    "error",
    [
        ZeroDivisionError("x"),
        RecursionError("too deep"),
        MemoryError(),
        UnicodeEncodeError("ascii", "ü", 0, 1, "no"),
        AssertionError(),
        ImportError("no module"),
        GeneratorExit(),
    ],
)
def test_a_fault_of_ours_is_one_line_with_an_id_that_the_log_knows(faulty, error):
    ran = faulty(error)("store", "list", NO_PLUGINS)

    kept = (faulty(error).home / ".local/state/localdb/logs/errors.log").read_text()
    (said,) = ran.err.splitlines()
    assert (ran.status, ran.out) == (1, "")
    assert said.startswith(f"error: {type(error).__name__}: ")
    assert f"id {said.rpartition('(id ')[2][:-1]}\n" in kept
    assert "Traceback" in kept


def test_with_verbose_the_traceback_is_shown(faulty):
    here = faulty(ZeroDivisionError("x"))

    text = here("store", "list", NO_PLUGINS, "--verbose")
    data = here("store", "list", NO_PLUGINS, "--verbose", "--json")

    assert "Traceback" in text.err
    lines = [json.loads(line) for line in data.err.splitlines()]
    assert any("Traceback" in line["message"] for line in lines if "level" in line)
    assert lines[-1]["error"] == "internal"


def test_the_record_of_faults_does_not_grow_for_ever(faulty, monkeypatch):
    monkeypatch.setattr("localdb_core.cli.crashlog.LARGEST", 10)
    here = faulty(ZeroDivisionError("x"))
    for _ in range(3):
        here("store", "list", NO_PLUGINS)

    folder = here.home / ".local/state/localdb/logs"
    assert sorted(path.name for path in folder.iterdir()) == ["errors.log", "errors.log.old"]
    assert (folder / "errors.log").read_text().count("Traceback") == 1


@pytest.mark.req("L-ERR-02")
def test_ctrl_c_is_130_in_one_line(faulty):
    text = faulty(KeyboardInterrupt())("store", "list", NO_PLUGINS)
    ran = faulty(KeyboardInterrupt())("store", "list", NO_PLUGINS, "--json")

    # click puts a line break after the ^C of a terminal
    assert (text.status, text.err.split()) == (130, ["interrupted"])
    assert (ran.status, ran.error) == (130, {"level": "notice", "message": "interrupted"})


@pytest.mark.parametrize("table", ["stores", "chunks"])
def test_a_table_that_is_gone_is_storage_with_a_way_out(here, table):
    here("store", "list", NO_PLUGINS)
    with closing(sqlite3.connect(here.data / "localdb.db")) as db:
        db.execute(f"DROP TABLE {table}")

    ran = here("search", NO_PLUGINS, "x") if table == "stores" else here("index", NO_PLUGINS)
    if table == "chunks":
        ran = here("engine", "list", NO_PLUGINS)

    assert ran.status == 5
    assert ran.err.startswith("error: storage unavailable: ")
    assert "see: localdb doctor" in ran.err


@pytest.mark.req("L-CLI-48")
def test_in_json_warnings_are_objects_too_and_the_error_is_last(here):
    (here.home / "a.md").symlink_to("nowhere.md")
    (here.home / "b.md").write_text("Herons.\n")
    ran = here("add", ".", "none", "--json", NO_PLUGINS)

    lines = [json.loads(line) for line in ran.err.splitlines()]
    assert ran.status == 2
    assert [line["level"] for line in lines[:-1]] == ["warning"] * len(lines[:-1])
    assert any("a.md" in line["message"] for line in lines[:-1])
    assert lines[-1]["error"] == "invalid_request"


@pytest.mark.req("L-LOG-01")
def test_each_failed_file_is_one_warning_whatever_its_traceback(here):
    here("store", "list", NO_PLUGINS)
    for name in ("a", "b", "c"):
        (here.home / f"{name}.md").symlink_to(f"no-{name}.md")

    text = here("add", ".", NO_PLUGINS)
    data = here("index", "--json", NO_PLUGINS)

    for name in ("a.md", "b.md", "c.md"):
        assert len([line for line in text.err.splitlines() if f"{name} leads here" in line]) == 1
        assert len([line for line in data.err.splitlines() if f"{name} leads here" in line]) == 1
    assert data.json["errors"] == 3


def test_a_warning_shows_its_traceback_only_when_everything_is_asked_for(here, capsys):
    for verbose in (False, True):
        logs.set_up(verbose=verbose)
        try:
            _raise(ValueError("inside"))
        except ValueError:
            logging.getLogger("localdb").warning("it broke", exc_info=True)
        said = capsys.readouterr().err
        assert said.startswith("warning: it broke\n")
        assert ("Traceback" in said) is verbose


def test_what_python_prints_by_itself_goes_to_the_log(here, capsys, monkeypatch):
    for place, name in ((threading, "excepthook"), (sys, "unraisablehook")):
        monkeypatch.setattr(place, name, getattr(place, name))
    monkeypatch.setattr(logging, "raiseExceptions", True)
    logs.set_up(verbose=False)
    logs.keep_tracebacks()
    logging.captureWarnings(False)

    class Bad:
        def __del__(self):
            raise ValueError("late")

    thread = threading.Thread(target=_raise, args=(OSError("lost"),))
    thread.start()
    thread.join()
    Bad()

    said = capsys.readouterr().err
    assert said == (
        "warning: work in the background failed: OSError: lost; run it again with --verbose\n"
    )


class Gone:
    """A stream whose reader went away."""

    closed, encoding = False, "ascii"

    def write(self, _):
        raise BrokenPipeError

    flush = write


@pytest.mark.parametrize("as_json", [False, True])
def test_talk_that_nobody_hears_stops_nothing(here, as_json):
    state = here.state()
    state.err, state.json = Gone(), as_json
    state.out = Gone()
    state.out.flush = lambda: _raise(OSError("full"))

    render.note(state, "ü")
    render.warn(state, "ü")
    render.error(state, "internal", "ü")


def test_what_a_terminal_cannot_show_is_written_in_another_way(here):
    state = here.state()
    stream = type("Latin", (type(state.err),), {"encoding": "ascii"})
    state.err = stream()
    render.note(state, "caf\u00e9 \udce9")
    state.json = True
    render.note(state, "caf\u00e9 \U0001f600 \udce9")

    first, second = state.err.getvalue().splitlines()
    assert first == "caf\\xe9 \\udce9"
    assert json.loads(second)["message"] == "caf\u00e9 \U0001f600 \udce9"


@pytest.mark.req("L-CLI-45")
@pytest.mark.parametrize("error", [StoreNotFound("x"), sqlite3.OperationalError("disk I/O error")])
def test_a_batch_that_breaks_off_keeps_what_was_done_whatever_broke_it(here, error):
    state = here.state()
    state.json = True
    batch = Batch(state, expected=2)
    with batch:
        batch.done({"id": "1"}, "one")
        raise error
    with pytest.raises(LocaldbError, match="x|disk"):
        batch.finish()

    said = json.loads(state.out.getvalue())
    assert said["status"] == "error"
    assert said["error"]["code"] in ("store_not_found", "storage_unavailable")
    assert said["results"] == [{"id": "1"}]


@pytest.mark.parametrize(
    "words",
    ["store list", "status", "engine list", "search x", "index", "init", "store add y",
     "plugin list", "plugin info core", "doctor"],
)  # fmt: skip
def test_strict_means_every_command(here, words):
    broken = ModuleType("broken")
    broken.__file__ = __file__
    selection = PluginSelection(no_plugins=True, strict=True)
    here.host = Host.load(selection, extra=[("broken", broken)])

    ran = here("--strict-plugins", *words.split())

    assert ran.status == 2
    assert "plugin broken is failed: broken has no PLUGIN" in ran.err
    shows = words.startswith(("plugin", "doctor"))
    assert bool(ran.out) is shows
    assert shows or list(here.home.iterdir()) == []


@pytest.mark.req("L-CLI-40")
@pytest.mark.parametrize(
    ("typed", "gone"),
    [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False), ("yo\n", False)],
)
def test_a_person_is_asked_before_something_is_destroyed(here, typed, gone):
    ran = here("store", "remove", "default", NO_PLUGINS, typed=typed)

    assert ran.status == 0
    assert ran.err.startswith("Remove store 'default' and everything indexed in it? [y/N] ")
    assert ran.err.endswith("Aborted.\n") is not gone
    assert (here("store", "list", NO_PLUGINS).out == "No stores.\n") is gone


@pytest.mark.req("L-CLI-40")
@pytest.mark.parametrize("how", [{}, {"typed": "y\n"}])
def test_a_program_is_not_asked(here, how):
    ran = here("store", "remove", "default", "--json", NO_PLUGINS, **how)

    assert (ran.status, ran.out) == (2, "")
    assert "--yes" in ran.error["message"]
    assert here("store", "list", NO_PLUGINS).out == "default [sqlite]\n"


@pytest.mark.req("L-BYD-18", "L-CLI-14")
def test_a_store_can_be_removed_by_its_id(here):
    made = here("store", "add", "work", "--json", NO_PLUGINS).json

    ran = here("store", "remove", made["id"], "--yes", NO_PLUGINS)

    assert (ran.status, ran.out) == (0, "Removed store: work\n")


@pytest.mark.parametrize(
    ("terminal", "environ", "coloured"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
    ],
)
def test_colours_are_for_terminals_and_for_who_wants_them(
    here, monkeypatch, terminal, environ, coloured
):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    here.terminal = terminal

    assert ("\x1b[" in here("engine", "list", NO_PLUGINS).out) is coloured


def test_ctrl_c_that_is_to_be_ignored_stays_ignored(here):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupt.stoppable(here.state()):
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_our_own_modules_being_broken_is_one_line(capfd):
    error = ModuleNotFoundError("No module named 'click'")

    assert main._last_words(error, ["status"]) == 1
    assert main._last_words(error, ["status", "--json"]) == 1
    assert main._last_words(KeyboardInterrupt(), []) == 130
    assert main._last_words(SystemExit(4), []) == 4
    text, data, interrupted = capfd.readouterr().err.splitlines()

    assert text.startswith("error: localdb cannot start: ModuleNotFoundError: No module named")
    assert json.loads(data)["error"] == "internal"
    assert interrupted == "interrupted"


def test_help_is_shown_on_a_terminal_without_its_letters(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii", errors="strict"))

    main._bear_any_encoding()
    print("caf\u00e9", flush=True)

    assert raw.getvalue() == b"caf\\xe9\n"


PROCESS = """
import os, signal, sys
sys.argv = ["localdb", "store", "list", "--no-plugins"]

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            {what}

sys.meta_path.insert(0, Finder())
from localdb_core.cli.main import run
run()
"""


@pytest.mark.req("L-ERR-02")
@pytest.mark.parametrize(
    ("what", "status", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGINT)", 130, "interrupted\n"),
        ("raise ImportError('torn')", 1, "error: localdb cannot start: ImportError: torn; "),
    ],
)
def test_what_happens_while_the_program_starts_is_one_line(tmp_path, what, status, said):
    done = subprocess.run(
        [sys.executable, "-c", PROCESS.format(what=what)],
        env={"HOME": str(tmp_path), "PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1


def test_with_every_standard_stream_closed_no_file_takes_their_place(tmp_path):
    code = (
        "import os\n"
        "from localdb_core.cli import main\n"
        "main._fill_standard_descriptors()\n"
        "made = os.open('file', os.O_CREAT | os.O_WRONLY)\n"
        "os.write(1, b'x'); os.write(2, b'x'); os.write(made, str(made).encode())\n"
    )
    subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -c "$0" <&- >&- 2>&-', code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(main.__file__).parents[2])},
        check=True,
    )

    assert int((tmp_path / "file").read_text()) > 2
