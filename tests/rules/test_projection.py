"""MANY, values that may hold together: laws and a walk-through."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphmem.model import Combine, Policy
from graphmem.rules.formulas import Evidence
from tests.oracles.projection import MOST, many
from tests.rules.strategies_histories import (
    BASE,
    CLAIMS,
    END,
    TOLERANCE,
    claim_histories,
    confidences,
    deliveries,
    instants,
    make_evidence,
    policies,
)

ROUNDING = 1e-12


net = partial(many, combine=Combine.NET)


def plainly(evidence: list[Evidence], policy: Policy, valid: datetime, polarity: int) -> float:
    """Return P of one side as the source has it: 1 - the product of (1 - p)^w over episodes.

    Of an episode the best of each weight is kept, then the weight that says most.
    """
    doubts: dict[object, dict[float, float]] = {}
    for e in evidence:
        if e.polarity == polarity and e.at <= valid:
            age = (valid - e.at).total_seconds() / 86_400
            p = min(e.confidence * math.exp(-policy.decay_per_day * age), MOST)
            best = doubts.setdefault(e.episode or e, {})
            best[e.weight] = max(best.get(e.weight, 0.0), p)
    kept = [min(math.pow(1 - p, w) for w, p in best.items()) for best in doubts.values()]
    return 1 - math.prod(kept)


@given(claim_histories, policies, instants)
def test_many_is_the_noisy_or_over_episodes(
    evidence: list[Evidence], policy: Policy, valid: datetime
) -> None:
    found = net(evidence, valid, decay_per_day=policy.decay_per_day)
    assert found.positive == pytest.approx(plainly(evidence, policy, valid, 1), abs=TOLERANCE)
    assert found.negative == pytest.approx(plainly(evidence, policy, valid, -1), abs=TOLERANCE)
    for side, logarithm in (
        (found.positive, found.log_positive),
        (found.negative, found.log_negative),
    ):
        assert math.exp(logarithm) == pytest.approx(1 - side, abs=ROUNDING)
    if any(e.at <= valid for e in evidence):
        assert found.belief == pytest.approx(max(0, found.positive - found.negative), abs=2e-9)


@given(claim_histories, policies, instants, st.data())
def test_order_and_redelivery_do_not_change_many(
    evidence: list[Evidence], policy: Policy, valid: datetime, data: st.DataObject
) -> None:
    other = data.draw(deliveries(evidence))
    how = {"decay_per_day": policy.decay_per_day}
    assert many(other, valid, combine=policy.combine, **how) == many(
        evidence, valid, combine=policy.combine, **how
    )


@given(claim_histories, policies, instants)
def test_many_does_not_see_the_future(
    evidence: list[Evidence], policy: Policy, valid: datetime
) -> None:
    past = [e for e in evidence if e.at <= valid]
    assert many(evidence, valid, combine=policy.combine) == many(
        past, valid, combine=policy.combine
    )


@given(claim_histories, policies, instants)
def test_many_stays_within_bounds(
    evidence: list[Evidence], policy: Policy, valid: datetime
) -> None:
    found = many(
        evidence, valid, decay_per_day=policy.decay_per_day, combine=policy.combine, initial=0.3
    )
    assert 0 <= found.belief <= MOST
    assert 0 <= found.positive <= 1
    assert 0 <= found.negative <= 1
    assert found.log_positive <= 0
    assert found.log_negative <= 0
    assert found.contested == (found.positive > 0.5 < found.negative)


@given(claim_histories, policies, instants, confidences)
def test_more_evidence_never_moves_many_the_other_way(
    evidence: list[Evidence], policy: Policy, at: datetime, confidence: float
) -> None:
    assume(evidence)
    how = {"decay_per_day": policy.decay_per_day}
    before = many(evidence, END, combine=policy.combine, **how)
    for polarity in (1, -1):
        more = Evidence("more", CLAIMS[0], polarity, confidence, 0.8, "monday", at)
        after = many([*evidence, more], END, combine=policy.combine, **how)
        assert (after.belief - before.belief) * polarity >= -ROUNDING


@given(claim_histories, policies, st.data())
def test_an_echo_in_an_episode_adds_nothing(
    evidence: list[Evidence], policy: Policy, data: st.DataObject
) -> None:
    heard = [e for e in evidence if e.episode is not None]
    assume(heard)
    e = data.draw(st.sampled_from(heard))
    share = data.draw(st.floats(0, 1))
    echo = replace(e, id="echo", confidence=e.confidence * share, weight=0.5 * e.weight)
    assert many([*evidence, echo], END, combine=policy.combine) == many(
        evidence, END, combine=policy.combine
    )


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
