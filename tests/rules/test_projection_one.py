"""ONE, values that compete for a slot: fold and closed form, laws and a walk-through."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given

from graphmem.model import Policy
from graphmem.rules.formulas import Evidence
from tests.oracles.projection import POLICY, State, one, one_closed, ranked
from tests.rules.strategies_histories import (
    BASE,
    END,
    TOLERANCE,
    Overwriting,
    histories,
    instants,
    long_history,
    make_evidence,
    policies,
    unlike,
)


def scores(*evidence: Evidence, kappa: float = 2.0, tau_days: float = math.inf) -> dict[str, float]:
    """Return the scores after all of the evidence, by claim, by both ways."""
    fold = one(evidence, END, kappa=kappa, tau_days=tau_days)
    closed = one_closed(evidence, END, kappa=kappa, tau_days=tau_days)
    assert unlike(closed, fold, END, Overwriting(kappa, tau_days, 0.0, POLICY.margin)) == []
    return {c.claim: c.score for c in fold}


@given(histories(), policies, instants)
def test_the_closed_form_is_the_fold(
    evidence: list[Evidence], policy: Policy, valid: datetime
) -> None:
    terms = Overwriting.of(policy)
    fold = one(evidence, valid, **terms._asdict())
    closed = one_closed(evidence, valid, **terms._asdict())
    assert unlike(closed, fold, valid, terms) == []


def test_the_closed_form_is_the_fold_of_long_histories() -> None:
    for claims, tau_days in ((4, math.inf), (50, 30.0)):
        evidence = long_history(2_000, claims=claims)
        terms = Overwriting(2.0, tau_days, 0.01, 0.05)
        fold = one(evidence, END, **terms._asdict())
        assert unlike(one_closed(evidence, END, **terms._asdict()), fold, END, terms) == []


def test_atlas_takes_over_from_borealis() -> None:
    evidence = [
        make_evidence("e1", "borealis", 0.8, day=0, episode="monday"),
        make_evidence("e2", "atlas", 0.9, day=4, episode="friday"),
    ]
    for project in (one, one_closed):
        [before] = project(evidence, BASE + timedelta(days=2))
        assert (before.claim, before.score, before.ambiguous) == ("borealis", 0.8, False)
        leader, other = project(evidence, END, kappa=2.0)
        assert (leader.claim, leader.score, leader.last_id) == ("atlas", 0.9, "e2")
        assert other.claim == "borealis"
        assert other.score == pytest.approx(0.8 * math.exp(-2 * 0.9), abs=TOLERANCE)
        assert not leader.ambiguous
        assert not other.ambiguous


def test_late_evidence_takes_its_place_by_its_own_time() -> None:
    late = make_evidence("late", "borealis", 1.0, day=-300)
    found = one([make_evidence("e1", "atlas", 0.6), late], END, kappa=2.0)
    assert [c.claim for c in found] == ["atlas", "borealis"]
    assert found[0].score == 0.6


def test_events_of_one_instant_do_not_suppress_each_other_and_negatives_come_last() -> None:
    a, b = make_evidence("e1", "atlas", 0.8), make_evidence("e2", "borealis", 0.6)
    assert scores(a, b) == pytest.approx({"atlas": 0.8, "borealis": 0.6})
    against = make_evidence("e0", "atlas", 0.5, polarity=-1)
    assert scores(a, b, against) == pytest.approx({"atlas": 0.4, "borealis": 0.6})


def test_of_two_affirmations_at_one_instant_the_larger_id_counts_and_both_suppress() -> None:
    old = make_evidence("e0", "borealis", 0.9, day=-1)
    found = scores(old, make_evidence("e1", "atlas", 0.8), make_evidence("e2", "atlas", 0.3))
    assert found == pytest.approx({"atlas": 0.3, "borealis": 0.9 * math.exp(-2 * (0.8 + 0.3))})


def test_a_negative_before_the_last_affirmation_is_forgotten() -> None:
    first, against = (
        make_evidence("e1", day=0),
        make_evidence("e2", day=1, polarity=-1, confidence=0.9),
    )
    assert scores(first, against) == pytest.approx({"atlas": 0.8 * 0.1})
    assert scores(first, against, make_evidence("e3", day=2, confidence=0.7)) == {"atlas": 0.7}


def test_a_finite_time_constant_spares_an_old_incumbent() -> None:
    old, new = (
        make_evidence("e1", "borealis", 0.9, day=0),
        make_evidence("e2", "atlas", 0.8, day=365),
    )
    assert scores(old, new)["borealis"] == pytest.approx(0.9 * math.exp(-1.6))
    assert scores(old, new, tau_days=3)["borealis"] == pytest.approx(0.9)


def test_a_score_fades_from_its_last_affirmation_and_the_ranking_does_not() -> None:
    old, new = (
        make_evidence("e1", "borealis", 0.9, day=0),
        make_evidence("e2", "atlas", 0.6, day=10),
    )
    valid = BASE + timedelta(days=20)
    first, second = one([old, new], valid, kappa=0.1, decay_per_day=0.1, margin=0.01)
    assert (first.claim, second.claim) == ("borealis", "atlas")
    assert first.score == pytest.approx(0.9 * math.exp(-0.06))
    assert first.belief == pytest.approx(first.score * math.exp(-2))
    assert second.belief == pytest.approx(0.6 / math.e)


def test_equal_scores_go_to_the_later_then_to_the_larger_id_then_to_the_larger_claim() -> None:
    later = BASE + timedelta(microseconds=1)
    states = [
        State("a", 0.5, BASE, "e9"),
        State("b", 0.5, later, "e2"),
        State("c", 0.5, later, "e1"),
        State("d", 0.6, BASE, "e0"),
        State("e", 0.0, BASE, "e3"),
        State("f", 0.0, None, None),
        State("g", 0.0, None, None),
        State("h", 0.0, BASE, "e3"),
    ]
    for order in (states, states[::-1]):
        assert "".join(c.claim for c in ranked(order, END)) == "dbcahegf"


def test_the_two_best_are_ambiguous_when_they_are_near() -> None:
    a, b = State("a", 0.5, BASE, "e1"), State("b", 0.25, BASE, "e2")
    c = State("c", 0.25, BASE, "e0")
    never = State("n", 0.0, None, None)

    def flags(*states: State, margin: float) -> list[bool]:
        return [x.ambiguous for x in ranked(states, END, margin=margin)]

    assert flags(a, b, c, margin=0.26) == [True, True, False]
    assert flags(a, b, c, margin=0.25) == [False, False, False]
    assert flags(a, never, margin=1.0) == [False, False]
    assert flags(a, margin=1.0) == [False]
    assert flags(margin=1.0) == []


def test_the_comparison_of_rankings_can_fail() -> None:
    terms = Overwriting(2.0, math.inf, 0.0, 0.05)
    found = one(
        [make_evidence("e1", "atlas"), make_evidence("e2", "borealis", day=1)], END, kappa=2.0
    )
    assert unlike(found, found, END, terms) == []
    assert unlike(found[:1], found, END, terms)
    assert unlike(found[::-1], found, END, terms)
    first, second = found
    for wrong in (
        replace(first, score=0.5),
        replace(first, belief=0.5),
        replace(first, last_id="e3"),
        replace(first, ambiguous=True),
    ):
        assert unlike([wrong, second], found, END, terms)
