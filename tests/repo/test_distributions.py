"""All distributions of this repository agree with each other."""

import re
import tomllib
from pathlib import Path

import pytest

from localdb_core.host.firstparty import OFFERS
from localdb_core.plugin import ENTRY_POINT_GROUP

ROOT = Path(__file__).parents[2]
PLUGINS = sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))
PARSED = {path: tomllib.loads((path / "pyproject.toml").read_text()) for path in [ROOT, *PLUGINS]}

each_plugin = pytest.mark.parametrize("folder", PLUGINS, ids=lambda path: path.name)


def project(folder):
    return PARSED[folder]["project"]


def package(folder):
    return folder / "src" / folder.name.replace("-", "_")


@each_plugin
def test_folder_distribution_package_and_entry_point_share_one_name(folder):
    short = folder.name.removeprefix("localdb-")

    assert re.fullmatch(r"localdb-[a-z]+", folder.name)
    assert project(folder)["name"] == folder.name
    assert package(folder).is_dir()
    groups = project(folder)["entry-points"]
    assert groups == {ENTRY_POINT_GROUP: {short: f"localdb_{short}.plugin"}}


@each_plugin
def test_core_knows_what_to_call_the_distribution(folder):
    assert folder.name in {offer.distribution for offer in OFFERS}


@each_plugin
def test_the_range_of_core_is_the_same_everywhere(folder):
    ranges = [d for d in project(folder)["dependencies"] if d.startswith("localdb-core")]

    assert ranges == ["localdb-core>=0.1,<1"]


@each_plugin
def test_no_plugin_depends_on_another(folder):
    names = {re.split(r"[^\w.-]", d, maxsplit=1)[0] for d in project(folder)["dependencies"]}

    assert {name for name in names if name.startswith("localdb-")} == {"localdb-core"}


@each_plugin
def test_python_range_licence_and_version_are_those_of_core(folder):
    core, own = project(ROOT), project(folder)

    assert own["requires-python"] == core["requires-python"]
    assert own["license"].split(" AND ")[0] == core["license"] == "Apache-2.0"
    assert own["version"] == "0.1.0"
    assert PARSED[folder]["build-system"] == PARSED[ROOT]["build-system"]


@each_plugin
def test_types_are_published(folder):
    assert (package(folder) / "py.typed").is_file()
    assert "Typing :: Typed" in project(folder)["classifiers"]


@each_plugin
def test_there_is_a_readme_a_changelog_and_a_contract_test(folder):
    readme = (folder / "README.md").read_text()

    assert readme.startswith(f"# {folder.name}\n")
    assert project(folder)["readme"] == "README.md"
    assert "0.1.0" in (folder / "CHANGELOG.md").read_text()
    assert (folder / "tests" / "test_contract.py").is_file()


@each_plugin
def test_the_readme_of_the_repository_mentions_it(folder):
    assert f"plugins/{folder.name}" in (ROOT / "README.md").read_text()


def test_the_agpl_of_ebooklib_is_stated_where_it_is_used_and_only_there():
    users = [p for p in PLUGINS if any("EbookLib" in d for d in project(p)["dependencies"])]

    assert [path.name for path in users] == ["localdb-epub"]
    assert "AGPL" in (users[0] / "README.md").read_text()
    assert "AGPL" in (ROOT / "README.md").read_text()


def test_the_standard_extra_is_every_plugin():
    extra = project(ROOT)["optional-dependencies"]["standard"]

    assert extra == [path.name for path in PLUGINS]


@pytest.mark.parametrize("file", ["tox.ini", "pyproject.toml"])
def test_the_checks_cover_every_plugin(file):
    text = (ROOT / file).read_text()

    for folder in PLUGINS:
        assert f"localdb_{folder.name.removeprefix('localdb-')}" in text, folder.name
        if file == "tox.ini":
            assert f"-e {{tox_root}}/plugins/{folder.name}\n" in text
            assert f"{{tox_root}}/plugins/{folder.name}/src" in text
