"""The states an index, and the embedder, can be in; and what status says about them."""

from __future__ import annotations

import itertools
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from localdb_core.app import LocalDB
from localdb_core.domain import InvalidConfig, SearchMode, SearchRequest
from localdb_core.domain.errors import IndexInProgress, ModelMissing
from localdb_core.domain.reports import IndexState
from localdb_core.plugin import EmbedderCard, EmbedderSpec, PluginInfo, hookimpl
from localdb_core.storage.engines import LegName
from localdb_core.storage.lock import StoreLock
from localdb_core.testing import memory_plugin
from localdb_core.testing.app import MEMORY, make_app
from localdb_core.testing.memory import FakeEmbedder, MemoryIndex

_numbers = itertools.count()


def embedder(component: Any) -> tuple[str, ModuleType]:
    """A plugin with one embedder, ``odd``."""
    module = ModuleType(f"engine_test_plugin_{next(_numbers)}")
    spec = EmbedderSpec(name="odd", target=f"{module.__name__}:component")

    def localdb_embedders() -> list[EmbedderSpec]:
        return [spec]

    vars(module).update(
        PLUGIN=PluginInfo(api="1.0"),
        component=component,
        localdb_embedders=hookimpl(localdb_embedders),
        __file__="",
    )
    sys.modules[module.__name__] = module
    return "tested", module


ODD: dict[str, Any] = {
    **MEMORY,
    "defaults": {"indexing": {"embedding": {"provider": "odd", "model": "large"}}},
}


def fill(app: LocalDB, folder: Path, *, text: str = "Paragraph {} on herons.") -> None:
    notes = folder / "notes"
    notes.mkdir(exist_ok=True)
    for n in range(4):
        (notes / f"{n}.md").write_text(f"# Note {n}\n\n{text.format(n)}\n")
    store = app.stores.resolve("default")
    if not app.sources.list(store):
        app.sources.add(store, str(notes))
    assert app.index([store])[0].error is None


@pytest.fixture
def app(tmp_path: Path) -> Iterator[LocalDB]:
    with make_app(tmp_path / "home") as app:
        fill(app, tmp_path)
        yield app


def states(app: LocalDB) -> dict[str, IndexState]:
    return {state.leg: state for state in app.engines.list(app.stores.list()).indexes}


def notices(app: LocalDB) -> list[str]:
    """What status says, without the default parsers that these tests go without."""
    said = app.status(app.stores.list()).notices
    return [notice for notice in said if not notice.startswith("default parser skipped")]


def folder_of(app: LocalDB, leg: str) -> Path:
    return next((app.paths.data / "index").glob(f"*-{leg}/*"))


@pytest.mark.req("L-CLI-34")
def test_indexes_that_equal_the_catalog_are_ready(app: LocalDB) -> None:
    for leg, state in states(app).items():
        assert (state.state, state.entries, state.chunks) == ("ready", 4, 4)
        assert (state.engine, state.set_by) == (f"memory-{leg}", "config")
        assert state.size_bytes
        assert state.generation >= 1
    assert notices(app) == []


def test_the_indexes_of_an_empty_store_are_ready(tmp_path: Path) -> None:
    with make_app(tmp_path) as app:
        assert {(s.state, s.entries) for s in states(app).values()} == {("ready", 0)}
        assert notices(app) == []


def test_a_rebuild_before_the_first_run_does_no_harm(tmp_path: Path) -> None:
    with make_app(tmp_path / "home") as app:
        for leg in ("dense", "sparse"):
            app.engines.rebuild(leg, app.stores.list(), on_progress=lambda *_: None)
        fill(app, tmp_path)

        assert {(s.state, s.entries) for s in states(app).values()} == {("ready", 4)}
        assert notices(app) == []


@pytest.mark.parametrize("leg", ["dense", "sparse"])
def test_a_rebuild_bears_a_file_where_the_folder_of_the_index_was(
    app: LocalDB, leg: LegName
) -> None:
    folder = folder_of(app, leg)
    shutil.rmtree(folder)
    folder.write_text("in the way")

    (report,) = app.engines.rebuild(leg, app.stores.list(), on_progress=lambda *_: None)

    assert (report.entries, states(app)[leg].state) == (4, "ready")


def test_the_legs_of_the_catalog_are_always_ready(tmp_path: Path) -> None:
    config = {**MEMORY, "index": {"dense": "exact", "sparse": "fts5"}}
    with make_app(tmp_path / "home", config=config) as app:
        fill(app, tmp_path)
        app.catalog.ledger.set_dirty(app.stores.resolve("default").id)

        found = states(app)

        assert {s.engine: (s.state, s.entries) for s in found.values()} == {
            "exact": ("ready", 4),
            "fts5": ("ready", 4),
        }
        store = app.stores.resolve("default")
        rebuilt = [
            app.engines.rebuild(leg, [store], on_progress=lambda *_: None)[0].entries
            for leg in ("dense", "sparse")
        ]
        assert rebuilt == [4, 4]


def _delete(app: LocalDB) -> None:
    shutil.rmtree(folder_of(app, "sparse"))


def _forget(app: LocalDB) -> None:
    store = app.stores.resolve("default")
    app.catalog.ledger.forget(store.id, "sparse", "memory/memory-sparse")


def _fall_behind(app: LocalDB) -> None:
    store = app.stores.resolve("default")
    dense = app.catalog.ledger.state(store.id, "dense", "memory/memory-dense")
    assert dense is not None
    app.catalog.ledger.settle(store.id, {"dense": dense}, clean=True)


def _change(app: LocalDB) -> None:
    (folder_of(app, "sparse") / "memory.json").write_text("{}")


@pytest.mark.parametrize(
    ("damage", "state"),
    [(_delete, "missing"), (_forget, "missing"), (_fall_behind, "stale"), (_change, "broken")],
)
def test_a_damaged_index_is_listed_as_what_it_is_and_rebuilt(
    app: LocalDB, damage: Callable[[LocalDB], None], state: str
) -> None:
    damage(app)

    found, said = states(app), notices(app)
    (report,) = app.engines.rebuild("sparse", app.stores.list(), on_progress=lambda *_: None)

    assert (found["sparse"].state, found["sparse"].entries) == (state, None)
    assert found["dense"].state == "ready"
    assert len(said) == 1
    assert "engine rebuild sparse" in said[0]
    assert report.entries == 4
    assert {s.state for s in states(app).values()} == {"ready"}
    assert notices(app) == []


def test_an_interrupted_run_leaves_dirty_indexes_and_a_running_one_building_ones(
    app: LocalDB,
) -> None:
    store = app.stores.resolve("default")
    app.catalog.ledger.set_dirty(store.id)
    assert {s.state for s in states(app).values()} == {"dirty"}

    lock = StoreLock(app.paths.data, store.id)
    lock.acquire()
    building = {s.state for s in states(app).values()}
    with pytest.raises(IndexInProgress):
        app.engines.rebuild("dense", [store], on_progress=lambda *_: None)
    lock.release()

    assert building == {"building"}
    app.engines.rebuild("dense", [store], on_progress=lambda *_: None)
    assert {s.state for s in states(app).values()} == {"ready"}


@pytest.mark.parametrize("method", ["count", "__init__"])
def test_an_index_that_cannot_even_be_counted_is_broken_and_the_listing_goes_on(
    app: LocalDB, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def fail(*args: Any) -> Any:
        raise RuntimeError("out of order")

    monkeypatch.setattr(MemoryIndex, method, fail)

    assert {s.state for s in states(app).values()} == {"broken"}


@pytest.mark.req("L-CLI-34")
def test_a_rebuild_reports_its_progress(app: LocalDB) -> None:
    seen: list[tuple[int, int]] = []

    app.engines.rebuild("dense", app.stores.list(), on_progress=lambda *p: seen.append(p))

    assert seen[-1] == (4, 4)


def test_an_index_that_is_not_installed_is_missing_when_written_and_stood_in_for_when_default(
    tmp_path: Path,
) -> None:
    written = {**MEMORY, "index": {"dense": "nobody", "sparse": "memory-sparse"}}
    with make_app(tmp_path / "home") as app:
        fill(app, tmp_path)

    with make_app(tmp_path / "home", config=written) as app:
        store = app.stores.resolve("default")

        assert states(app)["dense"].state == "missing"
        assert any("nobody" in notice for notice in notices(app))
        assert isinstance(app.index([store])[0].error, InvalidConfig)
        assert len(app.search.search(SearchRequest("herons", mode=SearchMode.KEYWORD)).citations)
        with pytest.raises(InvalidConfig, match=r"index\.dense.*nobody"):
            app.search.search(SearchRequest("herons"))

    defaults = {"defaults": MEMORY["defaults"]}
    with make_app(tmp_path / "home", config=defaults) as app:
        assert {s.engine for s in states(app).values()} == {"exact", "fts5"}
        assert sum("is not installed" in notice for notice in notices(app)) == 2


def test_a_leg_with_an_index_of_the_other_leg_is_refused(tmp_path: Path) -> None:
    config = {**MEMORY, "index": {"dense": "memory-sparse", "sparse": "memory-sparse"}}
    with make_app(tmp_path, config=config) as app:
        assert any("is a sparse index" in notice for notice in notices(app))


# --- The embedder ---


def test_the_embedder_is_listed_with_its_facts(app: LocalDB) -> None:
    found = app.engines.list([]).embedder

    assert found is not None
    assert (found.provider, found.model, found.dimension) == ("fake", "fake", 64)
    assert (found.fingerprint, found.state) == ("fake:64:1", "ready")


def test_no_embedder_at_all_is_listed_as_none(tmp_path: Path) -> None:
    with make_app(tmp_path, plugins=(), config={}) as app:
        assert app.engines.list([]).embedder is None


def _missing(context: Any) -> Any:
    raise ModelMissing("fetch it first")


def _broken(context: Any) -> Any:
    raise OSError("the file is cut off")


@pytest.mark.parametrize(
    ("plugins", "state"),
    [((), "missing"), ((_missing,), "missing"), ((_broken,), "broken")],
    ids=["no such provider", "no model", "damaged"],
)
def test_an_embedder_that_cannot_be_had_does_not_break_the_listing(
    tmp_path: Path, plugins: tuple[Any, ...], state: str
) -> None:
    offered = (("memory", memory_plugin), *(embedder(plugin) for plugin in plugins))
    with make_app(tmp_path, plugins=offered, config=ODD) as app:
        found = app.engines.list(app.stores.list()).embedder

        assert found is not None
        assert (found.provider, found.model, found.state) == ("odd", "large", state)


# --- Status ---


def test_status_counts_documents_and_bytes(app: LocalDB) -> None:
    report = app.status(app.stores.list())

    (row,) = report.stores
    assert row.stats is not None
    assert (row.stats.document_count, row.stats.chunk_count) == (4, 4)
    assert report.database.exists
    assert report.database.size
    assert report.database.bytes_per_chunk
    sizes = [table.size for table in report.database.largest_tables]
    assert sizes == sorted(sizes, reverse=True)


def test_status_names_an_embedder_that_is_not_the_stores(tmp_path: Path, app: LocalDB) -> None:
    plugins = (("memory", memory_plugin), embedder(FakeEmbedder))
    with make_app(tmp_path / "home", plugins=plugins, config=ODD) as changed:
        said = notices(changed)

    assert said == [
        "store 'default' was embedded with fake fake, the config says odd large; "
        "set it back, or index into a new store: localdb store add NAME"
    ]


def test_status_says_it_when_a_written_parser_is_not_installed(tmp_path: Path) -> None:
    config = {**MEMORY, "defaults": {"indexing": {"parsers": ["markdown", "papyrus"]}}}
    with make_app(tmp_path, config=config) as app:
        assert any("papyrus" in notice for notice in notices(app))


class English(FakeEmbedder):
    """Knows English only."""

    @property
    def card(self) -> EmbedderCard:
        return EmbedderCard(
            name="english", dimension=64, max_tokens=256, fingerprint="en:64", languages=("en",)
        )


def test_a_store_in_a_language_the_model_does_not_know_is_searched_by_words_and_that_is_said(
    tmp_path: Path,
) -> None:
    plugins = (("memory", memory_plugin), embedder(English))
    finnish = "Harmaahaikara seisoo matalassa vedessä ja odottaa kaloja, jotka uivat ohi. " * 3
    with make_app(tmp_path / "home", plugins=plugins, config=ODD) as app:
        fill(app, tmp_path, text=finnish)

        hybrid = app.search.search(SearchRequest("harmaahaikara"))
        dense = app.search.search(SearchRequest("harmaahaikara", mode=SearchMode.DENSE))

        assert any("language 'fi'" in n and "multilingual" in n for n in notices(app))
        assert {c.score.dense for c in hybrid.citations} == {None}
        assert len(dense.citations) == 4


@pytest.mark.parametrize("written", ["nosuch", "fts5", "memory-sparse"])
def test_an_index_that_cannot_be_used_is_refused_with_those_that_can(
    tmp_path: Path, written: str
) -> None:
    config = {**MEMORY, "index": {"dense": written}}
    (tmp_path / "a.md").write_text("Herons fish.\n")
    with make_app(tmp_path / "home", config=config) as app:
        app.sources.add(app.stores.resolve("default"), str(tmp_path / "a.md"))
        (report,) = app.index(app.stores.list())

    assert isinstance(report.error, InvalidConfig)
    assert str(report.error).startswith("invalid config: index.dense: ")
    assert str(report.error).endswith("; the dense leg takes exact or memory-dense")
