"""What every ranker owes the search, as tests to inherit.

class TestMyRanker(RankerContract):
    component = "mine/mine"

The plugin must be installed. Override :meth:`RankerContract.spec` and
:meth:`RankerContract.build` to test a ranker that is not.
"""

# ruff: noqa: D102 (the names of tests are sentences)

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from localdb_core.domain.ids import ChunkId
from localdb_core.plugin import PluginContext, Ranked, RankEntry, Ranker, RankerSpec
from localdb_core.testing.component import attribute_of, find_spec, offline, settings_of
from localdb_core.testing.hostile import HOSTILE

QUERY = "when does the lease of the lighthouse end"
ENTRIES = tuple(
    RankEntry(
        store_id=store,
        chunk_id=ChunkId(f"chunk-{number}"),
        text=text,
        headings=("Contracts", "Lighthouse"),
        title="Contracts",
        score=1 / (61 + number),
    )
    for number, (store, text) in enumerate(
        [
            ("one", "Grey herons nest in colonies."),
            ("one", "The lease of the lighthouse ends in May."),
            ("two", "The lamp was replaced."),
            ("two", "The lighthouse keeper pays the lease every month, to the end of the year."),
            ("two", ""),
        ]
    )
)
"""Five hits of two stores, the best one second, one without text."""


class RankerContract:
    """Inherit, name the component.

    Attributes:
        component: ``plugin/name``.
        settings: the plugin's config section; its model is built from this.
    """

    component: ClassVar[str]
    settings: ClassVar[Mapping[str, Any]] = {}  # Any: config values

    @classmethod
    def spec(cls) -> RankerSpec:
        """The description under test; looked up by entry point unless overridden."""
        return find_spec(cls.component, RankerSpec)

    @classmethod
    def build(cls, folder: Path) -> Ranker:
        """A new ranker that keeps its files in ``folder``, as the host would build it."""
        context = PluginContext(
            plugin=cls.component.partition("/")[0],
            config=settings_of(cls.component, cls.settings),
            data_dir=folder / "data",
            cache_dir=folder / "cache",
        )
        ranker: Ranker = attribute_of(cls.spec().target)(context)
        return ranker

    @pytest.fixture(scope="class")
    @classmethod
    def folder(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """Where the rankers of this class keep their files."""
        return tmp_path_factory.mktemp("ranker")

    @pytest.fixture(scope="class")
    @classmethod
    def ranker(cls, folder: Path) -> Iterator[Ranker]:
        """One ranker for all tests of the class; closed at the end."""
        ranker = cls.build(folder)
        yield ranker
        ranker.close()

    def test_it_answers_entries_it_was_given_each_once_with_finite_scores(
        self, ranker: Ranker
    ) -> None:
        check(ranker.rank(QUERY, ENTRIES), ENTRIES)

    def test_the_passage_that_answers_the_question_comes_first(self, ranker: Ranker) -> None:
        best = max(ranker.rank(QUERY, ENTRIES), key=lambda ranked: ranked.score)

        assert "lease" in best.entry.text

    def test_no_entries_give_no_answer(self, ranker: Ranker) -> None:
        assert list(ranker.rank(QUERY, [])) == []

    def test_the_same_question_has_the_same_answer(self, ranker: Ranker) -> None:
        assert list(ranker.rank(QUERY, ENTRIES)) == list(ranker.rank(QUERY, ENTRIES))

    def test_the_same_chunk_in_two_stores_stays_two_entries(self, ranker: Ranker) -> None:
        twins = [ENTRIES[1], replace(ENTRIES[1], store_id="two")]

        answer = ranker.rank(QUERY, twins)

        check(answer, twins)
        assert len({ranked.score for ranked in answer}) <= 1

    @pytest.mark.parametrize("number", range(len(HOSTILE)))
    def test_no_question_and_no_text_is_an_error(self, ranker: Ranker, number: int) -> None:
        entries = [replace(ENTRIES[0], text=HOSTILE[number], title=None, headings=()), ENTRIES[1]]

        check(ranker.rank(HOSTILE[number], entries), entries)

    def test_an_offline_ranker_opens_no_connection(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Skipped for one whose description says ``needs_network``."""
        offline(monkeypatch, self.spec())
        ranker = self.build(folder)
        ranker.rank(QUERY, ENTRIES)
        ranker.close()

    def test_nothing_is_printed(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        ranker = self.build(folder)
        ranker.rank(QUERY, ENTRIES)
        ranker.close()

        assert capfd.readouterr().out == ""


def check(answer: Sequence[Ranked], entries: Sequence[RankEntry]) -> None:
    """Assert what the search itself asks of an answer."""
    names = [(ranked.entry.store_id, ranked.entry.chunk_id) for ranked in answer]

    assert len(set(names)) == len(names), "an entry was answered twice"
    assert set(names) <= {(entry.store_id, entry.chunk_id) for entry in entries}
    assert all(math.isfinite(ranked.score) for ranked in answer)
