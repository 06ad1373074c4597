"""The examples as somebody would use them: installed, over a small store."""

import importlib
import importlib.metadata
import importlib.util
import os
import sys
import tomllib
from pathlib import Path

import pytest

from localdb_core.plugin import ENTRY_POINT_GROUP
from localdb_core.testing.app import make_app
from localdb_core.testing.plugin import PluginContract

EXAMPLES = Path(__file__).parents[2] / "examples"

DOCUMENTS = {
    "lease.md": "# Lease\n\nThe tenant may renew the lease once, by letter, before October.\n",
    "letter.md": "# Letter\n\nDear owner, hereby I renew the lease once more, before October.\n",
    "birds.txt": "Grey herons nest in colonies beside the harbour.\n",
}

BUILT_IN = {"index": {"dense": "exact", "sparse": "fts5"}}


for source in EXAMPLES.glob("*/src"):  # code alone: what is found as a plugin, `Site` says
    sys.path.append(str(source))


def load(path, name):
    """A module from a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def own_tests(module):
    """What an example's own test module defines, for a module here to collect.

    Without what is asked of the whole plugin, which starts processes: `tox run -e examples`.
    """
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not (isinstance(value, type) and issubclass(value, PluginContract))
    }


class Site:
    """Distributions of ``examples/``, as if they were installed; or installed ones."""

    def __init__(self, folder):
        self.folder = folder
        self.paths = []

    def add(self, example):
        """Put a distribution of ``examples/`` on the path, unless it is installed."""
        source = EXAMPLES / example
        project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
        name, version = project["name"], project["version"]
        if any(importlib.metadata.distributions(name=name)):
            return
        info = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        info.joinpath("METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        points = project["entry-points"][ENTRY_POINT_GROUP].items()
        lines = [f"[{ENTRY_POINT_GROUP}]", *(f"{key} = {value}" for key, value in points)]
        info.joinpath("entry_points.txt").write_text("\n".join(lines) + "\n")
        self.paths = [str(self.folder), *self.paths[1:], str(source / "src")]

    @property
    def env(self):
        """Variables for processes that should see them too."""
        path = os.pathsep.join([*self.paths, *filter(None, sys.path)])
        return {"PYTHONPATH": path} if self.paths else {}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Distributions that this process and its children see until the module's tests end."""
    found = Site(tmp_path_factory.mktemp("site"))
    for project in sorted(EXAMPLES.glob("*/pyproject.toml")):
        found.add(project.parent.name)
    sys.path[:0] = found.paths
    importlib.invalidate_caches()
    yield found
    for path in found.paths:
        sys.path.remove(path)


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """The config of an application whose store ``default`` holds the documents."""
    folder = tmp_path_factory.mktemp("library")
    documents = folder / "documents"
    documents.mkdir()
    for name, text in DOCUMENTS.items():
        (documents / name).write_text(text, encoding="utf-8")
    with make_app(folder / "app", plugins=(), config=BUILT_IN) as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(documents))
        app.index([store])
    return folder / "app" / "config.yaml"
