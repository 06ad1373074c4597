"""The generated config: what it says, and how it is written."""

import re
import threading
from pathlib import Path

import pytest

from localdb_core.config.load import parse_config
from localdb_core.config.model import Config, Section
from localdb_core.config.scaffold import SCHEMA_NAME, is_untouched, template, write_config
from localdb_core.domain.errors import StorageUnavailable

BOTH = ("localdb-chroma", "localdb-whoosh")
VARIANTS = [(), BOTH[:1], BOTH[1:], BOTH]


@pytest.mark.req("L-CFG-25")
@pytest.mark.parametrize("installed", VARIANTS)
def test_the_generated_file_means_the_defaults(installed):
    config = parse_config(template(installed.__contains__))

    assert config == Config()
    assert config.wrote("index.dense") is ("localdb-chroma" in installed)
    assert config.wrote("index.sparse") is ("localdb-whoosh" in installed)
    assert not config.wrote("defaults.indexing.parsers")


@pytest.mark.req("L-CFG-25")
def test_the_generated_file_mentions_every_key_with_its_default():
    text = template(BOTH.__contains__)
    # Uncommented, it is a config as well; prose is not of the form "# key:".
    live = re.sub(r"^(\s*)# ((?:  )*(?:- )?[a-z_]+:)", r"\1\2", text, flags=re.M)
    live = re.sub(r"^#   - name", "  - name", live, flags=re.M)
    live = re.sub(r"^#     (kind|base_url|api_key_env):", r"    \1:", live, flags=re.M)

    config = parse_config(live)

    assert {key for key in keys(Config) if not config.wrote(key)} == {"$schema"}
    assert config.model_copy(update={"providers": ()}) == Config()


def keys(section: type[Section], above: str = "") -> list[str]:
    found = []
    for name, field in section.model_fields.items():
        default = field.get_default(call_default_factory=True)
        key = above + (field.alias or name)
        found += keys(type(default), f"{key}.") if isinstance(default, Section) else [key]
    return found


@pytest.mark.req("L-CFG-22")
def test_many_may_write_at_once_and_nobody_reads_half_a_file(tmp_path):
    path = tmp_path / "made" / "config.yaml"
    start = threading.Barrier(20)
    wrote = []

    def first_run():
        start.wait()
        wrote.append(write_config(path))
        assert is_untouched(path)

    threads = [threading.Thread(target=first_run) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(wrote) == 20
    assert wrote.count(True) == 1
    assert {entry.name for entry in path.parent.iterdir()} == {"config.yaml", SCHEMA_NAME}


@pytest.mark.req("L-CFG-21")
def test_a_file_that_is_there_is_left_alone_whatever_it_holds(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("nonsense: [")

    assert not write_config(path)
    assert path.read_text() == "nonsense: ["
    assert not is_untouched(path)


@pytest.mark.req("L-CFG-24")
@pytest.mark.parametrize("installed", VARIANTS)
def test_a_generated_file_is_known_even_after_plugins_came_or_went(tmp_path, installed):
    path = tmp_path / "config.yaml"
    write_config(path, installed=installed.__contains__)

    assert is_untouched(path)


def test_a_file_system_without_hard_links_is_served(tmp_path, monkeypatch):
    def no_links(source, target):
        raise PermissionError("no hard links here")

    monkeypatch.setattr("os.link", no_links)

    assert write_config(tmp_path / "config.yaml")
    assert is_untouched(tmp_path / "config.yaml")


def test_a_folder_that_cannot_be_made_is_storage_unavailable(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(StorageUnavailable, match="cannot write"):
        write_config(Path(tmp_path / "file" / "config.yaml"))
