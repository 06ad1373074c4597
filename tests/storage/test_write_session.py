"""The commit protocol, killed at every step in a real process (E-2)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from localdb_core.domain import SearchRequest
from localdb_core.domain.errors import IndexInProgress, StorageUnavailable
from localdb_core.domain.store import Store
from localdb_core.plugin import Index
from localdb_core.storage.engines import Engine, Engines
from localdb_core.storage.lock import StoreLock
from localdb_core.storage.reconcile import needs_mending
from localdb_core.testing.app import make_app

CHILD = """
import sys
from pathlib import Path
from localdb_core.testing.app import make_app

with make_app(Path(sys.argv[1])) as app:
    store = app.stores.resolve("default")
    if not app.sources.list(store):
        app.sources.add(store, sys.argv[2])
    report = app.index([store])[0]
    print(report.stats.docs_indexed, report.error)
"""


def run_child(
    home: Path, documents: Path, *, crash_at: str = ""
) -> subprocess.CompletedProcess[str]:
    environ = dict(os.environ)
    if crash_at:
        environ["LOCALDB_TEST_CRASH_AT"] = crash_at
    return subprocess.run(
        [sys.executable, "-c", CHILD, str(home), str(documents)],
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def write_documents(folder: Path, version: str) -> None:
    folder.mkdir(exist_ok=True)
    for n in range(5):
        (folder / f"note{n}.md").write_text(f"# Note {n}\n\n{version} paragraph {n} on herons.\n")


def answers(home: Path) -> tuple[dict[str, str], list[str], list[str]]:
    """Catalog content, the hits of a search, and what was said about it."""
    with make_app(home) as app:
        store = app.stores.resolve("default")
        result = app.search.search(SearchRequest("herons paragraph", limit=20))
        rows, _ = app.documents.page(store, source_id=None, offset=0, limit=100)
        catalog = {row.uri: row.content_hash for row in rows}
        return catalog, [c.chunk.text for c in result.citations], list(result.notices)


@pytest.mark.req("L-STO-04")
@pytest.mark.req("L-ING-42")
@pytest.mark.parametrize("step", ["dirty", "upsert", "catalog", "sweep"])
@pytest.mark.parametrize("phase", ["first", "replace"])
def test_a_process_killed_at_any_step_loses_nothing_committed(
    tmp_path: Path, step: str, phase: str
) -> None:
    documents = tmp_path / "documents"
    write_documents(documents, "old")
    if phase == "replace":
        assert run_child(tmp_path / "home", documents).returncode == 0
        write_documents(documents, "newer")

    killed = run_child(tmp_path / "home", documents, crash_at=step)
    after_crash = answers(tmp_path / "home")
    finished = run_child(tmp_path / "home", documents)
    after = answers(tmp_path / "home")

    assert killed.returncode == -9
    committed = step in ("catalog", "sweep")
    expected = "newer" if phase == "replace" and committed else "old"
    texts = after_crash[1]
    assert all(text.startswith(expected) for text in texts)
    assert len(texts) == (5 if phase == "replace" or committed else 0)
    assert finished.returncode == 0, finished.stderr
    final = "newer" if phase == "replace" else "old"
    assert sorted(after[1]) == [f"{final} paragraph {n} on herons." for n in range(5)]
    assert after[2] == []


@pytest.mark.req("L-SRCH-24")
def test_a_reader_mends_what_a_killed_run_left_and_says_so(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    write_documents(documents, "old")
    run_child(tmp_path / "home", documents)
    write_documents(documents, "newer")
    run_child(tmp_path / "home", documents, crash_at="catalog")

    _, texts, notices = answers(tmp_path / "home")
    _, again, silent = answers(tmp_path / "home")

    assert len(texts) == 5
    assert any("interrupted" in notice for notice in notices)
    assert again == texts
    assert silent == []


@pytest.mark.req("L-ING-02")
@pytest.mark.req("L-STO-03")
def test_a_second_writer_is_refused_at_once(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    write_documents(documents, "old")
    with make_app(tmp_path / "home") as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(documents))
        lock = StoreLock(app.paths.data, store.id)
        lock.acquire()

        report = app.index([store])[0]
        lock.release()

        assert isinstance(report.error, IndexInProgress)
        assert app.index([store])[0].stats.docs_indexed == 5


def test_a_search_during_a_run_is_answered_by_the_catalog_and_says_so(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    write_documents(documents, "old")
    with make_app(tmp_path / "home") as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(documents))
        app.index([store])
        lock = StoreLock(app.paths.data, store.id)
        lock.acquire()
        app.catalog.ledger.set_dirty(store.id)

        result = app.search.search(SearchRequest("herons"))
        lock.release()

        assert len(result.citations) == 5
        assert any("being written" in notice for notice in result.notices)
        assert result.explanation is not None
        assert {leg.engine for leg in result.explanation.legs} == {"exact", "fts5"}


@pytest.mark.parametrize("leg", ["dense", "sparse"])
@pytest.mark.parametrize("damage", ["deleted", "garbage", "emptied"])
@pytest.mark.req("L-SRCH-24")
def test_a_damaged_index_is_noticed_said_and_rebuilt(tmp_path: Path, leg: str, damage: str) -> None:
    documents = tmp_path / "documents"
    write_documents(documents, "old")
    home = tmp_path / "home"
    run_child(home, documents)
    folder = next((home / "data" / "index").glob(f"memory-memory-{leg}/*"))
    if damage == "deleted":
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
    else:
        text = "{" if damage == "garbage" else '{"fingerprint": null, "entries": {}}'
        (folder / "memory.json").write_text(text)

    _, texts, notices = answers(home)
    _, again, silent = answers(home)

    assert len(texts) == len(again) == 5
    assert any(leg in notice and "rebuilt" in notice for notice in notices)
    assert silent == []


@pytest.mark.req("L-SRCH-24")
def test_an_index_that_cannot_be_made_again_stops_neither_the_other_nor_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = tmp_path / "documents"
    write_documents(documents, "old")
    with make_app(tmp_path / "home") as app:
        app.sources.add(app.stores.resolve("default"), str(documents))
        app.index([app.stores.resolve("default")])
    shutil.rmtree(tmp_path / "home" / "data" / "index")
    opened = Engines.open

    def refuse(engines: Engines, store: Store, engine: Engine, **given: Any) -> Index:
        if engine.leg == "sparse":
            raise StorageUnavailable("its folder cannot be made")
        return opened(engines, store, engine, **given)

    monkeypatch.setattr(Engines, "open", refuse)
    with make_app(tmp_path / "home") as app:
        store = app.stores.resolve("default")

        result = app.search.search(SearchRequest("herons"))
        report = app.index([store])[0]

    assert result.explanation is not None
    assert {leg.engine for leg in result.explanation.legs} == {"memory-dense", "fts5"}
    assert [notice for notice in result.notices if "dense" in notice and "cannot" in notice] == []
    assert any("sparse" in notice and "cannot be mended" in notice for notice in result.notices)
    assert (report.error, report.stats.docs_skipped) == (None, 5)


def test_an_unchanged_store_needs_no_mending(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    write_documents(documents, "old")
    run_child(tmp_path / "home", documents)
    with make_app(tmp_path / "home") as app:
        store = app.stores.resolve("default")

        reasons = [needs_mending(app._engines, store, leg) for leg in ("dense", "sparse")]

        assert reasons == [None, None]


@pytest.mark.req("L-CLI-34")
def test_rebuilding_an_index_parses_and_embeds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = tmp_path / "documents"
    write_documents(documents, "old")
    run_child(tmp_path / "home", documents)
    with make_app(tmp_path / "home") as app:
        store = app.stores.resolve("default")
        for file in documents.iterdir():
            file.unlink()
        monkeypatch.setattr(
            "localdb_core.testing.memory.FakeEmbedder.embed",
            lambda *args: pytest.fail("a rebuild embeds nothing"),
        )

        reports = [
            app.engines.rebuild(leg, [store], on_progress=lambda done, total: None)[0]
            for leg in ("dense", "sparse")
        ]

        assert [report.entries for report in reports] == [5, 5]
        assert [state.state for state in app.engines.list([store]).indexes] == ["ready", "ready"]


@pytest.mark.parametrize("leg", ["dense", "sparse"])
def test_an_open_reader_notices_that_its_files_changed(tmp_path: Path, leg: str) -> None:
    documents = tmp_path / "documents"
    write_documents(documents, "old")
    home = tmp_path / "home"
    run_child(home, documents)
    with make_app(home) as app:
        app.search.search(SearchRequest("herons"))
        folder = next((home / "data" / "index").glob(f"memory-memory-{leg}/*"))
        (folder / "memory.json").write_text("")

        result = app.search.search(SearchRequest("herons", limit=20))

        assert len(result.citations) == 5
        assert any("rebuilt" in notice for notice in result.notices)
