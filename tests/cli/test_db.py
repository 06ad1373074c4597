"""``localdb db``, and every other command in front of a file that only it may change."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from localdb_core.cli import db
from localdb_core.plugin import Migration
from localdb_core.services import databases
from localdb_core.storage.connections import open_writer
from localdb_core.storage.migrations import inspection, runner
from localdb_core.storage.migrations.chain import Chain, Schema
from localdb_core.storage.migrations.inspection import inspect
from localdb_core.storage.schema import CATALOG

HEAD = CATALOG.chain.head


class Home:
    """A config and a data folder; call it with the words of a command."""

    def __init__(self, here, folder: Path) -> None:
        self.here = here
        self.folder = folder
        self.config = folder / "config.yaml"
        self.file = folder / "data" / "localdb.db"
        self.config.write_text("version: 1\npaths:\n  data: data\n  models: m\n  logs: l\n")
        self.file.parent.mkdir()

    def __call__(self, *words: str, answer: str | None = None):
        return self.here("--config", self.config, "--no-plugins", *words, typed=answer)


@pytest.fixture
def home(here, tmp_path):
    return Home(here, tmp_path)


def catalog_with(*steps: Migration, upto: int = HEAD) -> Schema:
    """The catalog of another release."""
    known = tuple(step for step in CATALOG.chain.steps if step.version <= upto)
    chain = Chain((*known, *steps))
    ups = tuple(statement for step in chain.steps for statement in step.up)
    return Schema(CATALOG.application_id, chain, ups)


def table(version: int, name: str, **settings) -> Migration:
    """A step that adds a table; it can go back unless told otherwise."""
    back = {} if "irreversible" in settings else {"down": (f"DROP TABLE {name}",)}
    return Migration(version, name, up=(f"CREATE TABLE {name} (a)",), **back, **settings)


NEWER = catalog_with(table(HEAD + 1, "colours"), table(HEAD + 2, "sizes"))
OLDER = catalog_with(upto=1)


def tables(file: Path) -> set[str]:
    with closing(sqlite3.connect(file)) as db:
        return {row[0] for row in db.execute("SELECT name FROM sqlite_master")}


def make(file: Path, schema: Schema = CATALOG) -> Path:
    open_writer(file, schema).close()
    return file


def execute(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def damage(file: Path) -> None:
    make(file).write_bytes(file.read_bytes()[: file.stat().st_size // 2])


COMMANDS = {
    "search": ("search", "herons"),
    "index": ("index",),
    "status": ("status",),
    "store": ("store", "list"),
    "store add": ("store", "add", "papers"),
    "source": ("source", "list"),
    "add": ("add", "."),
    "document": ("document", "list"),
    "engine": ("engine", "list"),
    "mcp": ("mcp",),
}


@pytest.mark.req("L-INV-04")
@pytest.mark.req("L-STO-26")
@pytest.mark.parametrize("command", COMMANDS)
def test_no_other_command_migrates_and_every_refusal_says_what_to_type(home, command):
    for schema, advice in (
        (OLDER, "run: localdb db migrate"),
        (NEWER, "localdb db downgrade --to"),
    ):
        file = make(home.file, schema)
        before = file.read_bytes()

        ran = home(*COMMANDS[command])

        assert ran.status == 2
        assert advice in ran.err
        assert str(HEAD) in ran.err
        assert str(schema.chain.head) in ran.err
        assert ran.out == ""
        assert file.read_bytes() == before
        file.unlink()


STATES = {
    "at head": (make, {"current_version": HEAD}),
    "behind head": (lambda file: make(file, OLDER), {"current_version": 1, "pending": HEAD - 1}),
    "newer than this program": (
        lambda file: make(file, NEWER),
        {"current_version": HEAD + 2, "too_new": True},
    ),
    "uninitialized": (lambda file: None, {"uninitialized": True, "table_present": False}),
    "older than the baseline": (
        lambda file: execute(make(file), "DELETE FROM schema_migrations"),
        {"legacy": True, "current_version": None},
    ),
    "not made by this program": (
        lambda file: execute(file, "CREATE TABLE chunks (a)"),
        {"table_present": False, "current_version": None},
    ),
    "its records were changed": (
        lambda file: execute(make(file), "UPDATE schema_migrations SET checksum = 'x'"),
        {"current_version": HEAD},
    ),
    "damaged": (damage, {"current_version": None, "table_present": False}),
    "cannot be read": (Path.mkdir, {"current_version": None, "table_present": False}),
}


@pytest.mark.req("L-CLI-25")
@pytest.mark.parametrize("state", STATES)
def test_the_state_of_any_file_is_shown_and_the_file_left_alone(home, state):
    spoil, expected = STATES[state]
    spoil(home.file)
    before = home.file.read_bytes() if home.file.is_file() else None

    shown, answer = home("db", "status"), home("db", "status", "--json")

    assert (shown.status, answer.status) == (0, 0)
    assert f"state: {state}" in shown.out
    usual = {"head_version": HEAD, "baseline_version": 1, "pending": 0, "legacy": False}
    usual |= {"too_new": False, "uninitialized": False, "table_present": True, "state": state}
    for key, value in {**usual, **expected}.items():
        assert answer.json[key] == value, key
    assert (home.file.read_bytes() if home.file.is_file() else None) == before


@pytest.mark.req("L-CLI-25")
def test_the_history_says_of_each_step_whether_it_can_be_undone(home):
    make(home.file)

    history = home("db", "status", "--json").json["migrations"]
    shown = home("db", "status").out

    assert [row["version"] for row in history] == list(range(1, HEAD + 1))
    assert history[0]["name"] == "baseline"
    assert history[0]["downgradable"] is False
    assert "no version before it" in history[0]["down_unsupported_reason"]
    assert history[1]["downgradable"] is True
    assert history[1]["down_unsupported_reason"] is None
    assert history[1]["applied_at"]
    assert "no: the first version has no version before it" in shown


def test_no_db_command_makes_anything_on_the_first_run(home):
    home.config.unlink()
    home.file.parent.rmdir()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CONFIG", "DATA", "CACHE", "STATE"):
            patch.setenv(f"XDG_{name}_HOME", str(home.folder / "usual"))
        ran = [home("db", *words) for words in (("status",), ("migrate",), ("vacuum",))]
        back = home("db", "downgrade", "--yes")

    assert [each.status for each in ran] == [0, 0, 0]
    assert "no database yet" in ran[1].out
    assert (back.status, "no database" in back.err) == (2, True)
    assert list(home.folder.iterdir()) == []


@pytest.mark.req("L-CLI-26")
def test_migrating_steps_the_file_to_head_and_then_has_nothing_to_do(home):
    make(home.file, OLDER)

    first, again, answer = (
        home("db", "migrate"),
        home("db", "migrate"),
        home("db", "migrate", "--json"),
    )

    assert first.out == f"migrated: v1 -> v{HEAD} ({HEAD - 1} steps applied)\n"
    assert "to v2 (chunking) ...\nto v2 (chunking): done in " in first.err
    assert again.out == f"already at head (v{HEAD})\n"
    assert answer.json == {"status": "ok", "message": f"already at head (v{HEAD})"}
    assert home("store", "list").status == 0


@pytest.mark.req("L-CLI-26")
@pytest.mark.req("L-STO-25")
def test_each_class_of_step_ends_with_its_hint(home, monkeypatch):
    make(home.file)
    later = catalog_with(
        table(HEAD + 1, "quick"),
        table(HEAD + 2, "rewritten", kind="rebuild"),
        Migration(
            HEAD + 3,
            "reread",
            up=("UPDATE resources SET stale = 1",),
            down=("UPDATE resources SET stale = 0",),
            kind="reindex",
        ),
    )
    monkeypatch.setattr(databases, "CATALOG", later)
    execute(home.file, "CREATE TABLE big AS SELECT zeroblob(1000000) AS a", "DROP TABLE big")

    answer = home("db", "migrate", "--json")
    assert answer.err == ""
    assert answer.json == {
        "status": "ok",
        "from_version": HEAD,
        "to_version": HEAD + 3,
        "steps": 3,
        "legacy_rebuilt": False,
        "staleness_marked": True,
        "vacuum_recommended": True,
        "copy": None,
    }
    home("db", "downgrade", "--to", str(HEAD), "--yes")
    said = home("db", "migrate").err
    assert "run: localdb index" in said
    assert "run: localdb db vacuum" in said
    assert "(rewritten)" in said


@pytest.mark.req("L-CLI-26")
def test_only_a_step_that_destroys_something_is_asked_about_and_leaves_a_copy(home, monkeypatch):
    make(home.file)
    lossy = Migration(
        HEAD + 1, "merge", up=("DROP TABLE sync_state",), irreversible="gone", destroys="states"
    )
    monkeypatch.setattr(databases, "CATALOG", catalog_with(lossy))
    before = home.file.read_bytes()

    piped, refused = home("db", "migrate"), home("db", "migrate", answer="n\n")
    assert (piped.status, refused.status) == (2, 0)
    assert refused.err.endswith("Aborted.\n")
    assert "This destroys states in " in refused.err
    assert home.file.read_bytes() == before

    agreed = home("db", "migrate", answer="y\n")
    copy = home.file.with_name(f"localdb.db.v{HEAD}.bak")
    assert agreed.out.startswith("migrated")
    assert str(copy) in agreed.err
    assert "sync_state" in tables(copy) - tables(home.file)


@pytest.mark.parametrize("words", [("migrate",), ("downgrade", "--yes"), ("vacuum",)])
@pytest.mark.parametrize(
    "state", ["not made by this program", "damaged", "its records were changed", "cannot be read"]
)
def test_a_file_that_is_not_ours_or_broken_is_refused_by_every_change(home, words, state):
    STATES[state][0](home.file)
    before = home.file.read_bytes() if home.file.is_file() else None

    ran = home("db", *words)

    assert ran.status == {"its records were changed": 1, "cannot be read": 5}.get(state, 2)
    assert "Traceback" not in ran.err
    assert (home.file.read_bytes() if home.file.is_file() else None) == before


@pytest.mark.req("L-CLI-27")
@pytest.mark.parametrize("to", ["0", "-3", str(HEAD), "99", str(10**40)])
def test_an_impossible_downgrade_is_refused_before_the_question(home, to):
    make(home.file)

    ran = home("db", "downgrade", "--to", to, answer="y\n")

    assert ran.status == 2
    assert "[y/N]" not in ran.err
    assert inspect(home.file, CATALOG).current == HEAD


@pytest.mark.req("L-CLI-27")
def test_a_blocked_downgrade_names_the_step_and_its_reason_before_the_question(home):
    make(home.file, catalog_with(table(HEAD + 1, "merged", irreversible="the rows are one now")))

    ran = home("db", "downgrade", answer="y\n")

    assert ran.status == 2
    assert "(merged) cannot be undone: the rows are one now" in ran.err
    assert "[y/N]" not in ran.err


@pytest.mark.req("L-CLI-27")
@pytest.mark.req("L-CLI-40")
@pytest.mark.req("L-STO-22")
def test_a_newer_file_is_stepped_back_after_asking_and_a_copy_is_kept(home):
    make(home.file, NEWER)

    assert home("db", "downgrade").status == 2  # nobody to ask
    assert home("db", "downgrade", "--json").status == 2
    assert home("db", "downgrade", answer="\n").err.endswith("Aborted.\n")
    one = home("db", "downgrade", answer="yes\n")
    rest = home("db", "downgrade", "--to", str(HEAD), "--json", "--yes")

    assert one.out == f"downgraded: v{HEAD + 2} -> v{HEAD + 1} (1 steps undone)\n"
    assert f"back from v{HEAD + 2} (sizes): done in" in one.err
    copy = home.file.with_name(f"localdb.db.v{HEAD + 1}.bak")
    expected = {"status": "ok", "from_version": HEAD + 1, "to_version": HEAD, "steps": 1}
    assert rest.json == {**expected, "copy": str(copy)}
    assert "colours" in tables(copy) - tables(home.file)
    assert home("store", "list").status == 0


@pytest.mark.req("L-CLI-28")
def test_a_vacuum_gives_room_back_and_says_how_much(home):
    make(home.file)
    execute(home.file, "CREATE TABLE big AS SELECT zeroblob(3000000) AS a", "DROP TABLE big")

    first = home("db", "vacuum")
    answer = home("db", "vacuum", "--json")

    assert "Warning:" in first.err
    assert "disk space" in first.err
    assert "2.9 MiB reclaimed" in first.out
    assert set(answer.json) == {
        "status", "size_before_bytes", "size_after_bytes", "bytes_reclaimed", "duration_ms",
    }  # fmt: skip
    assert answer.json["bytes_reclaimed"] == 0
    assert home("store", "list").status == 0


@pytest.mark.parametrize("words", [("migrate",), ("downgrade", "--yes")])
def test_a_database_that_another_localdb_has_open_is_not_changed(home, words, monkeypatch):
    monkeypatch.setattr(databases, "PATIENCE_MS", 50)
    make(home.file, OLDER if words == ("migrate",) else NEWER)
    before = home.file.read_bytes()
    with closing(sqlite3.connect(home.file)) as other:
        other.execute("SELECT * FROM stores").fetchall()

        ran = home("db", *words)

    assert ran.status == 4
    assert "stop it" in ran.err
    assert home.file.read_bytes() == before


@pytest.mark.req("L-CLI-25")
def test_the_state_is_shown_even_while_the_file_is_migrated(home, monkeypatch):
    monkeypatch.setattr(inspection, "WAIT_MS", 20)
    make(home.file)

    with runner.alone_with(home.file, timeout_ms=50):
        shown, other = home("db", "status"), home("store", "list")

    assert (shown.status, "is migrating" in shown.out) == (0, True)
    assert (other.status, "is migrating" in other.err) == (4, True)


def test_ctrl_c_in_the_middle_of_a_statement_undoes_its_step_and_no_other(home, monkeypatch):
    make(home.file)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n"
    slow = Migration(
        HEAD + 2, "slow", up=("DELETE FROM jobs", f"CREATE TABLE t AS {endless}"), irreversible="x"
    )
    monkeypatch.setattr(databases, "CATALOG", catalog_with(table(HEAD + 1, "quick"), slow))
    tell = db._Steps.__call__

    def press(steps, event):
        tell(steps, event)
        if (event.name, event.done) == ("slow", 1):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(db._Steps, "__call__", press)

    ran = home("db", "migrate")

    assert ran.status == 130
    assert ran.err.splitlines()[-1] == "interrupted"
    assert f"to v{HEAD + 1} (quick): done" in ran.err
    assert inspect(home.file, CATALOG).current == HEAD + 1
    assert "t" not in tables(home.file)


KILLED = """
import os, signal, sys, threading
from pathlib import Path
from localdb_core.plugin import Migration
from localdb_core.storage.migrations import runner
from localdb_core.storage.migrations.chain import Chain, Schema
from localdb_core.storage.schema import CATALOG

steps = tuple(
    Migration(
        CATALOG.chain.head + n,
        f"s{n}",
        up=(f"CREATE TABLE s{n} AS SELECT zeroblob(5000000) AS a", f"CREATE TABLE more{n} (a)"),
        down=(f"DROP TABLE s{n}", f"DROP TABLE more{n}"),
    )
    for n in (1, 2)
)
later = Schema(CATALOG.application_id, Chain((*CATALOG.chain.steps, *steps)), ())

def kill(event):
    if event.name == "s2" and event.done == 1:
        os.kill(os.getpid(), signal.SIGKILL)

with runner.alone_with(Path(sys.argv[1]), timeout_ms=50) as db:
    runner.step_up(db, later, on_step=kill, cancel=threading.Event())
"""


@pytest.mark.req("L-STO-22")
def test_a_migration_killed_in_the_middle_of_a_step_keeps_the_steps_before_it(home):
    make(home.file)

    done = subprocess.run([sys.executable, "-c", KILLED, str(home.file)], check=False)

    assert done.returncode == -signal.SIGKILL
    found = home("db", "status", "--json").json
    assert (found["state"], found["current_version"]) == ("newer than this program", HEAD + 1)
    assert {"s1", "more1"} <= tables(home.file)
    assert not {"s2", "more2"} & tables(home.file)
    assert home("db", "downgrade", "--yes").status == 0
    assert home("store", "list").status == 0


def test_every_command_of_the_group_has_an_example_and_refuses_a_store(home):
    make(home.file)

    for command in ("status", "migrate", "downgrade", "vacuum"):
        helped = home("db", command, "--help")
        assert helped.status == 0
        assert home("db", command, "--store", "default").status == 2
