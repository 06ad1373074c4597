"""What every keyword index must do, as tests to inherit.

class TestMyIndex(SparseIndexContract):
    def build(self, context: IndexContext) -> Index:
        return build(context)
"""

# ruff: noqa: D102 (the names of tests are sentences)

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localdb_core.plugin import Scored
from localdb_core.testing.hostile import ANYTHING, HOSTILE, MARKED
from localdb_core.testing.index import SLOW_ENGINE, TEXTS, IndexContract, ids_of
from localdb_core.testing.memory import words


class SparseIndexContract(IndexContract):
    """Tests of a keyword index.

    ``strict_first`` says whether entries with all words come before the others (D-05).
    """

    dense = False
    strict_first = True

    def compare(self, found: list[Scored], expected: list[Scored]) -> None:
        """The same ids; order and scores are the engine's own."""
        assert sorted(ids_of(found)) == sorted(ids_of(expected))

    def test_entries_with_all_words_come_first(self, tmp_path: Path) -> None:
        texts = {f"{n}": "zebra" for n in range(4)}
        texts["both"] = "quartz " + "filler " * 200 + "zebra"
        texts["rare"] = "quartz quartz quartz"
        with closing(self.filled(tmp_path, texts)) as index:
            found = ids_of(index.query(self.question("zebra quartz")))
        assert sorted(found) == sorted(texts)
        if self.strict_first:  # an index that ranks by score alone still finds them all
            assert found[0] == "both"

    def test_case_does_not_matter(self, tmp_path: Path) -> None:
        with closing(self.filled(tmp_path, {"a": "Zebra", "b": "quartz"})) as index:
            assert ids_of(index.query(self.question("ZEBRA"))) == ["a"]

    @pytest.mark.parametrize("text", ["", "  \n\t", "?!", "nothing-of-the-kind"])
    def test_a_question_without_known_words_finds_nothing(self, tmp_path: Path, text: str) -> None:
        with closing(self.filled(tmp_path, {"a": "zebra"})) as index:
            assert index.query(self.question(text)) == []

    @pytest.mark.parametrize("number", range(len(HOSTILE)))
    def test_a_hostile_question_is_only_words(self, tmp_path: Path, number: int) -> None:
        text = HOSTILE[number]
        with closing(self.filled(tmp_path, {"a": "zebra", "b": "quartz"})) as index:
            found = ids_of(index.query(self.question(text)))

        assert set(found) <= {"a", "b"}
        if "zebra" in text and "\x00" not in text and "\u202e" not in text:
            assert "a" in found

    @SLOW_ENGINE
    @given(st.lists(TEXTS, min_size=1, max_size=12), st.lists(MARKED, min_size=5, max_size=10))
    def test_words_are_found_between_marks_those_with_all_of_them_first(
        self, texts: list[str], questions: list[str]
    ) -> None:
        entries = {f"{n:02}": text for n, text in enumerate(texts)}
        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
            closing(self.filled(Path(name), entries)) as index,
        ):
            for question in questions:
                wanted = set(words(question))
                found = ids_of(index.query(self.question(question, 50)))
                full = {key for key, text in entries.items() if wanted <= set(words(text))}
                some = {key for key, text in entries.items() if wanted & set(words(text))}

                assert sorted(found) == sorted(some), question
                if self.strict_first:
                    assert set(found[: len(full & some)]) == full & some, question
                assert found == ids_of(index.query(self.question(question, 50))), question

    @SLOW_ENGINE
    @given(st.lists(ANYTHING, min_size=10, max_size=20))
    def test_no_question_is_an_error(self, questions: list[str]) -> None:
        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
            closing(self.filled(Path(name), {"a": "zebra", "b": "quartz"})) as index,
        ):
            for question in questions:
                assert set(ids_of(index.query(self.question(question)))) <= {"a", "b"}

    def test_hostile_entries_are_kept(self, tmp_path: Path) -> None:
        texts = {f"{n:02}": text for n, text in enumerate(HOSTILE)} | {"empty": ""}
        with closing(self.filled(tmp_path, texts)) as index:
            assert sorted(index.ids()) == sorted(texts)
            assert index.count() == len(texts)
            assert ids_of(index.query(self.question("word77")))
