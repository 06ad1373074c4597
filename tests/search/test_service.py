"""The one search entry: modes, limits, scope, filters, and queries nobody expected."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localdb_core.app import LocalDB
from localdb_core.domain import (
    Citation,
    Fence,
    Filters,
    InvalidRequest,
    LocaldbError,
    SearchMode,
    SearchRequest,
    StoreNotFound,
)
from localdb_core.domain.ids import ChunkId
from localdb_core.plugin import LegQuery, Scored
from localdb_core.search.service import Search
from localdb_core.storage.session import WriteSession
from localdb_core.testing.app import MEMORY, make_app
from localdb_core.testing.memory import FakeEmbedder, MemoryIndex

OWN: dict[str, Any] = {**MEMORY, "index": {"dense": "exact", "sparse": "fts5"}}
MODES = list(SearchMode)


def write(folder: Path, count: int, subject: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(count):
        (folder / f"{n:03}.md").write_text(f"# Note {n}\n\nParagraph {n} on {subject}.\n")
    return folder


def opened(folder: Path, config: dict[str, Any] | None = None) -> LocalDB:
    """Two stores: ``default`` on herons, and ``birds`` that shares the first ten notes."""
    shared = write(folder / "herons", 10, "herons")
    app = make_app(folder / "home", config=config)
    birds = app.stores.add("birds")
    app.sources.add(app.stores.resolve("default"), str(shared))
    app.sources.add(birds, str(shared))
    app.sources.add(birds, str(write(folder / "storks", 120, "storks")))
    app.index(app.stores.list())
    return app


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalDB]:
    with opened(tmp_path_factory.mktemp("shelf")) as app:
        yield app


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalDB]:
    with opened(tmp_path_factory.mktemp("own"), OWN) as app:
        yield app


@pytest.fixture
def small(tmp_path: Path) -> Iterator[LocalDB]:
    """An application of its own, for tests that break something."""
    with make_app(tmp_path / "home") as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(write(tmp_path / "notes", 5, "herons")))
        app.index([store])
        yield app


def search(app: LocalDB, query: str = "herons", **fields: Any) -> tuple[Citation, ...]:
    return app.search.search(SearchRequest(query, **fields)).citations


# --- Modes ---


@pytest.mark.req("L-SRCH-24")
@pytest.mark.req("L-BYD-24")
@pytest.mark.parametrize(
    ("mode", "legs"),
    [
        (SearchMode.HYBRID, ["dense", "sparse"]),
        (SearchMode.KEYWORD, ["sparse"]),
        (SearchMode.DENSE, ["dense"]),
    ],
)
def test_a_mode_asks_its_legs_and_no_others(
    shelf: LocalDB, mode: SearchMode, legs: list[str]
) -> None:
    result = shelf.search.search(SearchRequest("herons", stores=("default",), mode=mode))

    assert result.explanation is not None
    assert [report.leg for report in result.explanation.legs] == legs
    (first, *_) = result.citations
    assert (first.score.dense is not None, first.score.bm25 is not None) == (
        "dense" in legs,
        "sparse" in legs,
    )
    assert (result.explanation.embedder is None) == (mode is SearchMode.KEYWORD)


@pytest.mark.req("L-SRCH-12")
def test_dense_scores_lie_between_nothing_and_one(shelf: LocalDB, own: LocalDB) -> None:
    for app in (shelf, own):
        scores = [c.score.dense for c in search(app, mode=SearchMode.DENSE, limit=100)]

        assert len(scores) == 60
        assert all(score is not None and 0.0 <= score <= 1.0 for score in scores)
        assert max(scores, key=lambda s: s or 0) == scores[0]


@pytest.mark.req("L-SRCH-01")
def test_each_leg_of_each_store_is_asked_for_fifty(
    shelf: LocalDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    real = MemoryIndex.query

    def query(self: MemoryIndex, question: LegQuery) -> list[Scored]:
        asked.append(question.limit)
        return real(self, question)

    monkeypatch.setattr(MemoryIndex, "query", query)

    result = shelf.search.search(SearchRequest("storks paragraph", limit=100))

    assert asked == [50, 50, 50, 50]
    assert len(result.citations) <= 100


@pytest.mark.req("L-EMB-02")
def test_the_query_is_embedded_as_a_query(small: LocalDB, monkeypatch: pytest.MonkeyPatch) -> None:
    roles: list[tuple[tuple[str, ...], str]] = []
    real = FakeEmbedder.embed

    def embed(self: FakeEmbedder, texts: Any, role: Any) -> Any:
        roles.append((tuple(texts), role))
        return real(self, texts, role)

    monkeypatch.setattr(FakeEmbedder, "embed", embed)
    search(small, "grey herons")

    assert roles == [(("grey herons",), "query")]


# --- Limits, blank queries, scope ---


@pytest.mark.req("L-SRCH-08")
def test_the_limit_is_clamped_to_a_hundred(shelf: LocalDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localdb_core.search.legs.LEG_LIMIT", 200)

    result = shelf.search.search(SearchRequest("herons storks paragraph", limit=10**9))

    assert result.total_candidates > 100
    assert len(result.citations) == 100


@pytest.mark.req("L-SRCH-08")
@pytest.mark.parametrize("limit", [0, -1, -(10**9)])
def test_a_limit_below_one_is_refused(shelf: LocalDB, limit: int) -> None:
    with pytest.raises(InvalidRequest, match="limit"):
        search(shelf, limit=limit)


@pytest.mark.parametrize("query", ["", " ", "\n\t\u3000"])
def test_a_blank_query_is_refused(shelf: LocalDB, query: str) -> None:
    with pytest.raises(InvalidRequest, match="empty"):
        search(shelf, query)


@pytest.mark.req("L-SRCH-06")
def test_total_candidates_counts_what_was_fused_before_the_cut(shelf: LocalDB) -> None:
    one = shelf.search.search(SearchRequest("herons", stores=("default",), limit=1))

    assert len(one.citations) == 1
    assert one.total_candidates == 10


def test_an_unknown_store_is_refused(shelf: LocalDB) -> None:
    for name in ("nobody", "", "\ud800", "default' --"):
        with pytest.raises(StoreNotFound):
            search(shelf, stores=("default", name))


def test_a_store_named_twice_counts_once(shelf: LocalDB) -> None:
    store = shelf.stores.resolve("default")

    assert search(shelf, stores=(store.name, store.id)) == search(shelf, stores=(store.name,))


@pytest.mark.req("L-SRCH-10")
def test_no_stores_give_no_results_and_no_error(tmp_path: Path) -> None:
    with make_app(tmp_path) as app:
        assert search(app) == ()
        app.stores.remove(app.stores.resolve("default"))

        assert app.search.search(SearchRequest("herons")).to_json() == {
            "citations": [],
            "total_candidates": 0,
        }


def test_a_scope_hides_the_other_stores(shelf: LocalDB) -> None:
    default = shelf.stores.resolve("default")
    scoped = shelf.services([default]).search
    nothing = shelf.services([]).search

    result = scoped.search(SearchRequest("herons", limit=100))

    assert {citation.store.name for citation in result.citations} == {"default"}
    assert scoped.search(SearchRequest("herons", stores=("birds",))).citations == ()
    assert nothing.search(SearchRequest("herons")).total_candidates == 0


@pytest.mark.req("L-SRCH-04")
@pytest.mark.req("L-DOM-14")
def test_the_same_document_in_two_stores_stays_two_results(shelf: LocalDB) -> None:
    found = search(shelf, "paragraph 7 on herons", limit=2)

    assert [citation.chunk.text for citation in found] == ["Paragraph 7 on herons."] * 2
    assert found[0].chunk.id == found[1].chunk.id
    assert {citation.store.name for citation in found} == {"default", "birds"}


@pytest.mark.req("L-MCP-30")
def test_a_store_added_later_is_searched(tmp_path: Path) -> None:
    with make_app(tmp_path / "home") as app:
        services = app.services()
        assert services.search.search(SearchRequest("herons")).citations == ()

        later = app.stores.add("later")
        app.sources.add(later, str(write(tmp_path / "notes", 1, "herons")))
        app.index([later])

        (hit,) = services.search.search(SearchRequest("herons")).citations
        assert hit.store.name == "later"


# --- Filters and fences ---


def uris(found: tuple[Citation, ...]) -> set[str]:
    return {citation.resource.uri.rpartition("/")[2] for citation in found}


@pytest.mark.req("L-SRCH-23")
def test_each_filter_narrows_to_what_it_names(shelf: LocalDB) -> None:
    store = shelf.stores.resolve("birds")
    herons, storks = shelf.sources.list(store)
    (first, *_) = search(shelf, "herons", stores=("birds",))
    prefix = first.resource.uri[: -len("000.md")]
    moment = first.resource.added_at

    def narrowed(**filters: str) -> tuple[Citation, ...]:
        return search(shelf, "paragraph", stores=("birds",), limit=100, filters=Filters(**filters))

    assert len(narrowed(uri_prefix=prefix)) == 10
    assert uris(narrowed(resource_id=first.resource.id)) == uris((first,))
    assert len(narrowed(source_id=herons.id)) == 10
    assert all(c.resource.source_id == storks.id for c in narrowed(source_id=storks.id))
    assert len(narrowed(mime="text/markdown", source_id=herons.id)) == 10
    assert narrowed(mime="text/plain") == ()
    assert narrowed(fetched_after="2999-01-01T00:00:00Z") == ()
    assert len(narrowed(fetched_after=moment, uri_prefix=prefix)) >= 1
    assert len(narrowed(fetched_before="2999-01-01T00:00:00Z", uri_prefix=prefix)) == 10
    assert narrowed(policy_version="0" * 64) == ()
    assert len(narrowed(policy_version=first.resource.policy_version, uri_prefix=prefix)) == 10
    assert narrowed(uri_prefix="file:///%_") == ()


@pytest.mark.req("L-SRCH-23")
def test_a_filtered_search_is_answered_by_the_catalog(shelf: LocalDB) -> None:
    request = SearchRequest("herons", filters=Filters(mime="text/markdown"))

    result = shelf.search.search(request)

    assert result.explanation is not None
    assert {report.engine for report in result.explanation.legs} == {"exact", "fts5"}
    assert result.notices == ()


@pytest.mark.parametrize("mode", MODES)
def test_an_empty_fence_finds_nothing_and_leaks_no_total(shelf: LocalDB, mode: SearchMode) -> None:
    result = shelf.search.search(SearchRequest("herons", mode=mode, fence=Fence.only([])))

    assert (result.citations, result.total_candidates) == ((), 0)


@pytest.mark.parametrize("mode", MODES)
def test_a_fence_lets_only_its_resources_through_before_ranking(
    shelf: LocalDB, mode: SearchMode
) -> None:
    wanted = {citation.resource.id for citation in search(shelf, "storks", limit=3)}
    unknown = ["f" * 64, "", "x' OR 1=1"]

    result = shelf.search.search(
        SearchRequest("paragraph", mode=mode, limit=100, fence=Fence.only([*wanted, *unknown]))
    )

    assert {citation.resource.id for citation in result.citations} == wanted
    assert result.total_candidates == len(wanted)


# --- Queries nobody expected ---

HOSTILE = [
    '"',
    '"""',
    "herons\"'",
    "-herons",
    "* ?",
    "NEAR",
    "AND OR NOT",
    "NEAR(herons storks, 3)",
    "((((((",
    ")",
    "text:herons",
    "herons^3~0.5",
    "[a TO z]",
    "\\",
    "\x00",
    "herons\x00storks",
    "\ud800",
    "herons \udfff",
    "😀",
    "👩‍👩‍👧 herons",
    "鷺と鶴",
    "مالك الحزين",
    "e\u0301\u0301\u0301",
    "\u202eherons",
    "'; DROP TABLE chunks; --",
    "%s %d {0}",
    "a" * 100_000,
    "herons " * 10_000,
    " ".join(f"word{n}" for n in range(10_000)),
]


@pytest.mark.req("L-SRCH-11")
@pytest.mark.parametrize("mode", MODES)
def test_no_query_is_an_error(shelf: LocalDB, own: LocalDB, mode: SearchMode) -> None:
    for app in (shelf, own):
        for query in HOSTILE:
            result = app.search.search(SearchRequest(query, mode=mode, stores=("default",)))

            assert result.notices == (), query[:20]
            assert result.total_candidates <= 100


@pytest.mark.parametrize("stored", ["", "{", "7", "[" * 5_000, '{"creator": {"a": ["Bo"]}}'])
def test_metadata_that_cannot_be_read_matches_no_filter(small: LocalDB, stored: str) -> None:
    with small.catalog.connections.write() as db:
        db.execute("UPDATE resources SET metadata_json = ?", (stored,))

    assert search(small, filters=Filters(metadata=(("creator", "Bo"),))) == ()
    assert len(search(small, filters=Filters(mime="text/markdown"))) == 5


def test_hostile_filters_and_fences_are_no_errors(own: LocalDB) -> None:
    for value in ("%", "_", "'", '"', "\x00", "😀", "\ud800", "x" * 10_000):
        filters = Filters(mime=value, uri_prefix=value, source_id=value, fetched_after=value)
        named = Filters(metadata=((value, value), ("title", value)))

        assert search(own, filters=named) == ()

        assert search(own, filters=filters) == ()
        assert search(own, fence=Fence.only([value])) == ()


# --- What an index may say ---


@pytest.mark.req("L-SRCH-09")
def test_ids_the_store_does_not_have_are_dropped(
    small: LocalDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = MemoryIndex.query
    monkeypatch.setattr(
        MemoryIndex,
        "query",
        lambda self, query: [Scored(ChunkId("0" * 64), 99.0), *real(self, query)],
    )

    result = small.search.search(SearchRequest("herons"))

    assert result.total_candidates == len(result.citations) == 5


@pytest.mark.req("L-SRCH-24")
@pytest.mark.parametrize(
    "answer",
    [
        lambda self, query: None,
        lambda self, query: [("id", 1.0)],
        lambda self, query: [Scored(ChunkId("x"), "high")],  # type: ignore[arg-type]
        lambda self, query: 1 / 0,
    ],
    ids=["none", "tuples", "words", "raises"],
)
def test_an_index_that_answers_nonsense_is_stood_in_for(
    small: LocalDB, monkeypatch: pytest.MonkeyPatch, answer: Callable[..., Any]
) -> None:
    monkeypatch.setattr(MemoryIndex, "query", answer)

    result = small.search.search(SearchRequest("herons"))

    assert len(result.citations) == 5
    assert result.explanation is not None
    assert {report.engine for report in result.explanation.legs} == {"exact", "fts5"}
    assert any("answers instead" in notice for notice in result.notices)


def test_a_document_replaced_between_leg_and_citation_is_left_out(
    small: LocalDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = type(small.catalog.resources).hits

    def hits(self: Any, store_id: str, ids: list[str]) -> Any:
        return dict(list(real(self, store_id, ids).items())[1:])

    monkeypatch.setattr(type(small.catalog.resources), "hits", hits)

    assert len(search(small)) == 4


# --- Without an embedder ---


@pytest.mark.req("L-SRCH-24")
@pytest.mark.parametrize(
    "answer",
    [
        lambda self, texts, role: 1 / 0,
        lambda self, texts, role: np.zeros((1, 64), dtype=np.float32),
        lambda self, texts, role: np.full((1, 64), np.nan, dtype=np.float32),
        lambda self, texts, role: np.ones((1, 3), dtype=np.float32),
        lambda self, texts, role: None,
    ],
    ids=["raises", "zero", "nan", "dimension", "none"],
)
def test_an_embedder_that_fails_on_the_query_is_said_once_and_words_are_searched(
    small: LocalDB, monkeypatch: pytest.MonkeyPatch, answer: Callable[..., Any]
) -> None:
    monkeypatch.setattr(FakeEmbedder, "embed", answer)

    result = small.search.search(SearchRequest("herons"))

    assert len(result.citations) == 5
    assert len(result.notices) == 1
    assert result.notices[0].startswith("searching by words only: ")
    with pytest.raises(LocaldbError):
        search(small, mode=SearchMode.DENSE)


@pytest.mark.req("L-SRCH-24")
@pytest.mark.req("L-BYD-24")
def test_a_store_whose_embedder_is_gone_is_searched_by_words_and_refused_by_meaning(
    tmp_path: Path,
) -> None:
    with make_app(tmp_path / "home") as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(write(tmp_path / "notes", 3, "herons")))
        app.index([store])

    with make_app(tmp_path / "home", plugins=(), config={}) as app:
        result = app.search.search(SearchRequest("herons"))

        assert len(result.citations) == 3
        assert sum("by words only" in notice for notice in result.notices) == 1
        assert len(search(app, mode=SearchMode.KEYWORD)) == 3
        with pytest.raises(LocaldbError, match="fake"):
            search(app, mode=SearchMode.DENSE)


def test_a_search_by_meaning_says_which_store_has_no_vectors(tmp_path: Path) -> None:
    with make_app(tmp_path / "home", plugins=(), config={}) as app:
        store = app.stores.resolve("default")
        app.sources.add(store, str(write(tmp_path / "notes", 3, "herons")))
        app.index([store])

        result = app.search.search(SearchRequest("herons", mode=SearchMode.DENSE))

        assert result.citations == ()
        assert result.notices == ("store 'default' has no vectors; it is left out",)


# --- Repeatable ---


@pytest.mark.req("L-INV-03")
def test_the_same_documents_indexed_twice_give_the_same_answers(
    tmp_path: Path, shelf: LocalDB
) -> None:
    folder = Path(shelf.sources.list(shelf.stores.resolve("birds"))[1].root or "")
    answers = []
    for home in ("one", "two"):
        with make_app(tmp_path / home) as app:
            store = app.stores.resolve("default")
            app.sources.add(store, str(folder))
            app.index([store])
            found = search(app, "paragraph on storks", limit=100)
            assert found == search(app, "paragraph on storks", limit=100)
            answers.append([(c.chunk.id, c.score) for c in found])

    assert answers[0] == answers[1]
    assert len(answers[0]) > 50


def test_plugin_indexes_and_the_catalog_agree(shelf: LocalDB, own: LocalDB) -> None:
    query = "paragraph 3 on herons"

    def texts(app: LocalDB) -> list[str]:
        found = search(app, query, stores=("default",), mode=SearchMode.DENSE)
        return [citation.chunk.text for citation in found]

    assert texts(shelf) == texts(own)


def test_an_explanation_names_rank_and_score_of_each_leg(shelf: LocalDB) -> None:
    result = shelf.search.search(SearchRequest("herons", stores=("default",), limit=2))

    assert result.explanation is not None
    explained = result.explanation.to_json()
    assert [hit["chunk_id"] for hit in explained["hits"]] == [
        citation.chunk.id for citation in result.citations
    ]
    assert explained["hits"][0]["fused"] == result.citations[0].score.fused
    assert set(explained["hits"][0]["legs"]) == {"dense", "sparse"}
    assert all(leg["rank"] >= 1 for hit in explained["hits"] for leg in hit["legs"].values())
    assert explained["embedder"] == "fake fake"


def test_a_search_while_the_index_folder_is_gone_is_complete(small: LocalDB) -> None:
    shutil.rmtree(small.paths.data / "index")

    result = small.search.search(SearchRequest("herons"))
    again = small.search.search(SearchRequest("herons"))

    assert len(result.citations) == len(again.citations) == 5
    assert isinstance(small.search, Search)


# --- Mending ---


def counted_mends(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    mends: list[str] = []
    real = WriteSession.force_mend

    def force_mend(self: WriteSession, leg: Any) -> None:
        mends.append(leg)
        real(self, leg)

    monkeypatch.setattr(WriteSession, "force_mend", force_mend)
    return mends


@pytest.mark.req("L-SRCH-24")
def test_an_index_that_keeps_failing_is_filled_again_once_and_not_by_every_search(
    small: LocalDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    mends = counted_mends(monkeypatch)
    real = MemoryIndex.query
    monkeypatch.setattr(MemoryIndex, "query", lambda self, query: 1 / 0)

    answers = [small.search.search(SearchRequest("herons")) for _ in range(3)]

    assert mends == ["dense", "sparse"]
    assert [len(answer.citations) for answer in answers] == [5] * 3
    assert all(len(answer.notices) == 2 for answer in answers[1:])
    assert "also after it was mended" in answers[2].notices[0]
    assert "localdb engine rebuild dense" in answers[2].notices[0]

    monkeypatch.setattr(MemoryIndex, "query", real)
    assert small.search.search(SearchRequest("herons")).notices == ()


@pytest.mark.req("L-SRCH-24")
def test_a_store_that_changed_is_worth_another_try(
    small: LocalDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    mends = counted_mends(monkeypatch)
    store = small.stores.resolve("default")
    monkeypatch.setattr(MemoryIndex, "query", lambda self, query: 1 / 0)
    request = SearchRequest("herons", mode=SearchMode.KEYWORD)
    small.search.search(request)

    Path(small.sources.list(store)[0].root or "", "more.md").write_text("# More\n\nHerons.\n")
    small.index([store])
    answers = [small.search.search(request) for _ in range(3)]

    assert mends == ["sparse", "sparse"]
    assert [len(answer.citations) for answer in answers] == [6] * 3


@pytest.mark.req("L-SRCH-24")
def test_an_index_that_cannot_be_written_is_tried_once(
    small: LocalDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def force_mend(self: WriteSession, leg: Any) -> None:
        tried.append(leg)
        raise OSError("read-only file system")

    monkeypatch.setattr(WriteSession, "force_mend", force_mend)
    monkeypatch.setattr(MemoryIndex, "query", lambda self, query: 1 / 0)
    request = SearchRequest("herons", mode=SearchMode.KEYWORD)

    first, *others = [small.search.search(request) for _ in range(3)]

    assert tried == ["sparse"]
    assert "read-only file system" in first.notices[0]
    assert all(len(other.citations) == 5 for other in others)
