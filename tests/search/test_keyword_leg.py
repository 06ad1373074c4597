"""The catalog's keyword leg: all words first, then any word, and no query syntax."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localdb_core.app import LocalDB
from localdb_core.domain import SearchMode, SearchRequest
from localdb_core.storage.legs import STOP_WORDS, Allowed
from localdb_core.testing.app import MEMORY, make_app
from localdb_core.testing.hostile import ANYTHING, MARKED, VOCABULARY
from localdb_core.testing.memory import words

TEXTS = {
    "both": "A grey heron stands in the lagoon between reeds and more reeds and still more reeds.",
    "heron": "Heron heron heron.",
    "lagoon": "Lagoon lagoon.",
    "the": "The the the the and the and the.",
    "neither": "Storks nest on chimneys.",
    "titled": "Nothing of it in the text.",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalDB]:
    folder = tmp_path_factory.mktemp("keyword")
    documents = folder / "documents"
    documents.mkdir()
    for name, text in TEXTS.items():
        title = "Cormorants" if name == "titled" else name.upper() * 3
        (documents / f"{name}.md").write_text(f"# {title}\n\n{text}\n")
    config = {**MEMORY, "index": {"dense": "exact", "sparse": "fts5"}}
    with make_app(folder / "home", config=config) as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(documents))
        assert app.index([store])[0].stats.docs_indexed == len(TEXTS)
        yield app


def names(app: LocalDB, query: str, *, limit: int = 50) -> list[str]:
    store = app.stores.resolve("default")
    found = app.catalog.keyword.query(store.id, query, limit=limit)
    rows = app.catalog.resources.hits(store.id, [hit.chunk_id for hit in found])
    return [Path(rows[hit.chunk_id][1].uri).stem for hit in found]


@pytest.mark.req("L-SRCH-11")
def test_entries_with_all_words_come_before_entries_with_some(app: LocalDB) -> None:
    found = names(app, "heron lagoon")

    assert found[0] == "both"
    assert set(found[1:]) == {"heron", "lagoon"}


def test_an_entry_with_some_words_may_score_higher_and_still_comes_later(app: LocalDB) -> None:
    store = app.stores.resolve("default")

    scores = [hit.score for hit in app.catalog.keyword.query(store.id, "heron lagoon", limit=9)]

    assert scores[0] < scores[1]


def test_one_telling_word_beside_stop_words_is_filled_up_too(app: LocalDB) -> None:
    assert names(app, "the heron") == ["both", "heron"]


def test_stop_words_alone_decide_nothing_beside_telling_ones(app: LocalDB) -> None:
    assert "the" not in names(app, "the heron and a cormorant")
    assert names(app, "what would the heron do?") == ["heron", "both"]


def test_a_query_of_stop_words_only_is_still_answered(app: LocalDB) -> None:
    assert names(app, "the and")[0] == "the"


def test_title_and_headings_are_found(app: LocalDB) -> None:
    assert names(app, "cormorants") == ["titled"]


def test_words_are_found_in_other_forms_and_in_any_case(app: LocalDB) -> None:
    assert set(names(app, "HERONS")) == {"heron", "both"}


def test_the_limit_cuts_after_the_best(app: LocalDB) -> None:
    assert names(app, "heron lagoon", limit=1) == ["both"]
    assert names(app, "heron lagoon", limit=2)[0] == "both"


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "- * ()", '"', "\x00", "😀", "…"])
def test_a_query_without_words_finds_nothing(app: LocalDB, query: str) -> None:
    assert names(app, query) == []


@pytest.mark.req("L-SRCH-11")
@pytest.mark.parametrize(
    "query",
    [
        '"heron',
        'her"on" heron',
        "heron OR",
        "NOT heron",
        "heron NEAR lagoon",
        "NEAR(heron lagoon, 2)",
        "heron* -lagoon +reeds",
        "{text trail}: heron",
        "^heron",
        "(heron",
        "heron) lagoon",
        "heron ;DROP TABLE chunks",
        "heron\x00lagoon",
        "heron' OR '1'='1",
    ],
)
def test_query_syntax_is_taken_as_words(app: LocalDB, query: str) -> None:
    assert set(names(app, query)) & {"heron", "both"}


def test_a_word_with_marks_inside_is_a_phrase(app: LocalDB) -> None:
    assert names(app, "grey-heron") == ["both"]
    assert names(app, "text:heron") == []


def test_an_allowed_set_is_applied_before_ranking(app: LocalDB) -> None:
    store = app.stores.resolve("default")
    allowed = Allowed(" AND r.uri LIKE ?", ("%/lagoon.md",))

    found = app.catalog.keyword.query(store.id, "heron lagoon", limit=1, allowed=allowed)

    assert len(found) == 1
    assert names(app, "lagoon lagoon", limit=2)


def test_stop_words_are_single_lower_case_words() -> None:
    assert all(word == word.lower() and word.isalpha() for word in STOP_WORDS)


# --- Against a naive model ---


PAIRS = {
    f"{one}-{other}": f"{one} {other if one < other else ''}"
    for one in VOCABULARY
    for other in VOCABULARY
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalDB]:
    """Every pair of words of the vocabulary, and every word alone."""
    folder = tmp_path_factory.mktemp("shelf")
    documents = folder / "documents"
    documents.mkdir()
    for name, text in PAIRS.items():
        (documents / f"{name}.txt").write_text(text)
    config = {**MEMORY, "index": {"dense": "exact", "sparse": "fts5"}}
    with make_app(folder / "home", config=config) as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(documents))
        app.index([store])
        yield app


def texts_found(app: LocalDB, query: str) -> list[str]:
    store = app.stores.resolve("default")
    hits = app.catalog.keyword.query(store.id, query, limit=50)
    assert hits == app.catalog.keyword.query(store.id, query, limit=50)
    rows = app.catalog.resources.hits(store.id, [hit.chunk_id for hit in hits])
    return [rows[hit.chunk_id][0].text for hit in hits]


@pytest.mark.req("L-SRCH-11")
@settings(max_examples=60, deadline=None)
@given(query=MARKED)
def test_words_are_found_between_marks_those_with_all_of_them_first(
    shelf: LocalDB, query: str
) -> None:
    wanted = set(words(query))
    texts = [text.strip() for text in PAIRS.values()]

    found = texts_found(shelf, query)

    full = sorted(text for text in texts if wanted and wanted <= set(words(text)))
    assert sorted(found) == sorted(text for text in texts if wanted & set(words(text)))
    assert sorted(found[: len(full)]) == full


@pytest.mark.req("L-SRCH-11")
@pytest.mark.req("L-STO-10")
@settings(max_examples=60, deadline=None)
@given(query=ANYTHING.filter(str.strip), mode=st.sampled_from(list(SearchMode)))
def test_any_question_has_an_answer_and_always_the_same(
    shelf: LocalDB, query: str, mode: SearchMode
) -> None:
    request = SearchRequest(query, mode=mode, limit=100)

    first, second = shelf.search.search(request), shelf.search.search(request)

    assert first == second
    assert first.notices == ()
    scores = [(-c.score.fused, c.store.id, c.chunk.id) for c in first.citations]
    assert scores == sorted(scores)
    assert len(set(scores)) == len(scores) == first.total_candidates
