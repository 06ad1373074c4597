"""``plugin new``: what it makes works as it is, and what it refuses leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from localdb_core.domain import SearchRequest
from localdb_core.domain.errors import InvalidRequest, StorageUnavailable
from localdb_core.host.host import Host
from localdb_core.host.kinds import PLUGIN_KINDS as KINDS
from localdb_core.host.selection import PluginSelection
from localdb_core.scaffold import new
from localdb_core.scaffold.new import Request, create
from localdb_core.testing.app import make_app

pytestmark = pytest.mark.req("L-CLI-38")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A plugin of each kind, and a folder of their metadata, as if they were installed."""
    folder = tmp_path_factory.mktemp("made")
    site = folder / "site"
    for kind in KINDS:
        plugin = create(Request(f"my-{kind}", kind), folder)
        project = tomllib.loads((plugin / "pyproject.toml").read_text())["project"]
        name, version = project["name"], project["version"]
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        points = project["entry-points"]["localdb.plugins"].items()
        lines = ["[localdb.plugins]", *(f"{key} = {value}" for key, value in points)]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def paths(made):
    return [str(made / "site"), *(str(path) for path in sorted(made.glob("*/src")))]


def test_every_kind_is_found_and_offers_one_component_of_its_kind(made, monkeypatch):
    for path in paths(made):
        monkeypatch.syspath_prepend(path)

    host = Host.load(
        PluginSelection(only=frozenset(f"my-{kind}" for kind in KINDS)), builtins=False
    )

    found = {
        status.name: (status.state, [p.kind for p in status.provides], status.advice)
        for status in host.statuses
        if status.name.startswith("my-")
    }
    assert found == {f"my-{kind}": ("active", [kind], ()) for kind in KINDS}
    assert host.conflicts == ()


@pytest.mark.slow
def test_every_kind_passes_its_contract_tests(made):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-x", "-W", "error", "-p", "no:cacheprovider"),
            "--import-mode=importlib",
            *(f"localdb-my-{kind}" for kind in KINDS),
        ],
        cwd=made,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*paths(made), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


def test_six_of_them_together_index_a_document_and_find_it_again(made, tmp_path, monkeypatch):
    """Nothing of core but the catalog takes part in this."""
    for path in paths(made):
        monkeypatch.syspath_prepend(path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))  # parsers' process
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "ferry.my-parser").write_text("Harbour\nThe ferry leaves at noon.\n")
    config = {
        "index": {"dense": "my-index", "sparse": "fts5"},
        "plugins": {"chunkers": ["my-chunker"], "only": [f"my-{kind}" for kind in KINDS]},
        "search": {"ranker": "my-ranker"},
        "defaults": {
            "indexing": {
                "embedding": {"provider": "my-embedder", "model": "my-embedder"},
                "parsers": ["my-parser"],
            }
        },
    }

    with make_app(tmp_path / "app", plugins=(), config=config, discover=True) as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(tmp_path / "notes"), kind="my-source")
        (report,) = app.index([store])
        found = app.search.search(SearchRequest("when does the ferry leave"))

    assert report.error is None
    uris = [citation.resource.uri for citation in found.citations]
    assert [uri.rpartition("/")[2] for uri in uris] == ["ferry.my-parser"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_plugin_has_all_that_a_distribution_needs(made, kind):
    folder = made / f"localdb-my-{kind}"
    parsed = tomllib.loads((folder / "pyproject.toml").read_text())
    project = parsed["project"]

    # Without what Python left when other tests ran it.
    files = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    package = f"src/localdb_my_{kind}"
    assert files == {
        *(".github/workflows/ci.yml", ".gitignore", "CHANGELOG.md", "README.md", "pyproject.toml"),
        *(f"{package}/{name}" for name in ("__init__.py", "py.typed", "plugin.py", f"{kind}.py")),
        "tests/test_contract.py",
    }
    assert project["license"]
    assert project["readme"] == "README.md"
    assert parsed["build-system"]["build-backend"] == "hatchling.build"
    assert parsed["tool"]["mypy"]["strict"] is True
    assert "localdb-core>=0.1,<1" in project["dependencies"]
    assert not any("$" in (folder / file).read_text() for file in files if ".github" not in file)
    assert (folder / "README.md").read_text().startswith(f"# localdb-my-{kind}\n")
    for python in folder.rglob("*.py"):
        compile(python.read_text(), str(python), "exec")
        assert all(len(line) <= 100 for line in python.read_text().splitlines()), python


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "lower-case letters"),
        ("Rtf", "try rtf"),
        ("my_format", "try my-format"),
        ("my.format", "try my-format"),
        ("-rtf", "try rtf"),
        ("rtf-", "try rtf"),
        ("a--b", "try a-b"),
        ("3mf", "try mf"),
        ("../rtf", "try rtf"),
        ("rtf\n", "try rtf"),
        ("größe", "try gr-e"),
        ("a = b\n[x]", "try a-b-x"),
        ("$name", "try name"),
        ("x" * 61, "at most 60"),
        ("localdb-rtf", "leave out localdb-"),
        ("core", "of localdb's own"),
        ("pdf", "of localdb's own"),
        ("milvus", "of localdb's own"),
    ],
)
def test_a_name_that_no_plugin_may_have_is_refused(tmp_path, name, said):
    with pytest.raises(InvalidRequest) as caught:
        create(Request(name, "parser"), tmp_path)

    assert said in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("taken", ["rtf", "RTF", "localdb_rtf"])
def test_the_name_of_an_installed_plugin_is_refused(tmp_path, taken):
    with pytest.raises(InvalidRequest, match="localdb plugin info rtf"):
        create(Request("rtf", "parser"), tmp_path, taken=[taken])


def test_what_is_there_already_stays_as_it_is(tmp_path):
    there = tmp_path / "localdb-rtf"
    there.mkdir()
    dangling = tmp_path / "localdb-bib"
    dangling.symlink_to("nowhere")

    for name in ("rtf", "bib"):
        with pytest.raises(InvalidRequest, match="is there already"):
            create(Request(name, "parser"), tmp_path)

    assert list(there.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["localdb-bib", "localdb-rtf"]


def test_a_place_that_is_no_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")

    for place in ("file", "missing"):
        with pytest.raises(InvalidRequest, match="make it first"):
            create(Request("rtf", "parser"), tmp_path / place)


@pytest.mark.parametrize("error", [KeyboardInterrupt, PermissionError(13, "Permission denied")])
@pytest.mark.parametrize("step", ["write_text", "rename"])
def test_interrupted_or_refused_it_leaves_nothing_behind(tmp_path, monkeypatch, error, step):
    calls = []

    def breaks(*arguments, **more):
        calls.append(arguments)
        if step == "rename" or len(calls) > 3:
            raise error
        return write(*arguments, **more)

    write = Path.write_text
    monkeypatch.setattr(*((new.os, step) if step == "rename" else (Path, step)), breaks)

    with pytest.raises((KeyboardInterrupt, StorageUnavailable)) as caught:
        create(Request("rtf", "parser"), tmp_path)

    assert list(tmp_path.iterdir()) == []
    if caught.type is StorageUnavailable:
        assert "Permission denied; choose another place with --path" in str(caught.value)
