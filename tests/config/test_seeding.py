"""What the first run makes, what it leaves alone, and which first store comes with it."""

import pytest

from localdb_core.app import LocalDB, prepare
from localdb_core.config.scaffold import SCHEMA_NAME, write_config
from localdb_core.domain.errors import InvalidConfig
from localdb_core.host.selection import PluginSelection

ALONE = PluginSelection(no_plugins=True)


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Where the config will be; everything else goes below the same folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    return tmp_path / "config.yaml"


def names(config, **options):
    with LocalDB.open(config, ALONE, **options) as app:
        return [store.name for store in app.stores.list()]


def remove(config, name):
    with LocalDB.open(config, ALONE) as app:
        app.stores.remove(app.stores.resolve(name))


@pytest.mark.req("L-CFG-20")
def test_a_first_run_makes_config_schema_folders_database_and_store(config, tmp_path):
    assert names(config) == ["default"]

    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert made >= {
        *("config.yaml", SCHEMA_NAME, "data/localdb/localdb.db"),
        *("cache/localdb/models", "state/localdb/logs"),
    }


@pytest.mark.req("L-CFG-24")
def test_preparing_makes_no_database_and_a_later_open_makes_the_first_store(config, tmp_path):
    paths, _ = prepare(config)

    assert paths.data.is_dir()
    assert not paths.database.exists()
    assert names(config) == ["default"]


@pytest.mark.req("L-CFG-24")
@pytest.mark.parametrize("seed", [False, True])
def test_a_default_store_that_was_removed_is_never_made_again(config, seed):
    assert names(config) == ["default"]
    remove(config, "default")

    assert names(config, seed=seed) == []


@pytest.mark.req("L-CFG-24")
def test_beside_an_edited_config_only_init_makes_the_first_store(config):
    write_config(config)
    config.write_text(config.read_text() + "# mine\n")
    other = config.with_name("other.yaml")
    other.write_text("version: 1\npaths: {data: other}\n")

    assert names(config) == []
    assert names(other, seed=True) == ["default"]


@pytest.mark.req("L-CFG-13")
def test_nothing_that_is_done_rewrites_the_config(config, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Aardvark\n")
    config.write_text("version: 1\ndefaults: {indexing: {parsers: [markdown]}}\n")
    before = (config.read_bytes(), config.stat().st_mtime_ns, config.stat().st_ino)

    with LocalDB.open(config, ALONE, seed=True) as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(tmp_path / "notes"))
        app.index([store])
        app.engines.rebuild("sparse", [store], on_progress=lambda *_: None)
        app.status([store])
        app.stores.remove(store)

    assert (config.read_bytes(), config.stat().st_mtime_ns, config.stat().st_ino) == before


@pytest.mark.req("L-CFG-02")
@pytest.mark.parametrize("leftover", ["runtime-state.db", "stores"])
def test_a_data_folder_of_an_old_release_is_left_as_it_is(config, tmp_path, leftover):
    data = tmp_path / "data" / "localdb"
    (data / leftover).mkdir(parents=True)

    with pytest.raises(InvalidConfig, match="made by a release before 0.1"):
        names(config)
    assert [entry.name for entry in data.iterdir()] == [leftover]
