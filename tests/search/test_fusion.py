"""Reciprocal rank fusion: values, ties, weights, and independence of the order of stores."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localdb_core.domain.ids import ChunkId
from localdb_core.plugin import Scored
from localdb_core.search.fusion import fuse, pool


def hits(*scored: tuple[str, float]) -> list[Scored]:
    return [Scored(ChunkId(chunk), score) for chunk, score in scored]


def keys(pooled: object) -> list[str]:
    return ["/".join(entry.key) for entry in pooled]  # type: ignore[attr-defined]


@pytest.mark.req("L-SRCH-03")
def test_the_published_check_values_come_out() -> None:
    dense = pool({"s": hits(("a", 0.9), ("b", 0.8), ("c", 0.7))})
    sparse = pool({"s": hits(("a", 9.0), ("d", 8.0), ("b", 7.0), ("e", 6.0))})

    scores = {entry.key[1]: entry.score for entry in fuse({"dense": dense, "sparse": sparse})}

    assert scores["a"] == 0.03278688524590164
    assert scores["c"] == 1 / 63
    assert scores["b"] == 1 / 62 + 1 / 63


@pytest.mark.req("L-SRCH-03")
def test_first_in_one_leg_and_third_in_the_other_is_the_second_check_value() -> None:
    dense = pool({"s": hits(("x", 1.0))})
    sparse = pool({"s": hits(("p", 3.0), ("q", 2.0), ("x", 1.0))})

    assert fuse({"dense": dense, "sparse": sparse})[0].score == 0.032266458495966696


@pytest.mark.req("L-SRCH-02")
def test_one_leg_of_several_stores_is_one_ranking() -> None:
    pooled = pool({"t": hits(("a", 0.9), ("b", 0.5)), "s": hits(("a", 0.9), ("c", 0.7))})

    assert keys(pooled) == ["s/a", "t/a", "s/c", "t/b"]
    assert [entry.rank for entry in pooled] == [0, 1, 2, 3]


@pytest.mark.req("L-SRCH-02")
def test_hits_after_a_rise_of_the_score_stay_behind_those_before_it() -> None:
    strict_then_any = hits(("all-1", 2.0), ("all-2", 1.0), ("some-1", 5.0), ("some-2", 0.5))

    pooled = pool({"s": strict_then_any, "t": hits(("other", 0.7))})

    assert keys(pooled) == ["s/all-1", "s/all-2", "t/other", "s/some-1", "s/some-2"]
    assert pooled[3].score == 5.0


@pytest.mark.req("L-SRCH-05")
def test_equal_scores_are_ordered_by_store_then_chunk() -> None:
    dense = pool({"t": hits(("b", 1.0)), "s": hits(("z", 0.5))})
    sparse = pool({"s": hits(("z", 1.0)), "t": hits(("b", 0.5))})

    assert keys(fuse({"dense": dense, "sparse": sparse})) == ["s/z", "t/b"]


@pytest.mark.req("L-SRCH-04")
def test_the_same_chunk_in_two_stores_stays_two_entries() -> None:
    fused = fuse({"dense": pool({"s": hits(("a", 1.0)), "t": hits(("a", 1.0))})})

    assert keys(fused) == ["s/a", "t/a"]


def test_a_leg_without_weight_takes_no_part_for_that_store_only() -> None:
    dense = pool({"s": hits(("a", 1.0)), "t": hits(("b", 0.9))})
    sparse = pool({"s": hits(("c", 1.0))})

    fused = fuse({"dense": dense, "sparse": sparse}, {("dense", "s"): 0.0, ("sparse", "s"): 0.5})

    assert {"/".join(e.key): e.score for e in fused} == {"t/b": 1 / 62, "s/c": 0.5 / 61}


def test_nothing_in_gives_nothing_out() -> None:
    assert pool({}) == []
    assert pool({"s": []}) == []
    assert fuse({}) == []


CHUNKS = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from([0.1, 0.5, 0.5, 0.9])),
    unique_by=lambda hit: hit[0],
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from("stuv"), CHUNKS), st.randoms(use_true_random=False))
def test_the_order_in_which_stores_answer_decides_nothing(
    answers: dict[str, list[tuple[str, float]]], random: object
) -> None:
    ranked = {store: sorted(found, key=lambda h: (-h[1], h[0])) for store, found in answers.items()}
    shuffled = list(ranked.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    first = pool({store: hits(*found) for store, found in ranked.items()})
    second = pool({store: hits(*found) for store, found in shuffled})

    assert first == second
    assert keys(fuse({"dense": first, "sparse": second})) == keys(fuse({"dense": first}))


@settings(max_examples=60, deadline=None)
@given(CHUNKS, CHUNKS)
def test_pooling_keeps_the_order_of_a_store(
    strict: list[tuple[str, float]], some: list[tuple[str, float]]
) -> None:
    def ranked(found: list[tuple[str, float]]) -> list[tuple[str, float]]:
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))

    given_order = ranked(strict) + ranked([(f"{c}2", score + 1.0) for c, score in some])

    assert [entry.key[1] for entry in pool({"s": hits(*given_order)})] == [
        chunk for chunk, _ in given_order
    ]


RANKED = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from([0.0, 0.25, 0.5, 0.5, 1.0, 9.0])),
    unique_by=lambda hit: hit[0],
    max_size=8,
).map(lambda found: sorted(found, key=lambda hit: (-hit[1], hit[0])))
LEG = st.dictionaries(st.sampled_from(["s", "t", "u"]), RANKED)


@pytest.mark.req("L-SRCH-02", "L-SRCH-03", "L-SRCH-05")
@given(legs=st.fixed_dictionaries({"dense": LEG, "sparse": LEG}))
def test_fusion_gives_what_adding_up_by_hand_gives(
    legs: dict[str, dict[str, list[tuple[str, float]]]],
) -> None:
    sums: dict[tuple[str, str], Fraction] = {}
    for answers in legs.values():
        pooled = [
            (-score, store, chunk) for store, found in answers.items() for chunk, score in found
        ]
        for place, (_, store, chunk) in enumerate(sorted(pooled), start=1):
            sums[store, chunk] = sums.get((store, chunk), Fraction(0)) + Fraction(1, 60 + place)
    by_hand = sorted(sums, key=lambda key: (-sums[key], key))

    fused = fuse(
        {
            leg: pool({store: hits(*found) for store, found in answers.items()})
            for leg, answers in legs.items()
        }
    )

    assert [entry.key for entry in fused] == by_hand
    assert [entry.score for entry in fused] == pytest.approx([float(sums[key]) for key in by_hand])
