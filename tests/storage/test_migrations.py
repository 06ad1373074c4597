"""The catalog's chain of schema versions, against real files."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from localdb_core.domain.databases import FileState, StepEvent
from localdb_core.domain.errors import (
    InternalError,
    InvalidRequest,
    RuntimeStateLocked,
    SchemaMismatch,
    StorageUnavailable,
)
from localdb_core.plugin import Migration
from localdb_core.storage.connections import Connections, open_writer
from localdb_core.storage.migrations import records, runner
from localdb_core.storage.migrations.chain import Chain, Schema
from localdb_core.storage.migrations.inspection import inspect
from localdb_core.storage.schema import CATALOG
from localdb_core.testing.app import make_app
from localdb_core.testing.migrations import shape

HEAD = CATALOG.chain.head


def up_to(version: int) -> Schema:
    """The catalog as a program knew it whose head was this version."""
    chain = Chain(tuple(step for step in CATALOG.chain.steps if step.version <= version))
    ups = tuple(statement for step in chain.steps for statement in step.up)
    return Schema(CATALOG.application_id, chain, ups)


def extended(*steps: Migration) -> Schema:
    """The catalog as a program of tomorrow knows it."""
    chain = Chain((*CATALOG.chain.steps, *steps))
    ups = tuple(statement for step in steps for statement in step.up)
    return Schema(CATALOG.application_id, chain, (*CATALOG.statements, *ups))


TOMORROW = extended(
    Migration(
        HEAD + 1,
        "colours",
        up=("ALTER TABLE stores ADD COLUMN colour TEXT",),
        down=("ALTER TABLE stores DROP COLUMN colour",),
    )
)


def make(path: Path, schema: Schema) -> Path:
    open_writer(path, schema).close()
    return path


def migrate(path: Path, schema: Schema = CATALOG, on_step=lambda event: None) -> int:
    with runner.alone_with(path, timeout_ms=50) as db:
        return runner.step_up(db, schema, on_step=on_step, cancel=threading.Event())


def downgrade(path: Path, target: int) -> int:
    with runner.alone_with(path, timeout_ms=50) as db:
        return runner.step_down(db, target, on_step=lambda event: None, cancel=threading.Event())


def recorded(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(
            "SELECT version, name, down_sql, down_unsupported_reason, checksum"
            " FROM schema_migrations ORDER BY version"
        ).fetchall()


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


@pytest.mark.req("L-STO-24")
def test_the_baseline_and_every_step_make_the_schema_of_a_new_file(tmp_path: Path) -> None:
    new = make(tmp_path / "new.db", CATALOG)
    old = make(tmp_path / "old.db", up_to(CATALOG.chain.baseline))

    assert migrate(old) == HEAD - CATALOG.chain.baseline
    assert shape(old) == shape(new)
    assert recorded(old) == recorded(new)


@pytest.mark.req("L-STO-23")
@pytest.mark.req("L-STO-24")
def test_a_new_file_goes_down_to_every_older_schema_and_up_again(tmp_path: Path) -> None:
    file = make(tmp_path / "file.db", CATALOG)

    for version in range(HEAD - 1, CATALOG.chain.baseline - 1, -1):
        downgrade(file, version)
        assert shape(file) == shape(make(tmp_path / f"{version}.db", up_to(version)))
        assert [row[0] for row in recorded(file)] == list(range(1, version + 1))
    migrate(file)
    assert shape(file) == shape(make(tmp_path / "new.db", CATALOG))


def test_released_steps_never_change() -> None:
    checksums = {step.version: records.checksum(step) for step in CATALOG.chain.steps}

    assert checksums == {
        1: "1ef520b7852910e7b03ce99ecb8493f9a2e1be2dc3c2743055ab0746bb162220",
        2: "65177a3500bd601e7e4bf1f07255993f41c72fd43045d05dd9e041f0139e2469",
    }


@pytest.mark.req("L-STO-22")
def test_an_older_program_steps_back_a_file_whose_last_step_it_has_never_seen(
    tmp_path: Path,
) -> None:
    file = make(tmp_path / "file.db", TOMORROW)
    assert inspect(file, CATALOG).state is FileState.NEWER

    assert downgrade(file, HEAD) == 1
    assert inspect(file, CATALOG).state is FileState.CURRENT
    assert shape(file) == shape(make(tmp_path / "new.db", CATALOG))


@pytest.mark.req("L-STO-22")
def test_a_step_that_cannot_be_undone_blocks_the_way_and_says_why(tmp_path: Path) -> None:
    merged = Migration(
        HEAD + 1, "merge", up=("DROP TABLE sync_state",), irreversible="the rows are merged"
    )
    file = make(tmp_path / "file.db", extended(merged))

    with pytest.raises(InvalidRequest, match=r"\(merge\) cannot be undone: the rows are merged"):
        runner.check_target(inspect(file, CATALOG), None)


@pytest.mark.parametrize("target", [0, -1, HEAD, HEAD + 7, 10**30])
def test_a_downgrade_goes_down_and_not_below_the_baseline(tmp_path: Path, target: int) -> None:
    file = make(tmp_path / "file.db", CATALOG)

    with pytest.raises(InvalidRequest):
        runner.check_target(inspect(file, CATALOG), target)


def foreign(path: Path) -> None:
    execute(path, "CREATE TABLE chunks (id TEXT)", "PRAGMA user_version = 6")


def truncated(path: Path) -> None:
    make(path, CATALOG)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def no_record_table(path: Path) -> None:
    make(path, CATALOG)
    execute(path, "DROP TABLE schema_migrations")


def no_records(path: Path) -> None:
    make(path, CATALOG)
    execute(path, "DELETE FROM schema_migrations")


def rows_of_another_kind(path: Path) -> None:
    no_record_table(path)
    columns = "version, name, applied_at, down_sql, down_unsupported_reason, checksum"
    execute(
        path,
        f"CREATE TABLE schema_migrations ({columns})",
        "INSERT INTO schema_migrations VALUES ('a', 1, x'00', NULL, NULL, NULL)",
    )


def other_record_table(path: Path) -> None:
    no_record_table(path)
    execute(path, "CREATE TABLE schema_migrations (a, b)")


REFUSED = {
    "behind": (lambda p: make(p, up_to(1)), FileState.BEHIND, f"1, .* {HEAD}; run: localdb db mig"),
    "newer": (
        lambda p: make(p, TOMORROW),
        FileState.NEWER,
        f"version {HEAD + 1}, .* knows {HEAD}; upgrade localdb-core.*localdb db downgrade --to",
    ),
    "before the baseline": (no_record_table, FileState.LEGACY, "version 0.*localdb add FOLDER"),
    "without records": (no_records, FileState.LEGACY, "move it away"),
    "foreign": (foreign, FileState.FOREIGN, "not made by this program; set paths.data"),
    "truncated": (truncated, FileState.DAMAGED, "put a copy of it back, or move it away"),
    "text": (lambda p: p.write_text("no database " * 400), FileState.DAMAGED, "move it away"),
    "tiny": (lambda p: p.write_bytes(b"SQLite format 3\0"), FileState.DAMAGED, "move it away"),
    "rows of another kind": (rows_of_another_kind, FileState.DAMAGED, "move it away"),
    "another record table": (other_record_table, FileState.DAMAGED, "move it away"),
}


@pytest.mark.req("L-INV-04")
@pytest.mark.req("L-STO-20")
@pytest.mark.parametrize("kind", REFUSED)
def test_a_file_that_is_not_at_head_is_refused_with_a_remedy_and_left_alone(
    tmp_path: Path, kind: str
) -> None:
    spoil, state, message = REFUSED[kind]
    file = tmp_path / "file.db"
    spoil(file)
    before = file.read_bytes()

    with pytest.raises(SchemaMismatch, match=message) as caught:
        Connections(file)

    assert caught.value.code == "invalid_config"
    assert caught.value.exit_status == 2
    assert inspect(file, CATALOG).state is state
    assert file.read_bytes() == before


@pytest.mark.req("L-STO-20")
@pytest.mark.parametrize("content", [None, b""])
def test_no_file_and_an_empty_one_become_a_database_at_head(tmp_path: Path, content) -> None:
    file = tmp_path / "file.db"
    if content is not None:
        file.write_bytes(content)
    assert inspect(file, CATALOG).state is FileState.ABSENT

    Connections(file).close()

    found = inspect(file, CATALOG)
    assert (found.state, found.current) == (FileState.CURRENT, HEAD)


@pytest.mark.req("L-STO-21")
@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM schema_migrations WHERE version = 1",
        "UPDATE schema_migrations SET checksum = 'x' WHERE version = 1",
        "UPDATE schema_migrations SET name = 'other' WHERE version = 2",
        "UPDATE schema_migrations SET down_sql = '[]' WHERE version = 2",
        "UPDATE schema_migrations SET down_unsupported_reason = 'no' WHERE version = 1",
        "INSERT INTO schema_migrations VALUES (9, 'far', '', '[]', NULL, 'x')",
    ],
)
def test_changed_records_are_an_internal_error(tmp_path: Path, change: str) -> None:
    file = make(tmp_path / "file.db", CATALOG)
    execute(file, change)
    before = file.read_bytes()

    with pytest.raises(InternalError, match="record of schema version") as caught:
        Connections(file)

    assert caught.value.exit_status == 1
    assert inspect(file, CATALOG).state is FileState.TAMPERED
    assert file.read_bytes() == before


def test_a_step_that_fails_is_rolled_back_and_the_steps_before_it_stay(tmp_path: Path) -> None:
    broken = extended(
        TOMORROW.chain.steps[-1],
        Migration(
            HEAD + 2,
            "broken",
            up=("ALTER TABLE stores ADD COLUMN size TEXT", "DROP TABLE nowhere"),
            irreversible="never",
        ),
    )
    file = make(tmp_path / "file.db", CATALOG)

    with pytest.raises(InternalError, match="no such table: nowhere"):
        migrate(file, broken)

    assert shape(file) == shape(make(tmp_path / "other.db", TOMORROW))
    assert recorded(file) == recorded(tmp_path / "other.db")


@pytest.mark.parametrize(
    "statement", ["COMMIT", "ROLLBACK", "SAVEPOINT a", "ATTACH 'other.db' AS other", "VACUUM"]
)
def test_a_statement_cannot_leave_the_transaction_of_its_step(
    tmp_path: Path, statement: str
) -> None:
    sly = extended(
        Migration(HEAD + 1, "sly", up=("DELETE FROM stores", statement), irreversible="no")
    )
    file = tmp_path / "file.db"
    Connections(file, first_store="kept").close()

    with pytest.raises(InternalError):
        migrate(file, sly)

    with closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT name FROM stores").fetchall() == [("kept",)]
    assert inspect(file, CATALOG).state is FileState.CURRENT


def test_a_step_without_room_is_rolled_back_and_says_so(tmp_path: Path) -> None:
    big = extended(
        Migration(
            HEAD + 1,
            "big",
            up=(
                "DELETE FROM stores",
                "PRAGMA max_page_count = 200",
                "CREATE TABLE big AS SELECT zeroblob(10000000) AS a",
            ),
            irreversible="no",
        )
    )
    file = tmp_path / "file.db"
    Connections(file, first_store="kept").close()

    with pytest.raises(StorageUnavailable, match="free some space"):
        migrate(file, big)

    with closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT name FROM stores").fetchall() == [("kept",)]
    assert inspect(file, CATALOG).state is FileState.CURRENT


def test_a_way_down_that_cannot_be_read_changes_nothing(tmp_path: Path) -> None:
    file = make(tmp_path / "file.db", TOMORROW)
    execute(file, f"UPDATE schema_migrations SET down_sql = '[1' WHERE version = {HEAD + 1}")

    with pytest.raises(InternalError, match="cannot be read"):
        downgrade(file, HEAD)

    assert inspect(file, CATALOG).current == HEAD + 1


def test_a_long_step_stops_in_the_middle_of_a_statement_when_asked(tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n"
    slow = extended(
        Migration(
            HEAD + 1,
            "slow",
            up=("DELETE FROM stores", f"CREATE TABLE numbers AS {endless}"),
            irreversible="no",
            kind="rebuild",
        )
    )
    file = tmp_path / "file.db"
    Connections(file, first_store="kept").close()
    cancel = threading.Event()
    before = shape(file)

    def stop_at_the_second(event: StepEvent) -> None:
        if event.done == 1:
            threading.Timer(0.05, cancel.set).start()

    with runner.alone_with(file, timeout_ms=50) as db, pytest.raises(KeyboardInterrupt):
        runner.step_up(db, slow, on_step=stop_at_the_second, cancel=cancel)

    assert shape(file) == before
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT name FROM stores").fetchall() == [("kept",)]


@pytest.mark.parametrize("reading", [True, False])
def test_a_file_that_another_process_has_open_is_not_migrated(
    tmp_path: Path, reading: bool
) -> None:
    file = make(tmp_path / "file.db", CATALOG)
    other = sqlite3.connect(f"{file.as_uri()}?mode={'ro' if reading else 'rw'}", uri=True)
    other.execute("SELECT * FROM stores").fetchall()  # idle now, but there

    with closing(other), pytest.raises(RuntimeStateLocked, match="stop it"):
        migrate(file, TOMORROW)

    assert inspect(file, CATALOG).state is FileState.CURRENT
    assert migrate(file, TOMORROW) == 1


def test_a_program_that_starts_while_a_file_is_migrated_waits_or_is_told(tmp_path: Path) -> None:
    file = make(tmp_path / "file.db", CATALOG)

    with (
        runner.alone_with(file, timeout_ms=50),
        closing(sqlite3.connect(file, timeout=0.05)) as other,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        other.execute("SELECT * FROM stores").fetchall()


def test_a_file_migrated_between_the_look_and_the_opening_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from localdb_core.storage import schema

    file = make(tmp_path / "file.db", TOMORROW)
    monkeypatch.setattr(schema, "refuse_unusable", lambda path, wanted: None)

    with pytest.raises(SchemaMismatch, match="upgrade"):
        Connections(file)
    assert migrate(file, TOMORROW) == 0  # nothing was left open


def test_a_copy_is_whole_and_never_replaces_an_older_one(tmp_path: Path) -> None:
    file = tmp_path / "file.db"
    Connections(file, first_store="kept").close()

    with runner.alone_with(file, timeout_ms=50) as db:
        copies = [runner.keep_copy(db, file, 2, cancel=threading.Event()) for _ in range(2)]

    assert [copy.name for copy in copies] == ["file.db.v2.bak", "file.db.v2.bak.2"]
    for copy in copies:
        assert shape(copy) == shape(file)
        with closing(sqlite3.connect(copy)) as db:
            assert db.execute("SELECT name FROM stores").fetchall() == [("kept",)]
    restored = shutil.copy(copies[0], tmp_path / "restored.db")
    Connections(Path(restored)).close()


def test_packing_and_copying_stop_when_asked_and_leave_everything_as_it_was(
    tmp_path: Path,
) -> None:
    file = make(tmp_path / "file.db", CATALOG)
    cancel = threading.Event()
    cancel.set()
    before = file.read_bytes()

    with pytest.raises(KeyboardInterrupt):
        runner.vacuum(file, cancel)
    with runner.alone_with(file, timeout_ms=50) as db, pytest.raises(KeyboardInterrupt):
        runner.keep_copy(db, file, 2, cancel=cancel)

    assert file.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["file.db"]


@pytest.mark.req("L-STO-25")
def test_a_document_marked_as_stale_is_read_again_once(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Herons\n\nHerons stand still.\n")
    (notes / "b.md").write_text("# Owls\n\nOwls turn their heads.\n")
    with make_app(tmp_path / "home") as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(notes))
        app.index([store])
        with app.catalog.connections.write() as db:
            db.execute("UPDATE resources SET stale = 1 WHERE uri LIKE '%a.md'")

        notices = app.status([store]).notices
        plan = {row.uri[-4:]: row for row in app.plan([store])}
        runs = [app.index([store])[0].stats.docs_indexed for _ in range(2)]
        later = app.status([store]).notices

    assert any("1 documents are to be read again" in notice for notice in notices)
    assert not any("read again" in notice for notice in later)
    assert plan["a.md"].action == "reparse"
    assert "migration" in plan["a.md"].reason
    assert plan["b.md"].action == "skip"
    assert runs == [1, 0]


def test_a_migration_is_made_with_one_way_back_or_a_reason() -> None:
    for bad in ({}, {"down": ("x",), "irreversible": "y"}):
        with pytest.raises(ValueError, match="either"):
            Migration(1, "a", up=("x",), **bad)
    with pytest.raises(ValueError, match="does nothing"):
        Migration(1, "a", up=(), irreversible="y")
    with pytest.raises(ValueError, match="gaps"):
        Chain(tuple(Migration(v, "a", up=("x",), irreversible="y") for v in (1, 3)))
    with pytest.raises(ValueError, match="begins"):
        Chain(())
