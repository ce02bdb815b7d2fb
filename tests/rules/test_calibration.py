"""The arithmetic of calibrated cosines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInputError
from graphmem.rules.scoring import calibrate, from_neo4j, mean_cosine, raw_cosine

cosines = st.floats(-1.0, 1.0)
means = st.floats(-0.9, 0.95)


@given(cosine=cosines, mu=means)
def test_raw_undoes_calibrated(cosine: float, mu: float) -> None:
    assert raw_cosine(calibrate(cosine, mu), mu) == pytest.approx(cosine, abs=1e-12)


@given(mu=means)
def test_unrelated_texts_are_at_zero_and_equal_ones_at_one(mu: float) -> None:
    assert calibrate(mu, mu) == 0.0
    assert calibrate(1.0, mu) == pytest.approx(1.0)


@given(one=cosines, other=cosines, mu=means)
def test_calibrating_keeps_the_order(one: float, other: float, mu: float) -> None:
    low, high = sorted((one, other))
    assert calibrate(low, mu) <= calibrate(high, mu)


@given(cosine=cosines)
def test_neo4js_score_is_converted_back(cosine: float) -> None:
    assert from_neo4j((1.0 + cosine) / 2.0) == pytest.approx(cosine, abs=1e-12)


def unit_rows(seed: int, n: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    rows = np.random.default_rng(seed).normal(0.3, 1.0, (n, 5))
    unit: np.ndarray[tuple[int, int], np.dtype[np.float32]] = (
        rows / np.linalg.norm(rows, axis=1, keepdims=True)
    ).astype(np.float32)
    return unit


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 12))
def test_the_mean_within_one_list_leaves_out_each_with_itself(seed: int, n: int) -> None:
    rows = unit_rows(seed, n)
    pairs = [float(rows[i] @ rows[j]) for i in range(n) for j in range(n) if i != j]
    assert mean_cosine(rows) == pytest.approx(np.mean(pairs), abs=1e-6)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 8), m=st.integers(1, 8))
def test_the_mean_between_two_lists_is_over_all_pairs(seed: int, n: int, m: int) -> None:
    rows, others = unit_rows(seed, n), unit_rows(seed + 1, m)
    pairs = [float(row @ other) for row in rows for other in others]
    assert mean_cosine(rows, others) == pytest.approx(np.mean(pairs), abs=1e-6)


def test_without_a_pair_there_is_no_mean() -> None:
    with pytest.raises(InvalidInputError, match="at least one pair"):
        mean_cosine(unit_rows(0, 1))
    with pytest.raises(InvalidInputError, match="at least one pair"):
        mean_cosine(unit_rows(0, 1), unit_rows(0, 0))
