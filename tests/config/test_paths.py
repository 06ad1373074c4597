"""Where things are, on each platform and under each override."""

from pathlib import Path

import pytest
from platformdirs import windows

from localdb_core.config.load import parse_config
from localdb_core.config.model import Config
from localdb_core.config.paths import Paths, find_config, is_written, usual_folders
from localdb_core.domain.errors import InvalidConfig


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
    monkeypatch.delenv("LOCALDB_CONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.req("L-CFG-27")
def test_the_usual_folders_of_linux(home):
    usual = usual_folders("linux")

    assert usual.config_file == home / ".config/localdb/config.yaml"
    assert usual.data == home / ".local/share/localdb"
    assert usual.models == home / ".cache/localdb/models"
    assert usual.logs == home / ".local/state/localdb/logs"


@pytest.mark.req("L-CFG-27")
def test_the_usual_folders_of_macos(home):
    usual = usual_folders("darwin")

    assert usual.config_file == home / "Library/Application Support/localdb/config.yaml"
    assert usual.data == home / "Library/Application Support/localdb/data"
    assert usual.models == home / "Library/Caches/localdb/models"
    assert usual.logs == home / "Library/Logs/localdb"


def test_the_usual_folders_of_windows(home, monkeypatch):
    # Elsewhere platformdirs cannot ask Windows itself; the variables are its second source.
    monkeypatch.setattr(windows, "get_win_folder", windows.get_win_folder_from_env_vars)
    monkeypatch.setenv("LOCALAPPDATA", str(home / "Local"))

    usual = usual_folders("win32")

    assert usual.config_file == home / "Local/localdb/config.yaml"
    assert usual.data == home / "Local/localdb"
    assert usual.models == home / "Local/localdb/Cache/models"
    assert usual.logs == home / "Local/localdb/logs"


@pytest.mark.req("L-CFG-27")
@pytest.mark.parametrize("value", ["", "relative/folder"])
def test_an_xdg_variable_that_is_empty_or_relative_does_not_move_data_around(
    home, monkeypatch, value
):
    monkeypatch.setenv("XDG_DATA_HOME", value)

    assert usual_folders("linux").data.is_absolute()


@pytest.mark.req("L-CFG-27")
def test_the_xdg_variables_are_respected(home, monkeypatch):
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name))

    usual = usual_folders("linux")

    assert usual.config_file == home / "CONFIG/localdb/config.yaml"
    assert usual.data == home / "DATA/localdb"
    assert usual.models == home / "CACHE/localdb/models"
    assert usual.logs == home / "STATE/localdb/logs"


@pytest.mark.req("L-CFG-01")
def test_the_option_wins_over_the_variable_over_the_usual_place(home):
    variable = {"LOCALDB_CONFIG": str(home / "b.yaml")}

    assert find_config(home / "a.yaml", variable) == home / "a.yaml"
    assert find_config(None, variable) == home / "b.yaml"
    assert find_config(None, {"LOCALDB_CONFIG": "~/c.yaml"}) == home / "c.yaml"
    assert find_config(None, {"LOCALDB_CONFIG": ""}) == usual_folders().config_file


@pytest.mark.req("L-CFG-23")
def test_an_explicit_config_in_no_folder_is_refused(home):
    with pytest.raises(InvalidConfig, match="does not exist"):
        find_config(home / "none" / "config.yaml", {})


@pytest.mark.req("L-CFG-27")
def test_the_config_moves_the_folders(home):
    config = parse_config("version: 1\npaths: {data: ~/d, models: /m, logs: l}")

    paths = Paths.of(home / "etc" / "config.yaml", config)

    assert paths.data == home / "d"
    assert paths.models == Path("/m")
    assert paths.logs == home / "etc" / "l"
    assert paths.database == home / "d" / "localdb.db"
    assert paths.config_file == home / "etc" / "config.yaml"


@pytest.mark.req("L-CFG-27")
def test_only_a_leading_tilde_and_slash_means_the_home_folder(home):
    config = parse_config("version: 1\npaths: {data: '~', models: ~me/m, logs: a/~/b}")

    paths = Paths.of(home / "etc" / "config.yaml", config)

    assert paths.data == home
    assert paths.models == home / "etc" / "~me" / "m"
    assert paths.logs == home / "etc" / "a" / "~" / "b"


@pytest.mark.req("L-CFG-02")
@pytest.mark.parametrize("leftover", ["runtime-state.db", "stores"])
def test_a_data_folder_of_an_old_release_is_refused(home, leftover):
    paths = Paths.of(home / "config.yaml", Config())
    (paths.data / leftover).mkdir(parents=True)

    with pytest.raises(InvalidConfig, match=leftover):
        paths.check_layout()


@pytest.mark.req("L-CFG-12")
@pytest.mark.parametrize("name", ["a" * 300, f"{'a' * 300}/config.yaml"], ids=["file", "folder"])
def test_a_name_that_no_file_can_have_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setenv("LOCALDB_CONFIG", str(tmp_path / name))

    with pytest.raises(InvalidConfig, match="File name too long"):
        is_written(find_config(None))


@pytest.mark.req("L-CFG-20", "L-CFG-21")
def test_only_a_place_where_nothing_is_has_no_config(tmp_path):
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()

    there = {name: is_written(tmp_path / name) for name in ("dangling", "loop", "file", "none")}

    assert there == {"dangling": True, "loop": True, "file": True, "none": False}
    assert not is_written(tmp_path / "file" / "config.yaml")


def test_a_data_folder_that_no_folder_can_be_is_no_old_layout(tmp_path):
    config = parse_config(f"version: 1\npaths: {{data: {'a' * 300}}}")

    Paths.of(tmp_path / "config.yaml", config).check_layout()
