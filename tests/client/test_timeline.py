"""How beliefs moved, as a caller of either client sees it."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from graphmem import Handle
from graphmem.errors import NotFoundError
from graphmem.model import AsOf, VerdictStatus

START = datetime(2025, 5, 5, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def test_a_slot_shows_each_leading_value_over_time(memory: Handle) -> None:
    memory.predicates.declare("lives_in", cardinality="ONE", kappa=1.0, at=START)
    for n, city in enumerate(("Porto", "Madrid", "Lisbon")):
        memory.observe("Alice", "lives_in", city, confidence=0.8, at=START + n * DAY)
    found = memory.beliefs.timeline("alice", "lives_in", as_of=AsOf(valid=START + 9 * DAY))
    assert (found.subject, found.predicate) == ("Alice", "lives_in")
    assert found.instants == (START, START + DAY, START + 2 * DAY, START + 9 * DAY)
    assert [s.object for s in found.series] == ["Lisbon", "Madrid", "Porto"]
    [_, _, porto] = found.series
    lost = math.exp(-0.8)
    expected = [0.8, 0.8 * lost, 0.8 * lost**2, 0.8 * lost**2]
    assert [p.belief for p in porto.points] == pytest.approx(expected)
    assert [p.at for p in found.series[0].points] == [START + 2 * DAY, START + 9 * DAY]
    best = memory.beliefs.timeline("alice", "lives_in", top=1, as_of=AsOf(valid=START + DAY))
    assert [s.object for s in best.series] == ["Madrid", "Porto"]


def test_each_instant_is_read_by_the_policy_in_force_then(memory: Handle) -> None:
    for n in range(2):
        memory.observe("alice", "lives_in", "Porto", confidence=0.5, at=START + n * DAY)
    memory.predicates.declare("lives_in", at=START)
    memory.predicates.declare("lives_in", cardinality="ONE", valid_from=START + 2 * DAY)
    at = [START, START + DAY, START + 2 * DAY]
    [porto] = memory.beliefs.timeline("alice", "lives_in", instants=at).series
    # The logistic function of L- - L+, then the score of the last affirmation.
    assert [p.belief for p in porto.points] == pytest.approx([2 / 3, 0.8, 0.5])
    memory.predicates.declare("lives_in", cardinality="ONE")
    [same] = memory.beliefs.timeline("alice", "lives_in", instants=at).series
    assert [p.belief for p in same.points] == pytest.approx([0.5] * 3)


def test_a_hypothesis_shows_its_belief_and_its_test(memory: Handle) -> None:
    belief = memory.believe("The pool should have 4 threads", confidence=0.6, at=START)
    for n in range(1, 4):
        memory.add_evidence(belief, "refuting", 0.85, at=START + n * DAY)
    found = memory.beliefs.timeline(belief, as_of=AsOf(valid=START + 4 * DAY))
    [one] = found.series
    assert (found.subject, one.statement) == (None, "The pool should have 4 threads")
    assert [p.at for p in one.points] == [START + n * DAY for n in range(5)]
    assert [p.confidence for p in one.points] == pytest.approx([0.6, 0.6, 0.4, 0.4, 0.4])
    assert [p.status for p in one.points][1:3] == [
        VerdictStatus.ACCUMULATING,
        VerdictStatus.DEMOTED,
    ]
    assert one.points[0].belief == 0.6
    assert one.points[-1].belief == pytest.approx(memory.beliefs.get(belief).belief)


def test_a_value_of_a_slot_moves_when_others_are_affirmed(memory: Handle) -> None:
    memory.predicates.declare("lives_in", cardinality="ONE", at=START)
    porto = memory.observe("alice", "lives_in", "Porto", confidence=0.8, at=START)
    memory.observe("alice", "lives_in", "Madrid", confidence=0.8, at=START + DAY)
    [one] = memory.beliefs.timeline(porto, as_of=AsOf(valid=START + 2 * DAY)).series
    assert [p.at for p in one.points] == [START, START + DAY, START + 2 * DAY]
    assert one.points[1].belief < one.points[0].belief


def test_many_instants_are_thinned_evenly(memory: Handle) -> None:
    memory.observe_many(
        {"subject": "a", "predicate": "p", "object": "o", "at": START + n * DAY} for n in range(50)
    )
    asked = AsOf(valid=START + 60 * DAY)
    for found in (
        memory.beliefs.timeline("a", "p", points=8, as_of=asked),
        memory.beliefs.timeline(
            memory.current("a", "p").candidates[0].belief_id, points=8, as_of=asked
        ),
    ):
        days = [(at - START) / DAY for at in found.instants]
        assert days == [0, 8, 16, 25, 33, 41, 49, 60]
    assert len(memory.beliefs.timeline("a", "p", as_of=asked).instants) == 51
    assert len(memory.beliefs.timeline("a", "p", points=51, as_of=asked).instants) == 51


def test_instants_of_ones_own_are_read_in_order_and_once(memory: Handle) -> None:
    memory.observe("a", "p", "o", at=START)
    at = [START + 2 * DAY, START, START - DAY, START]
    [one] = memory.beliefs.timeline("a", "p", instants=at).series
    assert [p.at for p in one.points] == [START, START + 2 * DAY]


def test_what_nobody_spoke_of_has_no_timeline(memory: Handle) -> None:
    found = memory.beliefs.timeline("alice", "likes")
    assert (found.subject, found.predicate, found.series) == ("alice", "likes", ())
    with pytest.raises(NotFoundError):
        memory.beliefs.timeline("b_nope")
    belief = memory.believe("It will rain")
    with pytest.raises(NotFoundError):
        memory.beliefs.timeline(belief, as_of=AsOf(valid=START))
