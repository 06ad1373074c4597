"""What is wrong with one leg is no reason to leave the other broken."""

import shutil

import pytest

from localdb_core.domain.query import SearchMode, SearchRequest
from localdb_core.testing.app import MEMORY, make_app


@pytest.fixture
def half(tmp_path):
    """An indexed app whose dense engine is gone and whose sparse index is lost."""
    folder = tmp_path / "home"
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("Herons stand still.\n")
    with make_app(folder) as app:
        (store,) = app.stores.list()
        app.sources.add(store, str(notes))
        app.index([store])
    for lost in folder.glob("data/index/*sparse*"):
        shutil.rmtree(lost)
    config = {**MEMORY, "index": {"dense": "nowhere", "sparse": "memory-sparse"}}
    with make_app(folder, config=config) as app:
        yield app


def test_a_search_by_words_mends_its_index_and_quotes_nothing_of_the_other(half):
    result = half.search.search(SearchRequest("herons", mode=SearchMode.KEYWORD))

    assert len(result.citations) == 1
    assert "nowhere" not in " ".join(result.notices)
    assert [report.engine for report in result.explanation.legs] == ["memory-sparse"]


@pytest.mark.req("L-CLI-34")
def test_an_index_is_rebuilt_although_the_other_engine_is_gone(half):
    (report,) = half.engines.rebuild("sparse", half.stores.list(), on_progress=lambda *_: None)

    assert (report.engine, report.entries) == ("memory-sparse", 1)
