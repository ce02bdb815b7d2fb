"""MANY, values that may hold together: laws and a walk-through."""

from __future__ import annotations

from functools import partial

import pytest

from graphmem.model import Combine
from tests.oracles.projection import MOST, many
from tests.rules.strategies_histories import (
    BASE,
    END,
    TOLERANCE,
    make_evidence,
)

net = partial(many, combine=Combine.NET)


def test_a_weak_source_does_not_hide_a_strong_one_of_its_episode() -> None:
    weak = make_evidence("e1", confidence=0.9, episode="talk", weight=0.5)
    strong = make_evidence("e2", confidence=0.8, episode="talk")
    assert net([weak, strong], END).belief == pytest.approx(0.8)
    assert net([weak], END).belief == pytest.approx(1 - 0.1**0.5)


def test_where_much_speaks_on_both_sides_the_difference_vanishes_and_the_counts_tell() -> None:
    evidence = [make_evidence(f"p{i}") for i in range(100)]
    evidence += [make_evidence(f"n{i}", polarity=-1) for i in range(10)]
    found = net(evidence, END)
    assert found.belief == pytest.approx(0.2**10, abs=TOLERANCE)
    assert (found.supporting_episodes, found.refuting_episodes) == (100, 10)
    assert found.contested
    assert many(evidence, END, combine=Combine.LOG_ODDS).belief == MOST
    # An exponential of this many log units has no floating point number.
    doubts = [make_evidence(f"n{i}", confidence=1.0, polarity=-1) for i in range(100)]
    assert many(doubts, END, combine="log_odds").belief == 0.0
    assert net(doubts, END).belief == 0.0


def test_without_evidence_many_is_the_initial_confidence() -> None:
    found = net([make_evidence("e1", day=1)], BASE, initial=0.6)
    assert (found.belief, found.positive, found.supporting_episodes) == (0.6, 0.0, 0)
    assert not found.contested
    # Evidence that says nothing is evidence.
    assert net([make_evidence("e1", confidence=0.0)], BASE, initial=0.6).belief == 0.0


def test_another_way_to_combine_is_refused() -> None:
    with pytest.raises(ValueError, match="mean"):
        many([make_evidence("e1")], END, combine="mean")
