"""Reciprocal rank fusion, ties included."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import fusion

scores = st.dictionaries(
    st.sampled_from("abcdef"), st.sampled_from([0.0, 0.25, 0.5, 1.0, -1.0]), max_size=6
)
lists = st.lists(st.tuples(st.sampled_from([0.4, 1.0, 0.0]), scores), max_size=4)


@given(scores)
def test_equal_scores_share_the_rank_after_all_that_are_better(found: dict[str, float]) -> None:
    ranks = fusion.ranks(found)
    assert ranks.keys() == found.keys()
    for one in found:
        better = [score for score in found.values() if score > found[one]]
        assert ranks[one] == len(better) + 1


@given(lists, st.integers(1, 100))
def test_a_sum_is_what_adding_by_hand_gives(
    given_: list[tuple[float, dict[str, float]]], k: int
) -> None:
    fused = dict(fusion.reciprocal_rank(given_, k))
    items = {item for _, found in given_ for item in found}
    assert fused.keys() == items
    for item in items:
        exact = sum(
            Fraction(weight) / (k + len([s for s in found.values() if s > found[item]]) + 1)
            for weight, found in given_
            if item in found
        )
        assert fused[item] == pytest.approx(float(exact), abs=1e-12)


@given(lists, st.integers(1, 100))
def test_the_best_comes_first_and_equals_by_their_ids(
    given_: list[tuple[float, dict[str, float]]], k: int
) -> None:
    fused = fusion.reciprocal_rank(given_, k)
    assert fused == sorted(fused, key=lambda pair: (-pair[1], pair[0]))


def test_by_hand() -> None:
    fused = fusion.reciprocal_rank(
        [(0.4, {"a": 0.9, "b": 0.9, "c": 0.1}), (1.0, {"c": 7.0, "b": 3.0})], 60
    )
    assert [item for item, _ in fused] == ["c", "b", "a"]
    assert dict(fused) == pytest.approx(
        {"a": 0.4 / 61, "b": 0.4 / 61 + 1 / 62, "c": 0.4 / 63 + 1 / 61}
    )


def test_nothing_is_fused_to_nothing() -> None:
    assert fusion.reciprocal_rank([], 60) == []
    assert fusion.reciprocal_rank([(1.0, {})], 60) == []
