"""Whatever is added, edited, moved and deleted: what is held and found follows a plain model."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import ClassVar
from unittest import TestCase

import localdb_chroma.plugin
import localdb_whoosh.plugin
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from localdb_core.app import LocalDB
from localdb_core.domain import Citation, SearchMode, SearchRequest
from localdb_core.domain.errors import StorageUnavailable
from localdb_core.domain.uri import file_uri
from localdb_core.testing import memory_plugin
from localdb_core.testing.app import MEMORY, make_app

FOLDERS = st.sampled_from(["one", "two"])
NAMES = st.sampled_from(["a.md", "b.md", "c.txt", "deep/d.md"])
TEXTS = st.sampled_from(
    ["Herons fish.", "Storks stand still.", "Reeds grow\n\n| by |\n| --- |\n| the water |", ""]
)


WORDS = ("herons", "stand", "water", "nobody")


class Indexing(RuleBasedStateMachine):
    """``files`` is what lies on the disk, ``expected`` what the catalog must hold."""

    plugins: ClassVar[Sequence[tuple[str, ModuleType]]] = (("memory", memory_plugin),)
    engines: ClassVar[Mapping[str, str]] = {"dense": "memory-dense", "sparse": "memory-sparse"}

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="localdb-stateful-")).resolve()
        self.files: dict[str, dict[str, str]] = {"one": {}, "two": {}}
        self.expected: dict[str, dict[str, str]] = {}
        self.app = self._opened()
        self.store = self.app.stores.resolve("default")
        for name in self.files:
            (self.folder / name).mkdir()
            self._add_source(name)

    def _opened(self) -> LocalDB:
        config = {**MEMORY, "index": dict(self.engines)}
        return make_app(self.folder / "home", plugins=self.plugins, config=config)

    def _add_source(self, folder: str) -> None:
        self.app.sources.add(self.store, str(self.folder / folder))
        self.expected[folder] = {}

    def _path(self, folder: str, name: str) -> Path:
        path = self.folder / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    @rule(folder=FOLDERS, name=NAMES, text=TEXTS)
    def write(self, folder: str, name: str, text: str) -> None:
        self._path(folder, name).write_text(text)
        self.files[folder][name] = text

    @rule(folder=FOLDERS, name=NAMES, into=FOLDERS, new=NAMES)
    def move(self, folder: str, name: str, into: str, new: str) -> None:
        if name in self.files[folder] and (folder, name) != (into, new):
            self._path(folder, name).replace(self._path(into, new))
            self.files[into][new] = self.files[folder].pop(name)

    @rule(folder=FOLDERS, name=NAMES)
    def delete(self, folder: str, name: str) -> None:
        if self.files[folder].pop(name, None) is not None:
            self._path(folder, name).unlink()

    @rule(delete=st.booleans())
    def index(self, delete: bool) -> None:
        (report,) = self.app.index([self.store], delete=delete)

        assert report.error is None
        assert report.stats.error_count == 0
        for folder, held in self.expected.items():
            before, offered = set(held), self.files[folder]
            held |= {name: text for name, text in offered.items() if text}
            gone = before - set(offered)
            if delete and gone != before:  # L-ING-53 keeps all when none was seen
                for name in gone:
                    del held[name]
        self._agrees()

    @rule(leg=st.sampled_from(["dense", "sparse"]))
    def rebuild(self, leg: str) -> None:
        self.app.engines.rebuild(leg, [self.store], on_progress=lambda *_: None)  # type: ignore[arg-type]
        self._agrees()

    @precondition(lambda self: self.expected)
    @rule(folder=FOLDERS)
    def remove_source(self, folder: str) -> None:
        for source in self.app.sources.list(self.store):
            if source.root == str(self.folder / folder):
                self.app.sources.remove(source)
                del self.expected[folder]
        self._agrees()

    @rule(folder=FOLDERS)
    def add_source(self, folder: str) -> None:
        if folder not in self.expected:
            self._add_source(folder)

    @rule()
    def restart(self) -> None:
        self.app.close()
        self.app = self._opened()

    @invariant()
    def nothing_speaks_against_the_indexes(self) -> None:
        assert self.app.search.search(SearchRequest("herons water")).notices == ()

    def _agrees(self) -> None:
        rows, _ = self.app.documents.page(self.store, source_id=None, offset=0, limit=100)
        found = {row.uri: self.app.documents.text(self.store, row.id) for row in rows}
        expected = {
            file_uri(self.folder / folder / name): text
            for folder, held in self.expected.items()
            for name, text in held.items()
        }
        assert found == expected
        chunks = self.app.catalog.vectors.chunk_ids(self.store.id, None)
        for leg in ("dense", "sparse"):
            if self.engines[leg] not in ("exact", "fts5"):
                assert self._ids(leg) == chunks
        self._answers(expected, len(chunks))

    def _answers(self, expected: Mapping[str, str], chunks: int) -> None:
        """Every word finds the documents that hold it, by meaning everything is found."""
        for word in WORDS:
            by_word = self._search(word, SearchMode.KEYWORD)
            assert {hit.resource.uri for hit in by_word} == {
                uri for uri, text in expected.items() if word in text.lower()
            }
        by_meaning = self._search("herons", SearchMode.DENSE)
        assert len(by_meaning) == chunks
        assert {hit.resource.uri for hit in by_meaning} == set(expected)
        for hit in by_meaning:
            assert set(hit.chunk.text.split()) <= set(expected[hit.resource.uri].split())

    def _search(self, query: str, mode: SearchMode) -> tuple[Citation, ...]:
        result = self.app.search.search(SearchRequest(query, mode=mode, limit=100))
        assert result.explanation is not None
        leg = "sparse" if mode is SearchMode.KEYWORD else "dense"
        assert {report.engine for report in result.explanation.legs} <= {self.engines[leg]}
        return result.citations

    def _ids(self, leg: str) -> set[str]:
        engine = self.app._engines.engine(self.store, leg)  # type: ignore[arg-type]
        try:
            index = self.app._engines.open(self.store, engine, language=None, readonly=True)
        except StorageUnavailable:  # nothing was ever written
            return set()
        return set(index.ids())

    def teardown(self) -> None:
        if hasattr(self, "app"):
            self.app.close()
            shutil.rmtree(self.folder, ignore_errors=True)


class OwnLegs(Indexing):
    """The same with the catalog's own legs."""

    engines: ClassVar[Mapping[str, str]] = {"dense": "exact", "sparse": "fts5"}


class Whoosh(Indexing):
    """The same with a keyword index that lies in files of its own."""

    plugins: ClassVar[Sequence[tuple[str, ModuleType]]] = (
        ("memory", memory_plugin),
        ("whoosh", localdb_whoosh.plugin),
    )
    engines: ClassVar[Mapping[str, str]] = {"dense": "exact", "sparse": "whoosh"}


class Chroma(Indexing):
    """The same with a dense index that lies in files of its own."""

    plugins: ClassVar[Sequence[tuple[str, ModuleType]]] = (
        ("memory", memory_plugin),
        ("chroma", localdb_chroma.plugin),
    )
    engines: ClassVar[Mapping[str, str]] = {"dense": "chroma", "sparse": "fts5"}


def looked_at(machine: type[Indexing], share: int) -> type[TestCase]:
    """The machine's test, with a share of the profile's examples."""
    machine.TestCase.settings = settings(
        max_examples=max(2, settings.default.max_examples // share),
        stateful_step_count=12,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    return machine.TestCase


TestIndexing = looked_at(Indexing, 4)
TestOwnLegs = looked_at(OwnLegs, 6)
TestWhoosh = looked_at(Whoosh, 8)
TestChroma = looked_at(Chroma, 12)
