"""What is deleted when sources show and hide their documents at random (L-INV-05)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localdb_core.app import LocalDB
from localdb_core.domain.ids import SourceId, new_ulid
from localdb_core.domain.store import Source, Store
from localdb_core.plugin import (
    Document,
    Item,
    Listing,
    ParserSpec,
    PluginInfo,
    Problem,
    SourceSpec,
    hookimpl,
)
from localdb_core.testing.app import make_app

NAMES = ("a", "b", "c", "d")
BAD = "!"  # the parser gives up
TEXT = st.sampled_from(["Herons fish.", "Storks stand.", "", BAD])


@dataclass(frozen=True)
class Sight:
    """What one source lets be seen in one run."""

    items: frozenset[str]
    problems: frozenset[str]
    complete: bool = True
    fails: bool = False

    @property
    def offered(self) -> frozenset[str]:
        return self.items | self.problems

    def may_have(self, name: str) -> bool:
        return self.fails or not self.complete or name in self.offered


@dataclass(frozen=True)
class Run:
    """One index run: what lies in the files, and what each source shows of them."""

    texts: Mapping[str, str]
    sights: tuple[Sight, Sight]
    delete: bool


NOTHING = st.just(frozenset[str]())
SOME = st.frozensets(st.sampled_from(NAMES))
SIGHT = st.builds(
    Sight,
    items=SOME | st.just(frozenset(NAMES)),
    problems=NOTHING | NOTHING | SOME,
    complete=st.sampled_from([True, True, True, False]),
    fails=st.sampled_from([False, False, False, False, True]),
)
RUN = st.builds(
    Run,
    texts=st.fixed_dictionaries({name: TEXT for name in NAMES}),
    sights=st.tuples(SIGHT, SIGHT),
    delete=st.booleans(),
)


class Stage:
    """A source kind that shows what the test says."""

    sights: Mapping[str, Sight] = {}
    folder = Path()

    def __init__(self, context: Any) -> None:
        del context

    def list(self, source: Source, accepts: Any) -> Listing:
        sight = self.sights[source.url or ""]
        if sight.fails:
            raise RuntimeError("the curtain is stuck")
        return Listing(
            items=[
                Item(uri_of(name), uri_of(name), self.folder / f"{name}.stage", f"{name}.stage")
                for name in sorted(sight.items)
            ],
            problems=[Problem(uri_of(n), "behind a pillar") for n in sorted(sight.problems)],
            complete=sight.complete,
            reason="" if sight.complete else "the lights went out",
        )


class Script:
    """Reads what the stage shows."""

    def __init__(self, context: Any) -> None:
        del context

    def parse(self, path: Path, probe: Any, progress: Any) -> Document:
        text = path.read_text()
        if text == BAD:
            raise ValueError("unreadable")
        return Document(markdown=text)


def uri_of(name: str) -> str:
    return f"stage:///{name}"


@pytest.fixture(scope="module")
def stage() -> Iterator[ModuleType]:
    module = ModuleType("deletion_test_plugin")

    @hookimpl
    def localdb_sources() -> list[SourceSpec]:
        return [SourceSpec(name="stage", target="deletion_test_plugin:Stage", kind="stage")]

    @hookimpl
    def localdb_parsers() -> list[ParserSpec]:
        target = "deletion_test_plugin:Script"
        return [ParserSpec(name="stage", target=target, suffixes=(".stage",), runs="thread")]

    vars(module).update(PLUGIN=PluginInfo(api="1.0"), Stage=Stage, Script=Script, __file__="")
    vars(module).update(localdb_sources=localdb_sources, localdb_parsers=localdb_parsers)
    sys.modules[module.__name__] = module
    yield module
    del sys.modules[module.__name__]


Held = dict[str, tuple[str, str]]


def held(app: LocalDB, store: Store) -> Held:
    """Source and text of every document, by its name."""
    rows, _ = app.documents.page(store, source_id=None, offset=0, limit=99)
    return {
        row.uri.removeprefix("stage:///"): (row.source_id, app.documents.text(store, row.id))
        for row in rows
    }


class Model:
    """What must be there after each run, by the rules as a person would say them."""

    def __init__(self, sources: tuple[str, str]) -> None:
        self.sources = sources
        self.documents: Held = {}
        self.missed: set[str] = set()

    def run(self, run: Run) -> None:
        """Look at one source after the other."""
        sights = dict(zip(self.sources, run.sights, strict=True))
        self.missed = set()
        taken: dict[str, str] = {}
        for source, sight in sights.items():
            if sight.fails:
                continue
            mine = {name for name, (owner, _) in self.documents.items() if owner == source}
            gone = {
                name
                for name in mine - sight.offered
                if not any(s.may_have(name) for o, s in sights.items() if o != source)
            }
            for name in sorted(sight.items):
                self._read(name, source, sights, run.texts[name], taken)
            if sight.complete and mine & sight.offered:
                self.missed |= gone
                if run.delete:
                    for name in gone:
                        del self.documents[name]

    def _read(
        self,
        name: str,
        source: str,
        sights: Mapping[str, Sight],
        text: str,
        taken: dict[str, str],
    ) -> None:
        owner, old = self.documents.get(name, ("", ""))
        if not owner and taken.setdefault(name, source) != source:
            return  # nobody could read it a moment ago
        if owner not in ("", source) and sights[owner].may_have(name):
            return  # it stays with the source that made it
        if text not in ("", BAD) or (owner and text == old):
            self.documents[name] = (source, text)


@pytest.mark.req("L-INV-05", "L-ING-50", "L-ING-52", "L-ING-53", "L-ING-55", "L-BYD-05")
@settings(max_examples=max(5, settings.default.max_examples // 5))
@given(runs=st.lists(RUN, min_size=2, max_size=6))
def test_only_what_was_asked_for_and_seen_to_be_gone_is_deleted(
    tmp_path_factory: pytest.TempPathFactory, stage: ModuleType, runs: list[Run]
) -> None:
    folder = tmp_path_factory.mktemp("deletion")
    config = {"index": {"dense": "exact", "sparse": "fts5"}}
    Stage.folder = folder
    with make_app(folder / "home", plugins=[("stage", stage)], config=config) as app:
        store = app.stores.resolve("default")
        for url in ("left", "right"):
            source = Source(SourceId(new_ulid()), store.id, "stage", url=url)
            app.catalog.sources.add(source)
        left, right = app.sources.list(store)
        model = Model((left.id, right.id))
        for run in runs:
            for name, text in run.texts.items():
                (folder / f"{name}.stage").write_text(text)
            Stage.sights = {str(left.url): run.sights[0], str(right.url): run.sights[1]}
            before = held(app, store)

            (report,) = app.index([store], delete=run.delete)

            after = held(app, store)
            model.run(run)
            assert report.error is None
            nothing_is_deleted_without_evidence(run, before, after, (left.id, right.id))
            assert after == model.documents
            counted = (report.stats.docs_deleted, report.stats.docs_prunable)
            missed = len(model.missed)
            assert counted == ((missed, 0) if run.delete else (0, missed))


def nothing_is_deleted_without_evidence(
    run: Run, before: Held, after: Held, sources: tuple[str, str]
) -> None:
    sights = dict(zip(sources, run.sights, strict=True))
    for name in set(before) - set(after):
        owner = sights[before[name][0]]
        assert run.delete
        assert owner.complete
        assert not owner.fails
        assert not any(sight.may_have(name) for sight in sights.values())
        assert any(other in owner.offered for other, (o, _) in before.items() if sights[o] is owner)
