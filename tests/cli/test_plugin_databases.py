"""A plugin with tables of its own: made, refused, migrated and listed as the catalog is."""

from __future__ import annotations

import io
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from localdb_core.cli.state import State
from localdb_core.domain.errors import PluginError, SchemaMismatch
from localdb_core.host.host import Host
from localdb_core.host.selection import PluginSelection
from localdb_core.plugin import PluginInfo
from localdb_core.storage.plugindb import plugin_schema
from localdb_core.storage.schema import CATALOG
from localdb_core.testing.app import make_app
from localdb_core.testing.migrations import there_and_back

FIRST = """
from localdb_core.plugin import Migration

STEP = Migration(1, "notes", up=("CREATE TABLE notes (text)",), irreversible="the first")
"""
SECOND = """
from localdb_core.plugin import Migration

STEP = Migration(
    2,
    "colours",
    up=("ALTER TABLE notes ADD COLUMN colour TEXT",),
    down=("ALTER TABLE notes DROP COLUMN colour",),
)
"""
BROKEN = """
from localdb_core.plugin import Migration

STEP = Migration(2, "broken", up=("DELETE FROM notes", "DROP TABLE nowhere"), irreversible="x")
"""


class World:
    """A home, and a plugin ``jotter`` whose releases differ in their steps."""

    def __init__(self, here, folder: Path) -> None:
        self.here = here
        self.folder = folder
        self.home = folder / "home"
        self.file = self.home / "data" / "plugins" / "jotter" / "database.db"
        self.package = ""
        self._releases = 0

    def release(self, *steps: str) -> None:
        """Another version of the plugin, in a package that was never imported."""
        self._releases += 1
        self.package = f"jotter_steps_{self.folder.name}_{self._releases}".replace("-", "_")
        package = self.folder / "site" / self.package
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "helper.py").write_text("")  # no step, and not taken for one
        for number, text in enumerate(steps, 1):
            (package / f"m{number:04}_step.py").write_text(text)

    def plugins(self):
        module = ModuleType("jotter")
        module.__file__ = None
        module.PLUGIN = PluginInfo(api="1.0", migrations=self.package or None)
        return [("jotter", module)]

    def app(self):
        return make_app(self.home, plugins=self.plugins())

    def database(self) -> sqlite3.Connection:
        with self.app() as app:
            return app.tool_context("jotter", app.services()).database()

    def write_a_note(self) -> None:
        with closing(self.database()) as db:
            db.execute("INSERT INTO notes (text) VALUES ('kept')")

    def __call__(self, *words: str, plugins: bool = True):
        extra = self.plugins() if plugins else []
        self.here.host = Host.load(PluginSelection(no_plugins=True), extra=extra)
        ran = self.here("--config", self.home / "config.yaml", *words)
        return ran.status, ran.out, ran.err


@pytest.fixture
def world(here, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    made = World(here, tmp_path)
    yield made
    for name in [name for name in sys.modules if name.startswith("jotter_steps_")]:
        del sys.modules[name]


def notes(world) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(world.file)) as db:
        return db.execute("SELECT * FROM notes").fetchall()


def test_a_plugin_finds_its_tables_made_and_what_it_wrote_kept(world):
    world.release(FIRST, SECOND)
    assert not world.file.exists()

    world.write_a_note()

    with closing(world.database()) as db:
        assert [tuple(row) for row in db.execute("SELECT * FROM notes")] == [("kept", None)]


def test_a_plugin_is_refused_a_file_of_another_release_and_told_what_to_type(world):
    world.release(FIRST)
    world.write_a_note()
    before = world.file.read_bytes()

    world.release(FIRST, SECOND)
    with pytest.raises(SchemaMismatch, match="localdb db migrate"):
        world.database()
    assert world.file.read_bytes() == before

    assert world("db", "migrate")[0] == 0
    world.database().close()
    world.release(FIRST)
    with pytest.raises(SchemaMismatch, match="upgrade plugin jotter.*--plugin jotter --to 1"):
        world.database()


def test_the_same_commands_list_and_migrate_the_database_of_a_plugin(world):
    world.release(FIRST)
    world.write_a_note()
    world.release(FIRST, SECOND)

    _, listed, _ = world("db", "status", "--json")
    status, done, told = world("db", "migrate")
    _, again, _ = world("db", "migrate", "--json")

    (row,) = json.loads(listed)["plugins"]
    assert (row["plugin"], row["state"], row["pending"]) == ("jotter", "behind head", 1)
    assert status == 0
    assert "plugin jotter: migrated: v1 -> v2 (1 steps applied)" in done
    assert "to v2 (colours): done in" in told
    assert json.loads(again)["results"][1] == {
        "plugin": "jotter",
        "message": "plugin jotter: already at head (v2)",
    }
    assert notes(world) == [("kept", None)]
    assert "database of plugin jotter" in world("db", "status")[1]


def test_an_older_release_of_the_plugin_steps_its_database_back(world):
    world.release(FIRST, SECOND)
    world.write_a_note()
    world.release(FIRST)

    impossible = world("db", "downgrade", "--plugin", "jotter", "--to", "0", "--yes")
    status, done, _ = world("db", "downgrade", "--plugin", "jotter", "--yes")

    assert impossible[0] == 2
    assert (status, done) == (0, "downgraded: v2 -> v1 (1 steps undone)\n")
    assert notes(world) == [("kept",)]
    world.database().close()


def test_a_step_that_fails_costs_the_plugin_nothing_and_names_the_file(world):
    world.release(FIRST)
    world.write_a_note()
    world.release(FIRST, BROKEN)

    status, done, told = world("db", "migrate", "--json")

    assert status == 1
    assert json.loads(done)["status"] == "error"
    assert json.loads(done)["results"] == [{"message": f"already at head (v{CATALOG.chain.head})"}]
    assert str(world.file) in told
    assert "no such table: nowhere" in told
    assert notes(world) == [("kept",)]


def test_a_database_whose_plugin_is_not_loaded_is_listed_and_left_alone(world):
    world.release(FIRST)
    world.write_a_note()
    before = world.file.read_bytes()

    _, listed, _ = world("db", "status", plugins=False)
    status, _, told = world("db", "migrate", plugins=False)
    named = world("db", "downgrade", "--plugin", "jotter", "--yes", plugins=False)
    unknown = world("db", "downgrade", "--plugin", "nobody", "--yes")

    assert "state: unknown; plugin jotter: migrations: it is not loaded" in listed
    assert (status, "is left as it is" in told) == (0, True)
    assert (named[0], unknown[0]) == (1, 2)
    assert "localdb db status" in unknown[2]
    assert world.file.read_bytes() == before


def test_a_damaged_database_of_a_plugin_is_named_and_keeps_nothing_else_from_being_migrated(world):
    world.release(FIRST)
    world.write_a_note()
    world.file.write_bytes(world.file.read_bytes()[:5000])
    before = world.file.read_bytes()

    _, listed, _ = world("db", "status", "--json")
    status, done, told = world("db", "migrate")

    (row,) = json.loads(listed)["plugins"]
    assert row["state"] == "damaged"
    assert row["problem"].endswith("put a copy of it back, or move it away")
    assert (status, done) == (2, f"already at head (v{CATALOG.chain.head})\n")
    assert str(world.file) in told
    assert world.file.read_bytes() == before


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        (("STEP = 5",), "needs STEP = Migration"),
        (("1/0",), "division by zero"),
        ((FIRST, FIRST), "needs STEP = Migration(2"),
        ((), "begins with version 1"),
        ((FIRST, BROKEN), "no such table: nowhere"),
        ((FIRST, SECOND.replace("ALTER TABLE notes ADD COLUMN colour TEXT", "COMMIT")), "author"),
    ],
)
def test_bad_steps_are_the_plugins_fault_and_leave_no_half_made_database(world, steps, reason):
    world.release(*steps)

    with pytest.raises(PluginError) as caught:
        world.database()

    assert str(caught.value).startswith("plugin jotter: migrations: ")
    assert reason in str(caught.value)
    assert not world.file.exists() or not tables(world.file)


def tables(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as db:
        return [row[0] for row in db.execute("SELECT name FROM sqlite_master")]


def test_a_plugin_without_migrations_has_no_database(world):
    with pytest.raises(PluginError, match=r"no PLUGIN\.migrations"):
        world.database()


def test_no_plugin_is_loaded_for_the_database_while_none_has_a_file(world):
    make_app(world.home, plugins=[]).close()
    state = State(out=io.StringIO(), err=io.StringIO(), config_path=world.home / "config.yaml")
    state.host = lambda: pytest.fail("a plugin was loaded")

    assert state.databases().plugins() == ([], [])


def test_the_contract_takes_the_steps_of_a_plugin_down_and_up(world, tmp_path):
    world.release(FIRST, SECOND)
    fresh, again = there_and_back(plugin_schema("jotter", world.package), tmp_path / "a.db")
    assert fresh == again
    assert ("table", "notes") in fresh

    world.release(FIRST, SECOND.replace("DROP COLUMN colour", "RENAME COLUMN colour TO hue"))
    fresh, again = there_and_back(plugin_schema("jotter", world.package), tmp_path / "b.db")
    assert fresh != again
