"""``doctor``: nothing wrong, then each fault; and it never breaks off or leaves a trace."""

import os
import shutil
import sqlite3
import sys
import threading
from contextlib import closing
from dataclasses import replace
from types import ModuleType

import pytest
import yaml

from localdb_core.domain.errors import InvalidRequest
from localdb_core.domain.health import Check, CheckStatus, failed
from localdb_core.host.health import Checker
from localdb_core.host.host import Host
from localdb_core.host.selection import PluginSelection
from localdb_core.plugin import CheckContext, PluginInfo, hookimpl
from localdb_core.services import doctor
from localdb_core.services.doctor import environment, setup
from localdb_core.storage.lock import StoreLock
from localdb_core.testing import memory_plugin
from localdb_core.testing.app import MEMORY, make_app

pytestmark = pytest.mark.req("L-CLI-37")


class Patient:
    """A home with one indexed store, and what doctor says about it."""

    def __init__(self, folder):
        self.folder = folder
        self.data = folder / "data"
        self.config = folder / "config.yaml"
        self.notes = folder / "notes"
        self.plugins = [("memory", memory_plugin)]

    def settle(self, **config):
        """Index a note with a config that has these sections, too."""
        self.notes.mkdir(exist_ok=True)
        (self.notes / "a.md").write_text("# Herons\n\nHerons stand still.\n")
        with make_app(self.folder, config={**MEMORY, **config}) as app:
            (store,) = app.stores.list()
            app.sources.add(store, str(self.notes))
            app.index([store])
        return self

    def write(self, **sections):
        """Replace sections of the config."""
        written = yaml.safe_load(self.config.read_text())
        self.config.write_text(yaml.safe_dump({**written, **sections}))

    def change(self, statement):
        with closing(sqlite3.connect(self.data / "localdb.db")) as db, db:
            db.execute(statement)

    def checks(self):
        def load(selection):
            return Host.load(selection, extra=self.plugins)

        return doctor.examine(
            self.config, lambda _: PluginSelection(no_plugins=True, strict=True), load=load
        )

    def said(self, name):
        """The only check of this name."""
        (check,) = [check for check in self.checks() if check.name == name]
        return check

    def complaints(self):
        """Names of everything that is not as it should be."""
        return {check.name: check.status for check in self.checks() if check.status != "ok"}


@pytest.fixture
def patient(tmp_path):
    return Patient(tmp_path)


@pytest.fixture(scope="module")
def settled(tmp_path_factory):
    """Indexed once; each test gets a copy."""
    return Patient(tmp_path_factory.mktemp("settled")).settle()


@pytest.fixture
def healthy(settled, tmp_path):
    shutil.copytree(settled.folder, tmp_path, dirs_exist_ok=True)
    copy = Patient(tmp_path)
    copy.config.write_text(settled.config.read_text().replace(str(settled.folder), str(tmp_path)))
    copy.change(f"UPDATE sources SET root = '{copy.notes}'")
    return copy


def module(name, *, checks=None, **attributes):
    """A light module made on the spot."""
    made = ModuleType(name)
    made.__file__ = __file__
    made.PLUGIN = PluginInfo(api="1.0", **attributes)
    if checks is not None:
        checks.__name__ = "localdb_checks"
        made.localdb_checks = hookimpl(checks)
    return name, made


# The default parsers are not installed in these tests, and that is worth a word.
USUAL = {"parsers": CheckStatus.WARN}


def test_with_nothing_wrong_every_check_is_ok_but_for_what_is_not_installed(healthy):
    checks = healthy.checks()

    assert healthy.complaints() == USUAL
    assert not failed(checks)
    assert {
        "program", "sqlite", "config", "data folder", "models folder", "logs folder",
        "disk space", "database", "plugin core", "plugin memory", "dense index",
        "sparse index", "embedder", "store default, dense index", "store default, sparse index",
        "store default, embedder", "store default, sources",
    } <= {check.name for check in checks}  # fmt: skip
    assert all(check.remedy for check in checks if check.status is not CheckStatus.OK)


def test_it_leaves_no_trace(healthy):
    def snapshot():
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for path in healthy.folder.rglob("*")
        }

    before = snapshot()
    healthy.checks()

    assert snapshot() == before


def test_before_the_first_run_nothing_is_wrong_and_nothing_is_made(patient, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(patient.folder / "share"))

    checks = patient.checks()

    assert not failed(checks)
    assert "not there yet" in patient.said("database").message
    assert list(patient.folder.iterdir()) == []


@pytest.mark.req("L-EMB-24")
def test_no_model_is_loaded(healthy, monkeypatch):
    def never(*_):
        raise AssertionError("an embedder was built")

    monkeypatch.setattr("localdb_core.testing.memory.FakeEmbedder.__init__", never)

    assert healthy.complaints() == USUAL


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\nbogus: 1\n",
        "version: [",
        "",
        "\x00",
        "version: 9\n",
        "[]",
    ],
)
def test_a_broken_config_is_a_finding_and_the_plugins_are_looked_at_all_the_same(healthy, text):
    healthy.config.write_text(text)

    found = healthy.complaints()

    assert found["config"] is CheckStatus.FAIL
    assert str(healthy.config) in healthy.said("config").remedy
    assert healthy.said("plugin memory").status is CheckStatus.OK


def test_a_config_in_a_folder_that_is_not_there(patient):
    patient.config = patient.folder / "none" / "config.yaml"

    assert patient.said("config").status is CheckStatus.FAIL


def test_a_config_that_is_a_folder(healthy):
    healthy.config.unlink()
    healthy.config.mkdir()

    assert healthy.said("config").status is CheckStatus.FAIL


def test_a_config_that_others_may_change(healthy):
    healthy.config.chmod(0o666)

    check = healthy.said("config permissions")

    assert (check.status, check.remedy) == (CheckStatus.WARN, f"chmod go-w {healthy.config}")


def test_a_key_that_is_not_in_the_environment(healthy):
    healthy.write(providers=[{"name": "mine", "kind": "x", "api_key_env": "NO_SUCH_KEY"}])

    assert "NO_SUCH_KEY" in healthy.said("provider mine").remedy


def test_a_file_where_a_folder_belongs(healthy):
    shutil.rmtree(healthy.data)
    healthy.data.write_text("")

    assert healthy.said("data folder").status is CheckStatus.FAIL


def test_a_folder_that_cannot_be_written(healthy, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: "models" not in str(path))

    assert healthy.said("models folder").status is CheckStatus.FAIL
    assert healthy.said("data folder").status is CheckStatus.OK


@pytest.mark.parametrize(("free", "status"), [(500 << 20, "warn"), (5 << 20, "fail")])
def test_little_and_no_space(healthy, monkeypatch, free, status):
    usage = shutil.disk_usage(healthy.folder)._replace(free=free)
    monkeypatch.setattr(setup.shutil, "disk_usage", lambda _: usage)

    assert healthy.said("disk space").status == status


def test_data_of_a_release_before_the_first(healthy):
    (healthy.data / "runtime-state.db").touch()

    assert any(c.name == "data folder" and c.status == "fail" for c in healthy.checks())


def test_a_python_without_the_full_text_part_of_sqlite(healthy, monkeypatch):
    def refuse(_):
        raise sqlite3.OperationalError("no such module: fts5")

    monkeypatch.setattr(environment.sqlite3, "connect", refuse)

    (check,) = [check for check in environment.checks() if check.name == "sqlite"]
    assert check.status is CheckStatus.FAIL
    assert "Python" in check.remedy


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE chunks",
        "DROP TABLE sources",
        "DROP TABLE index_state",
        "DELETE FROM schema_migrations",
        "UPDATE schema_migrations SET version = version + 900",
        "PRAGMA application_id = 7",
    ],
)
def test_a_database_that_was_tampered_with(healthy, statement):
    healthy.change(statement)

    check = healthy.said("database")

    assert check.status is CheckStatus.FAIL
    assert str(healthy.data / "localdb.db") in check.message
    assert check.remedy


@pytest.mark.parametrize("content", [b"no database " * 100, b"SQLite format 3\0" + b"x"])
def test_a_file_that_is_no_database(healthy, content):
    (healthy.data / "localdb.db").write_bytes(content)

    assert healthy.said("database").status is CheckStatus.FAIL


def test_a_database_with_bytes_overwritten(healthy):
    path = healthy.data / "localdb.db"
    raw = bytearray(path.read_bytes())
    raw[8192:-4096] = b"\xff" * (len(raw) - 8192 - 4096)
    path.write_bytes(raw)

    assert healthy.said("database").status is CheckStatus.FAIL


def test_a_folder_in_place_of_the_database(healthy):
    (healthy.data / "localdb.db").unlink()
    (healthy.data / "localdb.db").mkdir()

    assert healthy.said("database").status is CheckStatus.FAIL


def test_a_log_that_no_healthy_run_leaves(healthy, monkeypatch):
    monkeypatch.setattr(doctor.database, "LARGE_LOG", 10)
    (healthy.data / "localdb.db-wal").write_bytes(b"\0" * 4096)

    assert healthy.said("write-ahead log").status is CheckStatus.WARN


def test_an_index_that_is_gone(healthy):
    shutil.rmtree(next(healthy.data.glob("index/*dense*")))

    check = healthy.said("store default, dense index")

    assert check.status is CheckStatus.WARN
    assert check.remedy == "localdb engine rebuild dense --store default"


def test_an_index_that_changed_on_disk(healthy):
    for file in healthy.data.glob("index/*sparse*/*/*"):
        file.write_bytes(b"junk")

    assert healthy.said("store default, sparse index").status is CheckStatus.FAIL


def test_a_run_that_was_interrupted(healthy):
    healthy.change("UPDATE stores SET index_dirty = 1")

    assert healthy.complaints() == USUAL | {
        "store default, dense index": CheckStatus.WARN,
        "store default, sparse index": CheckStatus.WARN,
    }


def test_a_store_that_is_being_written(healthy):
    healthy.change("UPDATE stores SET index_dirty = 1")
    with make_app(healthy.folder) as app:
        (store,) = app.stores.list()
    lock = StoreLock(healthy.data, store.id)
    lock.acquire()

    check = healthy.said("store default, dense index")
    lock.release()

    assert check.status is CheckStatus.OK
    assert "being written" in check.message


def test_another_embedder_than_the_stores(healthy):
    healthy.write(defaults={"indexing": {"embedding": {"provider": "fake", "model": "new"}}})

    check = healthy.said("store default, embedder")

    assert check.status is CheckStatus.FAIL
    assert "fake new" in check.message


def test_engines_and_embedders_that_nobody_offers(healthy):
    healthy.write(
        index={"dense": "nowhere", "sparse": "memory-dense"},
        defaults={
            "indexing": {
                "embedding": {"provider": "nobody", "model": "x"},
                "parsers": ["markdown", "palm-leaf"],
            }
        },
    )

    found = healthy.complaints()

    for name in ("dense index", "sparse index", "embedder", "parsers"):
        assert found[name] is CheckStatus.FAIL
    assert found["store default, dense index"] is CheckStatus.FAIL


def test_defaults_that_are_not_installed(healthy):
    healthy.write(index={}, defaults={})

    found = healthy.complaints()

    assert found["embedder"] is CheckStatus.WARN
    assert found["dense index"] is CheckStatus.WARN
    assert healthy.said("sparse index").remedy == (
        "pip install localdb-whoosh, or set index.sparse: fts5"
    )


def test_a_default_parser_whose_plugin_does_not_load_is_named_with_the_reason(healthy):
    name, broken = module("pdf")
    broken.PLUGIN = PluginInfo(api="9.0")
    healthy.plugins = (*healthy.plugins, (name, broken))

    (check,) = [c for c in healthy.checks() if c.name == "parsers" and "'pdf'" in c.message]

    assert check.message.startswith("default parser skipped: parser 'pdf' is not available: ")
    assert check.remedy == "localdb plugin list"


def test_a_source_that_is_not_there(healthy):
    shutil.rmtree(healthy.notes)

    check = healthy.said("store default, sources")

    assert check.status is CheckStatus.WARN
    assert str(healthy.notes) in check.message
    assert "localdb source remove" in check.remedy


def test_a_source_that_depends_on_where_one_is(healthy, monkeypatch):
    monkeypatch.chdir(healthy.folder)
    healthy.change("UPDATE sources SET root = 'notes'")

    assert "depends on the folder" in healthy.said("store default, sources").message


def test_a_source_that_no_plugin_reads(healthy):
    healthy.change("UPDATE sources SET kind = 'feed', root = NULL, url = 'http://x'")

    assert healthy.said("store default, sources").remedy == "pip install localdb-web"


def test_a_plugin_that_is_broken(healthy):
    broken = ModuleType("broken")
    broken.__file__, broken.PLUGIN = __file__, "no info"
    healthy.plugins.append(("broken", broken))

    check = healthy.said("plugin broken")

    assert check.status is CheckStatus.FAIL
    assert "-P no:broken" in check.remedy
    assert healthy.said("plugin memory").status is CheckStatus.OK


def test_settings_that_their_plugin_refuses(healthy):
    healthy.write(plugins={"config": {"memory": {"size": 1}}})

    assert healthy.said("settings of memory").status is CheckStatus.FAIL


def test_a_name_that_no_plugin_has(healthy):
    said = "plugins.disable[0]: no plugin is named 'memry'; did you mean plugins.disable.memory?"
    host = replace(Host.load(PluginSelection(no_plugins=True)), notices=(said,))

    checks = doctor.examine(healthy.config, lambda _: host.selection, load=lambda _: host)

    (check,) = [check for check in checks if check.name == "plugin names"]
    assert (check.status, check.remedy) == ("warn", "did you mean plugins.disable.memory?")


def test_a_settings_model_that_cannot_be_imported(healthy):
    healthy.plugins.append(module("odd", config="no_such_module:Model"))

    assert healthy.said("settings of odd").status is CheckStatus.FAIL


def test_a_plugin_may_add_checks(healthy):
    seen = []

    def checks(context):
        seen.append(context)
        return [Check.ok("server", "answers"), Check.fail("disk", "is wet", "dry it")]

    healthy.plugins.append(module("notes", checks=checks))

    assert healthy.said("notes: server").status is CheckStatus.OK
    assert healthy.said("notes: disk") == Check.fail("notes: disk", "is wet", "dry it")
    assert (seen[0].plugin, seen[0].model) == ("notes", "")
    assert seen[0].data_dir == healthy.data / "plugins" / "notes"


def test_an_embedders_plugin_is_told_the_model(healthy):
    seen = []
    made = module("memory", checks=lambda context: seen.append(context) or [])[1]
    made.localdb_embedders = memory_plugin.localdb_embedders
    made.localdb_indexes = memory_plugin.localdb_indexes
    healthy.plugins[:] = [("memory", made)]

    healthy.checks()

    assert (seen[0].model, seen[0].models_dir) == ("fake", healthy.folder / "models")


def _raise(error):
    raise error


@pytest.mark.parametrize(
    ("checks", "said"),
    [
        (lambda: _raise(ValueError("no luck")), "ValueError: no luck"),
        (lambda: sys.exit(3), "SystemExit: 3"),
        (lambda: None, "returned a NoneType"),
        (lambda: "text", "returned a str"),
        (lambda: Check.ok("a", "b"), "returned a Check"),
        (lambda: [42], "int is no Check"),
        (lambda: [Check("a", "purple", "b")], "a Check is a name"),
        (lambda: [Check("a", CheckStatus.OK, None)], "a Check is a name"),
        (lambda: (_raise(OSError("half")) for _ in "x"), "OSError: half"),
    ],
)
def test_checks_that_break_cost_only_themselves(healthy, checks, said):
    healthy.plugins.append(module("odd", checks=checks))
    healthy.plugins.append(module("pal", checks=lambda: [Check.ok("friend", "is here")]))

    found = {check.name: check for check in healthy.checks()}

    broken = [c for c in found.values() if "its checks failed" in c.message]
    assert [said in check.message for check in broken] == [True]
    assert found["pal: friend"].status is CheckStatus.OK
    assert found["store default, sources"].status is CheckStatus.OK


def test_checks_that_never_end_are_given_up():
    end = threading.Event()
    checker = Checker("slow", "", lambda: end.wait(60), ())

    (check,) = checker.run(CheckContext("slow"), limit=0.01)
    end.set()

    assert (check.name, check.status) == ("plugin slow", CheckStatus.FAIL)
    assert "did not end within" in check.message


def test_checks_without_end_are_cut():
    def endless():
        while True:
            yield Check.ok("again", "and again")

    assert len(Checker("many", "", endless, ()).run(CheckContext("many"))) == 100


def test_a_choice_of_plugins_that_cannot_be_is_a_finding(healthy):
    def refuse(_):
        raise InvalidRequest("the built-in plugin core cannot be disabled")

    checks = doctor.examine(healthy.config, refuse)

    assert [c.name for c in checks if c.status == "fail"] == ["plugins"]


def test_a_fault_of_our_own_is_a_finding(healthy, monkeypatch):
    monkeypatch.setattr(doctor.database, "checks", lambda _: _raise(ZeroDivisionError("ours")))

    check = healthy.said("database")

    assert (check.status, check.remedy) == (CheckStatus.FAIL, "localdb doctor --verbose")
    assert healthy.said("store default, sources").status is CheckStatus.OK
