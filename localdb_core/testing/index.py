"""What every index must do, as tests to inherit.

class TestMyIndex(DenseIndexContract):
    def build(self, context: IndexContext) -> Index:
        return build(context)

A dense index inherits :class:`DenseIndexContract`, a sparse one
:class:`~localdb_core.testing.sparse.SparseIndexContract`; both compare it with
``MemoryIndex``.
"""

# ruff: noqa: D102 (the names of tests are sentences)

from __future__ import annotations

import hashlib
import shutil
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localdb_core.domain.errors import LocaldbError, StaleIndex, StorageUnavailable
from localdb_core.domain.ids import ChunkId
from localdb_core.plugin import Index, IndexContext, IndexEntry, LegQuery, Scored
from localdb_core.testing.hostile import VOCABULARY
from localdb_core.testing.memory import FakeEmbedder, MemoryIndex

SLOW_ENGINE: Final = settings(
    max_examples=8,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
)
TEXTS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4).map(" ".join)
# A step is a batch to upsert (id and text) or a list of ids to delete.
_BATCH = st.lists(st.tuples(st.integers(0, 15), TEXTS), min_size=1, max_size=8)
_STEPS = st.lists(st.one_of(_BATCH, st.lists(st.integers(0, 15), max_size=5)), max_size=5)


class IndexContract:
    """Tests of either leg; inherit :class:`DenseIndexContract` or :class:`SparseIndexContract`."""

    dense = True

    def build(self, context: IndexContext) -> Index:
        """The index under test: what its ``IndexSpec.target`` returns."""
        # not abstract: localdb_core.testing.component says why
        raise NotImplementedError("write build(): return your index, built with this context")

    def context(self, folder: Path) -> IndexContext:
        """What the index is built with; override to add a config."""
        return IndexContext(
            plugin="contract",
            cache_dir=folder.with_name(f"{folder.name}-cache"),
            folder=folder,
            store_id=hashlib.blake2b(str(folder).encode(), digest_size=13).hexdigest(),
            card=FakeEmbedder().card if self.dense else None,
        )

    def entries(self, texts: dict[str, str]) -> list[IndexEntry]:
        """Entries with these ids and texts."""
        if not self.dense:
            return [IndexEntry(ChunkId(key), text=text) for key, text in texts.items()]
        vectors = FakeEmbedder().embed(list(texts.values()), "passage")
        return [
            IndexEntry(ChunkId(key), vector=row) for key, row in zip(texts, vectors, strict=True)
        ]

    def question(self, text: str, limit: int = 10) -> LegQuery:
        """A question with this text."""
        if not self.dense:
            return LegQuery(limit, text=text)
        return LegQuery(limit, vector=FakeEmbedder().embed([text], "query")[0])

    def filled(self, folder: Path, texts: dict[str, str]) -> Index:
        """An open index that holds these texts, flushed."""
        index = self.build(self.context(folder))
        index.upsert(self.entries(texts))
        index.flush()
        return index

    def test_a_new_index_is_empty(self, tmp_path: Path) -> None:
        with closing(self.build(self.context(tmp_path / "new"))) as index:
            assert index.count() == 0
            assert list(index.ids()) == []
            assert index.query(self.question("zebra")) == []
            index.flush()

    def test_upserting_twice_is_upserting_once(self, tmp_path: Path) -> None:
        texts = {"a": "zebra", "b": "quartz"}
        with closing(self.filled(tmp_path, texts)) as index:
            before = index.query(self.question("zebra"))

            index.upsert(self.entries(texts))
            index.upsert(self.entries(texts))
            index.flush()

            assert index.count() == 2
            assert sorted(index.ids()) == ["a", "b"]
            assert ids_of(index.query(self.question("zebra"))) == ids_of(before)

    def test_the_last_of_equal_ids_in_a_batch_wins(self, tmp_path: Path) -> None:
        with closing(self.build(self.context(tmp_path))) as index:
            index.upsert(self.entries({"a": "quartz"}) + self.entries({"a": "zebra"}))
            index.flush()

            assert index.count() == 1
            (hit,) = index.query(self.question("zebra"))
            assert hit.score == pytest.approx(1.0) or not self.dense

    def test_an_upsert_replaces_what_was_there(self, tmp_path: Path) -> None:
        with closing(self.filled(tmp_path, {"a": "zebra", "b": "quartz"})) as index:
            index.upsert(self.entries({"a": "quartz", "b": "zebra"}))
            index.flush()

            assert ids_of(index.query(self.question("zebra")))[0] == "b"
            assert ids_of(index.query(self.question("quartz")))[0] == "a"

    def test_unknown_ids_may_be_deleted(self, tmp_path: Path) -> None:
        with closing(self.filled(tmp_path, {"a": "zebra", "b": "quartz"})) as index:
            index.delete([ChunkId("b"), ChunkId("never seen")])
            index.delete([])
            index.flush()

            assert list(index.ids()) == ["a"]
            assert ids_of(index.query(self.question("quartz zebra"))) == ["a"]

    def test_an_emptied_index_answers_with_nothing(self, tmp_path: Path) -> None:
        with closing(self.filled(tmp_path, {"a": "zebra", "b": "quartz"})) as index:
            index.delete({ChunkId("a"), ChunkId("b")})
            index.flush()

            assert index.count() == 0
            assert index.query(self.question("zebra")) == []

            index.upsert(self.entries({"c": "zebra"}))
            index.flush()
            assert ids_of(index.query(self.question("zebra"))) == ["c"]

    @pytest.mark.parametrize(("limit", "expected"), [(0, 0), (1, 1), (3, 3), (5, 5), (500, 5)])
    def test_the_limit_is_kept(self, tmp_path: Path, limit: int, expected: int) -> None:
        with closing(self.filled(tmp_path, {str(n): "zebra" for n in range(5)})) as index:
            assert len(index.query(self.question("zebra", limit))) == expected

    def test_ties_are_broken_by_chunk_id(self, tmp_path: Path) -> None:
        texts = dict.fromkeys(("d", "b", "e", "a", "c"), "zebra") | {"0": "quartz"}
        with closing(self.filled(tmp_path, texts)) as index:
            assert ids_of(index.query(self.question("zebra")))[:5] == ["a", "b", "c", "d", "e"]
            assert ids_of(index.query(self.question("zebra", 2))) == ["a", "b"]

    def test_two_stores_do_not_touch_each_other(self, tmp_path: Path) -> None:
        with (
            closing(self.filled(tmp_path / "one", {"a": "zebra"})) as one,
            closing(self.filled(tmp_path / "two", {"a": "quartz", "b": "zebra"})) as two,
        ):
            one.delete([ChunkId("a")])
            one.flush()

            assert one.count() == 0
            assert sorted(two.ids()) == ["a", "b"]
            assert ids_of(two.query(self.question("zebra")))[0] == "b"

    def test_reopening_keeps_what_was_flushed(self, tmp_path: Path) -> None:
        self.filled(tmp_path, {"a": "zebra", "b": "quartz"}).close()

        with closing(self.build(self.context(tmp_path))) as index:
            assert sorted(index.ids()) == ["a", "b"]
            assert ids_of(index.query(self.question("quartz")))[0] == "b"

    def test_a_reader_sees_what_was_flushed_before_it_opened(self, tmp_path: Path) -> None:
        context = self.context(tmp_path)
        reading = replace(context, readonly=True)
        with closing(self.filled(tmp_path, {"a": "zebra"})) as writer:
            with closing(self.build(reading)) as reader:
                assert ids_of(reader.query(self.question("zebra"))) == ["a"]

            writer.upsert(self.entries({"b": "quartz"}))
            writer.flush()

            with closing(self.build(reading)) as reader:
                assert ids_of(reader.query(self.question("quartz")))[0] == "b"
                assert reader.count() == 2

    def test_a_reader_leaves_every_file_as_it_was(self, tmp_path: Path) -> None:
        self.filled(tmp_path, {"a": "zebra", "b": "quartz"}).close()
        context = self.context(tmp_path)
        before = _contents(context.folder)

        with closing(self.build(replace(context, readonly=True))) as reader:
            reader.count()
            list(reader.ids())
            reader.query(self.question("zebra"))
            during = _contents(context.folder)

        assert during == before
        assert _contents(context.folder) == before

    def test_a_reader_of_a_missing_index_says_so_and_makes_nothing(self, tmp_path: Path) -> None:
        context = replace(self.context(tmp_path / "missing"), readonly=True)

        with pytest.raises(StorageUnavailable):
            self.build(context)

        assert not (tmp_path / "missing").exists()

    def test_a_closed_index_can_be_deleted_and_made_again(self, tmp_path: Path) -> None:
        folder = tmp_path / "store"
        self.filled(folder, {"a": "zebra"}).close()
        shutil.rmtree(folder, ignore_errors=not folder.exists())

        with closing(self.filled(folder, {"b": "zebra"})) as index:
            assert "b" in ids_of(index.query(self.question("zebra")))

    def test_two_threads_may_ask_at_once(self, tmp_path: Path) -> None:
        texts = {f"{n:03}": " ".join(VOCABULARY[n % 6 :]) for n in range(60)}
        with closing(self.filled(tmp_path, texts)) as index:
            expected = {word: ids_of(index.query(self.question(word))) for word in VOCABULARY}
            with ThreadPoolExecutor(2) as pool:
                asked = list(VOCABULARY) * 5
                answers = list(pool.map(lambda word: index.query(self.question(word)), asked))

            assert [ids_of(answer) for answer in answers] == [expected[word] for word in asked]

    def test_reading_goes_on_during_a_write(self, tmp_path: Path) -> None:
        with closing(self.filled(tmp_path, {"a": "zebra"})) as index:
            done = threading.Event()

            def read() -> list[list[str]]:
                answers = []
                while not done.is_set():
                    answers.append(ids_of(index.query(self.question("zebra", 3))))
                return answers

            with ThreadPoolExecutor(1) as pool:
                reading = pool.submit(read)
                try:
                    for batch in range(5):
                        new = {f"{batch}-{n}": f"quartz violin{n}" for n in range(40)}
                        index.upsert(self.entries(new))
                        index.flush()
                finally:
                    done.set()

                assert all(answer[0] == "a" for answer in reading.result())
            assert index.count() == 201

    @SLOW_ENGINE
    @given(steps=_STEPS)
    def test_it_agrees_with_the_index_in_memory(
        self, steps: list[list[int] | list[tuple[int, str]]]
    ) -> None:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            context = self.context(Path(name) / "tested")
            reference = MemoryIndex(replace(context, folder=Path(name) / "reference"))
            with closing(self.build(context)) as index:
                for step in steps:
                    self._apply(step, index, reference)

                assert sorted(index.ids()) == sorted(reference.ids())
                assert index.count() == reference.count()
                for text in ("zebra", "quartz violin", "tundra zebra lantern"):
                    query = self.question(text, 100)
                    self.compare(index.query(query), reference.query(query))

    def compare(self, found: list[Scored], expected: list[Scored]) -> None:
        """Assert that an answer agrees with the reference's."""
        # not abstract: localdb_core.testing.component says why
        raise NotImplementedError("inherit DenseIndexContract or SparseIndexContract, not this")

    def _apply(self, step: Sequence[int | tuple[int, str]], *indexes: Index) -> None:
        texts = {f"{item[0]:02}": item[1] for item in step if isinstance(item, tuple)}
        gone = [ChunkId(f"{item:02}") for item in step if isinstance(item, int)]
        for index in indexes:
            index.upsert(self.entries(texts) if texts else [])
            index.delete(gone)
            index.flush()


class DenseIndexContract(IndexContract):
    """Tests of a dense index of float32 vectors."""

    dense = True

    def compare(self, found: list[Scored], expected: list[Scored]) -> None:
        """The same ids with the same scores; near ties may change places."""
        assert sorted(ids_of(found)) == sorted(ids_of(expected))
        scores = {hit.chunk_id: hit.score for hit in expected}
        for hit in found:
            assert hit.score == pytest.approx(scores[hit.chunk_id], abs=1e-4)
        assert found == sorted(found, key=lambda hit: (-hit.score, hit.chunk_id))

    @pytest.mark.parametrize("text", ["zebra", ""])
    def test_scores_are_one_for_the_same_and_zero_for_the_opposite(
        self, tmp_path: Path, text: str
    ) -> None:
        vector = FakeEmbedder().embed([text], "passage")[0]
        opposite = IndexEntry(ChunkId("opposite"), vector=-vector)
        same = IndexEntry(ChunkId("same"), vector=vector * 3)
        with closing(self.build(self.context(tmp_path))) as index:
            index.upsert([opposite, same])
            index.flush()

            hits = index.query(LegQuery(5, vector=vector))

        assert ids_of(hits) == ["same", "opposite"]
        assert [hit.score for hit in hits] == pytest.approx([1.0, 0.0], abs=1e-5)
        assert all(0 <= hit.score <= 1 for hit in hits)

    @pytest.mark.parametrize("flaw", ["zero", "nan", "infinite", "short", "long", "flat"])
    def test_an_unusable_vector_is_refused_and_nothing_is_stored(
        self, tmp_path: Path, flaw: str
    ) -> None:
        good = FakeEmbedder().embed(["zebra"], "passage")[0]
        bad = {
            "zero": good * 0,
            "nan": np.where(good == good[0], np.float32("nan"), good),
            "infinite": np.where(good == good[0], np.float32("inf"), good),
            "short": good[:-1],
            "long": np.append(good, good[:1]),
            "flat": good[0],
        }[flaw]
        with closing(self.build(self.context(tmp_path))) as index:
            entries = [IndexEntry(ChunkId("a"), vector=good), IndexEntry(ChunkId("b"), vector=bad)]

            with pytest.raises(LocaldbError):
                index.upsert(entries)

            index.flush()
            assert index.count() == 0
            index.upsert(entries[:1])
            index.flush()
            with pytest.raises(LocaldbError):
                index.query(LegQuery(5, vector=bad))

    def test_vectors_of_another_embedder_are_refused_by_name(self, tmp_path: Path) -> None:
        self.filled(tmp_path, {"a": "zebra"}).close()
        other = replace(self.context(tmp_path), card=FakeEmbedder(fingerprint="other:1").card)

        with pytest.raises(StaleIndex) as caught:
            self.build(other)

        assert "other:1" in str(caught.value)
        assert FakeEmbedder().card.fingerprint in str(caught.value)


def ids_of(hits: Sequence[Scored]) -> list[str]:
    """The chunk ids of an answer, in its order."""
    return [hit.chunk_id for hit in hits]


def _contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
