"""Reciprocal rank fusion, ties included."""

from __future__ import annotations

import pytest

from tests.oracles import fusion


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
