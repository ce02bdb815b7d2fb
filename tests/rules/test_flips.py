"""Flip sets: they flip, nothing smaller does, and none is given where nothing flips."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import combinations

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from graphmem.model import VerdictStatus
from graphmem.model.policies import SprtParameters
from graphmem.rules import formulas
from graphmem.rules.formulas import Evidence
from tests.oracles import sequential as sequential_oracle
from tests.oracles.flips import flip_set
from tests.rules.strategies_histories import (
    BASE,
    strengths,
)

EASY = SprtParameters(alpha=0.4, beta=0.3)
"""Bounds so near that one event decides and the status changes often."""
bounds = st.sampled_from([formulas.STANDARD_TEST, SprtParameters(alpha=0.2, beta=0.2), EASY])


def make_evidence(name: str, strength: float, hour: int, polarity: int) -> Evidence:
    """Return one testimony, `hour` hours after the first."""
    at = BASE + timedelta(hours=hour)
    return Evidence(name, "b", polarity, 0.0, 1.0, None, at, strength)


def series(*tellings: float) -> list[Evidence]:
    """Return testimonies an hour apart; a negative strength refutes."""
    return [make_evidence(f"e{n}", abs(s), n, 1 if s > 0 else -1) for n, s in enumerate(tellings)]


@st.composite
def trials(draw: st.DrawFn) -> list[Evidence]:
    """Draw a few testimonies at a few instants, most of them to one side."""
    side = draw(st.sampled_from([1, -1]))
    drawn = draw(st.lists(st.tuples(strengths, st.integers(0, 6), st.integers(0, 2)), max_size=9))
    return [
        make_evidence(f"e{n}", strength, hour, side if turn else -side)
        for n, (strength, hour, turn) in enumerate(drawn)
    ]


def status(evidence: Sequence[Evidence], test: SprtParameters) -> VerdictStatus:
    return sequential_oracle.test(evidence, 0.5, test).status


def flips(evidence: Sequence[Evidence], without: Sequence[str], test: SprtParameters) -> bool:
    left = [e for e in evidence if e.id not in without]
    return status(left, test) is not status(evidence, test)


def smallest(evidence: Sequence[Evidence], test: SprtParameters) -> int | None:
    """Return the size of a smallest flip set by trying all subsets."""
    ids = [e.id for e in evidence]
    sizes = (
        size
        for size in range(1, len(ids) + 1)
        for without in combinations(ids, size)
        if flips(evidence, without, test)
    )
    return next(sizes, None)


@given(trials(), bounds)
@example(series(0.9, 0.9, -0.9, -0.9, -0.9, 0.6, 0.9, 0.9, 0.9), formulas.STANDARD_TEST)
@example(series(0.9, 0.9, 0.9, -0.9, -0.9, -0.9, -0.8, 0.55, 0.9), formulas.STANDARD_TEST)
# Equal evidence for and against at one time: none of it needs to be removed.
@example(
    [make_evidence("e0", 0.9, 0, 1)]
    + [make_evidence(f"e{n}", 0.9, 1, 1 if n < 3 else -1) for n in range(1, 5)]
    + [make_evidence("e5", 0.7, 2, 1)],
    formulas.STANDARD_TEST,
)
# Without the 0.9, or what refutes, a boundary is met exactly: the odds are
# 1.5 * 4 * 2 * 1.5 = 18, or 1.5 * 1.5 * 4 * 19/18 = 9.5.
@example(series(0.6, 0.8, 0.9, 2 / 3, 0.6), formulas.STANDARD_TEST)
@example(series(-0.6, -0.6, -0.8, -0.9, -19 / 37), formulas.STANDARD_TEST)
@example(series(0.6, 2 / 3, 0.6, -0.6, 0.8), formulas.STANDARD_TEST)
def test_no_smaller_set_flips(evidence: list[Evidence], test: SprtParameters) -> None:
    found = flip_set(evidence, test)
    size = smallest(evidence, test)
    event(f"{status(evidence, test)}, {size} to remove")
    assert (None if found is None else len(found)) == size
    assert found is None or flips(evidence, found, test)


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        (series(0.9, 0.9), ("e0",)),
        (series(-0.9, -0.9, -0.9), ("e0", "e1")),
        # Without the late support the belief stays demoted.
        (series(*[0.9] * 4, *[-0.9] * 6, 0.9, 0.9, 0.9, 0.9), ("e0",)),
        (series(0.9, -0.9, 0.6), None),
        (series(0.9, 0.6, -0.9, 0.85), ("e2",)),
        (series(-0.9, 0.8, -0.6), ("e1",)),
        (series(0.5, 0.5), None),
        ([], None),
    ],
)
def test_flip_sets_by_hand(evidence: list[Evidence], found: tuple[str, ...] | None) -> None:
    assert flip_set(evidence) == found


def test_support_that_counts_against_is_what_is_removed() -> None:
    assert flip_set(series(0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1)) == ("e3",)
