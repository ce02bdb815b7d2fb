"""MANY, values that may hold together: laws and a walk-through."""

from __future__ import annotations

import math
from datetime import timedelta
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


def test_three_equal_confidences_count_once_in_one_episode_and_thrice_in_three() -> None:
    together = net([make_evidence(f"e{i}", confidence=0.7, episode="talk") for i in range(3)], END)
    apart = net(
        [make_evidence(f"e{i}", confidence=0.7, episode=f"talk {i}") for i in range(3)], END
    )
    alone = net([make_evidence(f"e{i}", confidence=0.7) for i in range(3)], END)
    assert together.supporting_episodes == 1
    assert together.belief == pytest.approx(0.7)
    assert apart.supporting_episodes == 3
    assert apart.belief == pytest.approx(1 - 0.3**3)
    assert alone == apart


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


def test_log_odds_compares_the_sides() -> None:
    found = many(
        [make_evidence("e1", confidence=0.9), make_evidence("e2", confidence=0.5, polarity=-1)],
        END,
        combine="log_odds",
    )
    assert found.belief == pytest.approx(0.5 / (0.5 + 0.1))


def test_without_evidence_many_is_the_initial_confidence() -> None:
    found = net([make_evidence("e1", day=1)], BASE, initial=0.6)
    assert (found.belief, found.positive, found.supporting_episodes) == (0.6, 0.0, 0)
    assert not found.contested
    # Evidence that says nothing is evidence.
    assert net([make_evidence("e1", confidence=0.0)], BASE, initial=0.6).belief == 0.0


def test_evidence_fades() -> None:
    faded = net([make_evidence("e1", confidence=0.8)], BASE + timedelta(days=10), decay_per_day=0.1)
    assert faded.belief == pytest.approx(0.8 / math.e)
    assert net([make_evidence("e1")], END, decay_per_day=1_000).belief == 0.0


def test_another_way_to_combine_is_refused() -> None:
    with pytest.raises(ValueError, match="mean"):
        many([make_evidence("e1")], END, combine="mean")
