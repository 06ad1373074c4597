"""The ranker hook: another order of the same hits, and never fewer because of a fault."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localdb_core.app import LocalDB
from localdb_core.domain import (
    Citation,
    InvalidConfig,
    InvalidRequest,
    ProviderUnavailable,
    SearchMode,
    SearchRequest,
    SearchResult,
)
from localdb_core.domain.ids import ChunkId
from localdb_core.host.guard import Refused
from localdb_core.plugin import PluginInfo, Ranked, RankEntry, RankerSpec, hookimpl
from localdb_core.search.ranking import accepted
from localdb_core.testing import memory_plugin
from localdb_core.testing.app import MEMORY, make_app
from localdb_core.testing.memory import OverlapRanker

FUSED = SearchRequest("paragraph on herons", ranker="none", limit=100)
RANKED = replace(FUSED, ranker="overlap")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalDB]:
    """Two stores that share six notes."""
    folder = tmp_path_factory.mktemp("shelf")
    notes = folder / "notes"
    notes.mkdir()
    for n in range(6):
        (notes / f"{n}.md").write_text(f"# Note {n}\n\nParagraph {n} on herons.\n")
    config = {**MEMORY, "search": {"ranker_budget_ms": 60_000}}
    with make_app(folder / "home", config=config) as app:
        app.stores.add("twin")
        for store in app.stores.list():
            app.sources.add(store, str(notes))
        app.index(app.stores.list())
        yield app


def keys(result: SearchResult) -> list[tuple[str, str]]:
    return [(c.store.name, c.chunk.id) for c in result.citations]


def ranking(monkeypatch: pytest.MonkeyPatch, rank: Any) -> None:
    monkeypatch.setattr(OverlapRanker, "rank", rank)


@pytest.mark.req("L-SRCH-07")
@pytest.mark.req("L-BYD-25")
def test_a_ranker_reorders_the_hits_and_their_scores_stay(
    shelf: LocalDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranking(monkeypatch, lambda self, query, entries: [
        Ranked(entry, float(n)) for n, entry in enumerate(entries)
    ])  # fmt: skip
    fused = shelf.search.search(FUSED)

    result = shelf.search.search(RANKED)

    def by_place(citation: Citation) -> tuple[str, str]:
        return citation.store.id, citation.chunk.id

    assert keys(result) == keys(fused)[::-1]
    assert sorted(result.citations, key=by_place) == sorted(fused.citations, key=by_place)
    assert (result.total_candidates, result.notices) == (fused.total_candidates, ())


@pytest.mark.req("L-SRCH-07")
def test_an_entry_names_its_store_so_that_twins_are_not_confused(
    shelf: LocalDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = shelf.stores.resolve("twin")
    ranking(monkeypatch, lambda self, query, entries: [
        Ranked(entry, entry.score) for entry in entries if entry.store_id == twin.id
    ])  # fmt: skip

    result = shelf.search.search(RANKED)

    assert {name for name, _ in keys(result)} == {"twin"}
    assert keys(result) == [key for key in keys(shelf.search.search(FUSED)) if key[0] == "twin"]
    assert result.total_candidates == 12


@pytest.mark.req("L-SRCH-07")
def test_a_ranker_sees_the_passages_with_their_trail_and_the_query(
    shelf: LocalDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def rank(self: OverlapRanker, query: str, entries: Any) -> list[Ranked]:
        seen.append((query, entries))
        return []

    ranking(monkeypatch, rank)

    assert shelf.search.search(replace(RANKED, query="herons \ud800")).citations == ()
    ((query, entries),) = seen
    assert query == "herons \ufffd"
    assert len(entries) == 12
    assert {(entry.text, entry.headings) for entry in entries} == {
        (f"Paragraph {n} on herons.", (f"Note {n}",)) for n in range(6)
    }
    assert [entry.score for entry in entries] == sorted(
        (entry.score for entry in entries), reverse=True
    )


WRONG: dict[str, Any] = {
    "raises": lambda entries: 1 / 0,
    "leaves": lambda entries: exit(),
    "unavailable": lambda entries: _raise(ProviderUnavailable("the ranker is down")),
    "none": lambda entries: None,
    "number": lambda entries: 7,
    "scores": lambda entries: [0.5] * len(entries),
    "entries": lambda entries: entries,
    "foreign": lambda entries: [Ranked(replace(entries[0], chunk_id=ChunkId("x")), 1.0)],
    "other store": lambda entries: [Ranked(replace(entries[0], store_id="x"), 1.0)],
    "no entry": lambda entries: [Ranked(None, 1.0)],  # type: ignore[arg-type]
    "unhashable": lambda entries: [Ranked(replace(entries[0], store_id=[]), 1.0)],
    "twice": lambda entries: [Ranked(entries[0], 1.0), Ranked(entries[0], 2.0)],
    "nan": lambda entries: [Ranked(entries[0], float("nan"))],
    "infinite": lambda entries: [Ranked(entries[0], float("inf"))],
    "words": lambda entries: [Ranked(entries[0], "high")],
    "endless": lambda entries: iter(lambda: Ranked(entries[0], 1.0), None),
    "half way": lambda entries: (Ranked(entry, 1 / n) for n, entry in enumerate(entries)),
}


def _raise(error: Exception) -> None:
    raise error


@pytest.mark.req("L-SRCH-07")
@pytest.mark.parametrize("fault", WRONG)
def test_a_ranker_that_is_wrong_costs_only_its_order_and_that_is_said_once(
    shelf: LocalDB, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    ranking(monkeypatch, lambda self, query, entries: WRONG[fault](entries))

    result = shelf.search.search(RANKED)

    assert keys(result) == keys(shelf.search.search(FUSED))
    (notice,) = result.notices
    assert notice.startswith("the ranker overlap is left out, the order is that of the legs: ")
    assert result.explanation is not None
    assert result.explanation.ranker is not None
    assert result.explanation.ranker.note


@pytest.mark.req("L-BYD-25")
def test_a_ranker_over_its_budget_is_given_up_and_not_waited_for_again(
    shelf: LocalDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    free = threading.Event()

    def rank(self: OverlapRanker, query: str, entries: Any) -> list[Ranked]:
        calls.append(len(entries))
        assert free.wait(60)
        return [Ranked(entry, n) for n, entry in enumerate(entries)]

    ranking(monkeypatch, rank)
    monkeypatch.setattr(shelf.search._rankers, "budget_ms", 10)  # noqa: SLF001
    fused = keys(shelf.search.search(FUSED))
    try:
        first, second = shelf.search.search(RANKED), shelf.search.search(RANKED)
    finally:
        free.set()

    assert keys(first) == keys(second) == fused
    assert "took more than 10 ms" in first.notices[0]
    assert "is still at work on an earlier search" in second.notices[0]
    assert calls == [12]

    monkeypatch.setattr(shelf.search._rankers, "budget_ms", 60_000)  # noqa: SLF001
    assert keys(shelf.search.search(RANKED)) == fused[::-1]


@pytest.mark.req("L-BYD-25")
def test_hits_beyond_the_candidates_stay_behind_in_fused_order(
    shelf: LocalDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranking(monkeypatch, lambda self, query, entries: [
        Ranked(entry, np.float32(n)) for n, entry in enumerate(entries)
    ])  # fmt: skip
    monkeypatch.setattr(shelf.search._rankers, "candidates", 3)  # noqa: SLF001
    fused = keys(shelf.search.search(FUSED))

    result = shelf.search.search(RANKED)
    cut = shelf.search.search(replace(RANKED, limit=2))

    assert keys(result) == [*fused[2::-1], *fused[3:]]
    assert keys(cut) == fused[2:0:-1]
    assert result.explanation is not None
    assert result.explanation.to_json()["ranker"] == {"name": "overlap", "note": None, "seen": 3}
    assert [hit.get("ranker", {}).get("rank") for hit in result.explanation.hits[:4]] == [
        1,
        2,
        3,
        None,
    ]


def test_a_search_without_hits_asks_no_ranker(
    shelf: LocalDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranking(monkeypatch, lambda self, query, entries: 1 / 0)

    result = shelf.search.search(replace(RANKED, query="zzz", mode=SearchMode.KEYWORD))

    assert (result.citations, result.notices) == ((), ())


# --- Names ---


def plugin(**changes: Any) -> ModuleType:
    """A plugin with one ranker, made on the spot."""
    spec = {"name": "odd", "target": "localdb_core.testing.memory:OverlapRanker", **changes}
    module = ModuleType("odd_plugin")
    module.__file__ = None
    module.PLUGIN = PluginInfo(api="1.0")  # type: ignore[attr-defined]

    @hookimpl
    def localdb_rankers() -> list[RankerSpec]:
        return [RankerSpec(**spec)]

    module.localdb_rankers = localdb_rankers  # type: ignore[attr-defined]
    return module


def app_with(folder: Path, ranker: str | None, *, odd: ModuleType | None = None) -> LocalDB:
    config = {**MEMORY, "search": {"ranker": ranker, "ranker_budget_ms": 60_000}}
    plugins = [("memory", memory_plugin), *([("odd", odd)] if odd else [])]
    app = make_app(folder / "home", config=config, plugins=plugins)
    store = app.stores.resolve("default")
    folder.joinpath("a.md").write_text("# Herons\n\nHerons stand still.\n")
    app.sources.add(store, str(folder / "a.md"))
    app.index([store])
    return app


@pytest.mark.req("L-BYD-25")
def test_there_is_no_ranker_unless_one_is_configured_or_asked_for(tmp_path: Path) -> None:
    with app_with(tmp_path, None) as app:
        assert app.config.search.ranker is None
        result = app.search.search(SearchRequest("herons"))

    assert result.explanation is not None
    assert result.explanation.ranker is None


@pytest.mark.req("L-BYD-25")
@pytest.mark.parametrize("name", ["overlap", "memory/overlap"])
def test_the_configured_ranker_is_used_by_tools_too_and_can_be_left_out(
    tmp_path: Path, name: str
) -> None:
    with app_with(tmp_path, name) as app:
        asked = app.services().search.search(SearchRequest("herons"))
        without = app.search.search(SearchRequest("herons", ranker="none"))

    assert asked.explanation is not None
    assert asked.explanation.ranker is not None
    assert asked.explanation.ranker.seen == 1
    assert without.explanation is not None
    assert without.explanation.ranker is None
    assert asked.to_json() == without.to_json()


@pytest.mark.req("L-BYD-25")
def test_an_unknown_ranker_is_refused_with_its_place_and_the_known_ones(tmp_path: Path) -> None:
    with app_with(tmp_path, "nobody") as app:
        with pytest.raises(InvalidConfig) as configured:
            app.search.search(SearchRequest("herons"))
        with pytest.raises(InvalidRequest) as asked:
            app.search.search(SearchRequest("herons", ranker="nobody-else"))
        assert len(app.search.search(SearchRequest("herons", ranker="none")).citations) == 1
        assert len(app.search.search(SearchRequest("herons", ranker="overlap")).citations) == 1

    assert configured.value.bare == "search.ranker: no ranker is named 'nobody'; known: overlap"
    assert asked.value.bare == "no ranker is named 'nobody-else'; known: overlap"


@pytest.mark.parametrize(
    ("target", "reason"),
    [("no_such_module:Ranker", "no_such_module"), ("builtins:str", "without rank, close")],
)
def test_a_ranker_that_cannot_be_built_is_tried_once(
    tmp_path: Path, target: str, reason: str
) -> None:
    with app_with(tmp_path, "odd", odd=plugin(target=target)) as app:
        answers = [app.search.search(SearchRequest("herons")) for _ in range(2)]

    assert [len(answer.citations) for answer in answers] == [1, 1]
    assert all(reason in answer.notices[0] for answer in answers)


@pytest.mark.parametrize("top", [0, -1, 1.5])
def test_a_description_that_makes_no_sense_is_refused_and_reported(
    tmp_path: Path, top: Any
) -> None:
    with make_app(tmp_path, plugins=[("odd", plugin(top=top))], config={}) as app:
        assert app.registry.rankers == ()
        assert "top is" in str(app.host.statuses[1].error)


# --- What an answer may be ---

GIVEN = [RankEntry(store, ChunkId(chunk), "") for store in "st" for chunk in "abc"]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 7), st.sampled_from([0.0, 1.0, -1.0, float("nan")]))))
def test_an_answer_is_refused_or_a_selection_in_the_order_of_its_scores(
    answer: list[tuple[int, float]],
) -> None:
    foreign = [RankEntry("u", ChunkId("a"), ""), RankEntry("s", ChunkId("d"), "")]
    entries = [*GIVEN, *foreign]
    ranked = [Ranked(entries[place], score) for place, score in answer]
    places = [place for place, _ in answer]
    wrong = (
        len(set(places)) < len(places)
        or any(place >= len(GIVEN) for place in places)
        or any(score != score for _, score in answer)
    )
    if wrong:
        with pytest.raises(Refused):
            accepted(ranked, GIVEN)
        return

    assert accepted(ranked, GIVEN) == sorted(answer, key=lambda pair: (-pair[1], pair[0]))
