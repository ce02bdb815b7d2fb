"""How alive a belief is, by hand: R, S, the weighted mean and the gate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.model import EventType
from graphmem.rules import formulas, vitality
from graphmem.rules.formulas import Evidence
from graphmem.rules.vitality import STANDARD_VITALITY
from tests.oracles import vitality as vitality_oracle
from tests.oracles.vitality import Life, Mark, Piece
from tests.rules.strategies_histories import BASE, make_evidence

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
FLAG, RESOLVE = EventType.FLAG, EventType.RESOLVE


def after(days: float) -> datetime:
    return BASE + timedelta(days=days)


def alive(*pieces: Evidence, **life: object) -> Life:
    evidence = [Piece(e, "manual") for e in pieces]
    return Life(**{"created_at": BASE, "initial": 0.5, "pieces": evidence, **life})  # type: ignore[arg-type]


# Stability, S.


@pytest.mark.parametrize(
    ("days", "flags", "expected"),
    [
        ([], [], 30.0),
        ([0], [], 30.0),
        ([0, 1], [], 30 * (1 + math.log(2))),
        ([0, 3], [], 30 * (1 + math.log(4))),
        ([0, 1, 3], [], 30 * (1 + math.log(2)) * (1 + math.log(3))),
        ([0, 0, 0], [], 30.0),
        ([0, 3], [4], 15 * (1 + math.log(4))),
        ([0, 3], [3], 15 * (1 + math.log(4))),
        ([0, 3], [3, 3], 15 * (1 + math.log(4))),
        ([0, 3], [1], 15 * (1 + math.log(4))),
        ([0, 3, 6], [4], 15 * (1 + math.log(4)) ** 2),
        ([0, 1], [2, 3, 4], 3.75 * (1 + math.log(2))),
        ([], [2], 15.0),
        ([5], [2], 15.0),
        ([0], [1, 2, 3, 4, 5], 1.0),
        ([0, 400, 800, 1_200, 1_600], [], 365.0),
        ([0, 400, 800, 1_200, 1_600], [1_601], 182.5),
    ],
)
def test_stability_grows_with_spaced_retrievals(
    days: Sequence[float], flags: Sequence[float], expected: float
) -> None:
    found = vitality_oracle.stability(map(after, days), map(after, flags))
    assert found == pytest.approx(expected, abs=1e-12)


# Retrieval strength, R.


@pytest.mark.parametrize(
    ("since", "days", "importance", "expected"),
    [
        (timedelta(0), 1.0, 0.5, 1.0),
        (DAY, 1.0, 0.5, math.exp(-1)),
        (3 * DAY, 2.0, 0.5, math.exp(-1.5)),
        (DAY, 1.0, 1.0, math.exp(-0.5)),
        (DAY, 1.0, 0.0, math.exp(-2)),
        (DAY, 1.0, 0.75, math.exp(-1 / math.sqrt(2))),
        (12 * HOUR, 1.0, 0.5, math.exp(-0.5)),
        (-DAY, 1.0, 0.5, 1.0),
        (10_000 * DAY, 1.0, 0.5, 0.0),
    ],
)
def test_what_is_not_retrieved_fades(
    since: timedelta, days: float, importance: float, expected: float
) -> None:
    assert vitality_oracle.retrieval(since, days, importance) == pytest.approx(expected, abs=1e-12)


def test_a_belief_fades_from_its_last_support_or_look() -> None:
    life = alive(
        make_evidence("e1"), make_evidence("e2", day=3), make_evidence("e3", day=5, polarity=-1)
    )
    found = vitality_oracle.vitality(life, after(6))
    assert found.stability_days == pytest.approx(15 * (1 + math.log(4)))
    assert found.retrieval == pytest.approx(math.exp(-3 / 15 / (1 + math.log(4))))
    assert (found.storage, found.last_access_at) == (3, None)
    looked = alive(make_evidence("e1"), accesses=[after(3), after(1)])
    seen = vitality_oracle.vitality(looked, after(3))
    assert (seen.retrieval, seen.last_access_at) == (1.0, after(3))
    assert seen.stability_days == pytest.approx(30 * (1 + math.log(2)) * (1 + math.log(3)))


def test_a_session_that_returns_a_belief_counts_once_at_its_last_return() -> None:
    once = alive(make_evidence("e1"), returns=[[after(1), after(3)], []])
    found = vitality_oracle.vitality(once, after(5))
    assert found.stability_days == pytest.approx(30 * (1 + math.log(4)))
    assert found.retrieval == pytest.approx(math.exp(-2 / 30 / (1 + math.log(4))))
    assert found.last_access_at is None


def test_a_belief_that_nothing_retrieves_fades_from_its_beginning() -> None:
    found = vitality_oracle.vitality(alive(), after(2))
    assert found.retrieval == pytest.approx(math.exp(-2 / 30))
    assert (found.stability_days, found.storage, found.mean, found.precision) == (30, 0, 0.5, 1)
    refuted = alive(make_evidence("e1", confidence=0.1, day=1, polarity=-1))
    assert vitality_oracle.vitality(refuted, after(2)).retrieval == pytest.approx(math.exp(-2 / 30))


def test_the_most_important_supporting_episode_counts() -> None:
    def piece(name: str, importance: float | None, polarity: int = 1) -> Piece:
        return Piece(make_evidence(name, polarity=polarity), "manual", importance)

    def importance(*pieces: Piece) -> float:
        return vitality_oracle.vitality(alive(pieces=pieces), BASE).importance

    assert importance() == importance(piece("e1", None)) == 0.5
    assert importance(piece("e1", 0.2), piece("e2", 0.4), piece("e3", 0.9, -1)) == 0.4
    assert importance(piece("e1", None), piece("e2", 0.1)) == 0.1


# The mean weighted by precision.


def test_the_mean_by_hand() -> None:
    """Prior 0.5 of precision 1; then s = 0.9 of precision 0.8, then 1 - 0.75 of precision 0.5."""
    first = make_evidence("e1", confidence=0.8)
    second = make_evidence("e2", confidence=1.0, weight=0.5, day=1, polarity=-1)
    mean, precision = vitality_oracle.weighted([first], 0.5)
    assert mean == pytest.approx(0.5 + 0.8 / 1.8 * 0.4)
    assert precision == pytest.approx(1.8)
    mean, precision = vitality_oracle.weighted([first, second], 0.5)
    assert mean == pytest.approx((0.5 + 0.8 * 0.9 + 0.5 * 0.25) / 2.3)
    assert precision == pytest.approx(2.3)
    nothing = make_evidence("e0", confidence=0.0)
    assert vitality_oracle.weighted([nothing], 0.3) == (0.3, 1.0)


# The gate.

BY = STANDARD_VITALITY


@pytest.mark.parametrize(
    ("storage", "days", "expected"),
    [
        (0, 100, BY.gate_min),
        (5, 0, BY.gate_min),
        (3, 3, BY.gate_base * math.log(4) * math.log(4)),
        (4, 2, BY.gate_base * math.log(5) * math.log(3)),
        (1_000, 1_000, BY.gate_max),
        (3, -1, BY.gate_min),
    ],
)
def test_the_gate_by_hand(storage: int, days: float, expected: float) -> None:
    assert vitality_oracle.gate(storage, timedelta(days=days)) == pytest.approx(expected, abs=1e-12)


def test_contradictions_are_pooled_by_episode() -> None:
    """1 - (1 - 0.8)(1 - 0.5)^0.5; in one episode only the stronger counts."""
    strong = make_evidence("e1", confidence=0.8, polarity=-1)
    weak = make_evidence("e2", confidence=0.5, polarity=-1, weight=0.5)
    assert formulas.refutation([]) == 0
    assert formulas.refutation([strong]) == pytest.approx(0.8)
    assert formulas.refutation([strong, weak]) == pytest.approx(1 - 0.2 * math.sqrt(0.5))
    same = [
        make_evidence(f"e{n}", confidence=c, polarity=-1, episode="monday")
        for n, c in enumerate((0.8, 0.5, 0.8))
    ]
    assert formulas.refutation(same) == pytest.approx(0.8)
    certain = make_evidence("e3", confidence=1.0, polarity=-1)
    assert formulas.refutation([certain]) == pytest.approx(1 - 1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("error", "since", "unsettles"),
    [
        (0.31, None, True),
        (0.3, None, False),
        (0.1, None, False),
        (0.1, timedelta(0), True),
        (0.1, 6 * HOUR, True),
        (0.0, HOUR, False),
        (0.1, 6 * HOUR + timedelta(microseconds=1), False),
        (0.31, 9 * DAY, True),
        (0.1, -HOUR, False),
    ],
)
def test_what_unsettles_a_belief(error: float, since: timedelta | None, *, unsettles: bool) -> None:
    assert formulas.is_destabilised(error, 0.3, since) is unsettles


def refuting(name: str, day: float, confidence: float = 0.8, **given: object) -> Evidence:
    return make_evidence(name, confidence=confidence, day=day, polarity=-1, **given)  # type: ignore[arg-type]


def test_the_prior_and_what_contradicts_it_by_hand() -> None:
    """Belief 0.8 / (0.8 + 0.2) after a support at 0.75; the rest is compared with it."""
    life = alive(
        make_evidence("s", confidence=0.75, day=2), refuting("r1", 3, 0.5), refuting("r2", 4, 0.5)
    )
    found = vitality_oracle.vitality(life, after(5))
    assert found.prior == pytest.approx(0.8)
    assert found.prior_at == after(2)
    assert found.contradiction == pytest.approx(0.75)
    assert found.gate == pytest.approx(max(BY.gate_min, BY.gate_base * math.log(2) * math.log(6)))
    assert found.flagged_at == after(3)
    again = alive(*(piece.evidence for piece in life.pieces), make_evidence("s2", day=4))
    settled = vitality_oracle.vitality(again, after(5))
    # Support of the same time counts before the contradiction.
    assert settled.prior_at == after(4)
    assert settled.contradiction == pytest.approx(0.5)


def test_a_belief_without_evidence_has_its_initial_confidence_as_prior() -> None:
    found = vitality_oracle.vitality(alive(refuting("r", 1), initial=0.9), after(2))
    assert (found.prior, found.prior_at, found.flagged_at) == (0.9, None, after(1))
    assert (
        vitality_oracle.vitality(alive(refuting("r", 1), initial=0.1), after(2)).flagged_at is None
    )


def test_an_echo_of_the_same_episode_does_not_add_up() -> None:
    support = [make_evidence(f"s{n}", confidence=0.9, episode=f"p{n}") for n in range(9)]
    echoes = [refuting(f"r{n}", 100 + n, 0.3, episode="monday") for n in range(8)]
    apart = [refuting(f"r{n}", 100 + n, 0.3) for n in range(8)]
    assert vitality_oracle.vitality(alive(*support, *echoes), after(200)).flagged_at is None
    assert vitality_oracle.vitality(alive(*support, *apart), after(200)).flagged_at is not None


def test_support_that_weighs_nothing_is_no_support() -> None:
    life = alive(
        make_evidence("s", confidence=0.9),
        refuting("r1", 1, 0.09),
        make_evidence("s0", confidence=0, day=2),
    )
    assert vitality_oracle.vitality(life, after(3)).prior_at == after(0)


SUPPORT = st.tuples(st.sampled_from([0.5, 1.0]), st.floats(0.5, 1))
"""Weight and confidence of a piece of support: at least that of an episode of a new belief."""
ANY_SUPPORT = st.tuples(st.sampled_from([0.5, 0.6, 0.8, 1.0]), st.floats(0.01, 1))


def history(
    ages: float, support: Sequence[tuple[float, float]], against: Sequence[tuple[float, float]]
) -> Life:
    """Support spread over the age of a belief; then contradictions, an hour apart."""
    pieces = [
        make_evidence(f"s{n}", confidence=sure, weight=weight, day=ages * n / len(support))
        for n, (weight, sure) in enumerate(support)
    ]
    refuted = [
        refuting(f"r{n}", ages + n / 24, sure, weight=weight)
        for n, (weight, sure) in enumerate(against)
    ]
    return alive(*pieces, *refuted)


def flagged(life: Life) -> bool:
    return vitality_oracle.gated(life).flagged_at is not None


@settings(max_examples=200)
@given(st.floats(0, 7), st.lists(SUPPORT, min_size=3, max_size=3), st.floats(0.8, 1))
def test_one_strong_direct_contradiction_flags_a_young_belief(
    age: float, support: list[tuple[float, float]], sure: float
) -> None:
    assert flagged(history(age, support, [(1.0, sure)]))


ages_and_pieces = st.tuples(
    st.floats(0, 1_000), st.integers(1, 1_000) | st.sampled_from([1, 2, 1_000])
)


@settings(max_examples=200)
@given(ages_and_pieces, ANY_SUPPORT, st.tuples(st.sampled_from([0.5, 1.0]), st.floats(0.4, 1)))
def test_eight_consistent_contradictions_flag_any_belief(
    of: tuple[float, int], support: tuple[float, float], against: tuple[float, float]
) -> None:
    """The weakest contradiction that consolidation writes has a confidence of 0.4."""
    age, pieces = of
    assert flagged_at_size(age, pieces, support, [against] * 8)


@settings(max_examples=200)
@given(
    st.floats(30, 1_000),
    st.integers(5, 1_000),
    SUPPORT,
    st.tuples(st.sampled_from([0.5, 1.0]), st.floats(0, 0.3))
    | st.tuples(st.just(0.5), st.floats(0, 0.5)),
)
def test_one_weak_contradiction_flags_no_old_well_supported_belief(
    age: float, pieces: int, support: tuple[float, float], against: tuple[float, float]
) -> None:
    assert not flagged_at_size(age, pieces, support, [against])


def flagged_at_size(
    age: float, pieces: int, support: tuple[float, float], against: Sequence[tuple[float, float]]
) -> bool:
    """Return whether equal pieces of support and then contradictions flag a belief.

    By the formulas alone: the replay of a thousand pieces takes too long for many examples, and
    test_the_replay_agrees compares the two on short histories.
    """
    weight, sure = support
    prior = 1 / (1 + math.exp(pieces * weight * math.log1p(-min(sure, 1 - 1e-9))))
    evidence = [refuting(f"r{n}", 0, c, weight=w) for n, (w, c) in enumerate(against)]
    return any(
        formulas.is_destabilised(
            prior * formulas.refutation(evidence[: n + 1]),
            vitality_oracle.gate(pieces, timedelta(days=age + n / 24)),
            None,
        )
        for n in range(len(evidence))
    )


@settings(max_examples=100)
@given(
    st.floats(0, 1_000),
    st.integers(1, 12),
    SUPPORT,
    st.lists(st.tuples(st.sampled_from([0.5, 1.0]), st.floats(0, 1)), min_size=1, max_size=8),
)
def test_the_replay_agrees(
    age: float, pieces: int, support: tuple[float, float], against: list[tuple[float, float]]
) -> None:
    expected = flagged_at_size(age, pieces, support, against)
    assert flagged(history(age, [support] * pieces, against)) is expected


# Flags, and what was only inferred.


def test_a_flag_holds_until_it_is_resolved() -> None:
    first, second = Mark("a", FLAG, BASE), Mark("b", RESOLVE, after(1))
    again, more = Mark("c", FLAG, after(2)), Mark("d", FLAG, after(3))

    def flagged_at(*marks: Mark) -> datetime | None:
        return vitality_oracle.gated(alive(marks=marks)).flagged_at

    assert flagged_at() is None
    assert flagged_at(first) == BASE
    assert flagged_at(second, first) is None
    assert flagged_at(more, again, first, second) == after(2)
    assert flagged_at(Mark("b", FLAG, BASE), Mark("a", RESOLVE, BASE)) == BASE
    assert flagged_at(Mark("a", FLAG, BASE), Mark("b", RESOLVE, BASE)) is None
    twice = vitality_oracle.gated(alive(marks=[first, more]))
    assert twice.flags == [BASE]


def test_a_review_starts_anew() -> None:
    """The belief as reviewed is the new prior, and what refuted it before no longer counts."""
    support = [make_evidence(f"s{n}", confidence=0.9, episode=f"p{n}") for n in range(3)]
    life = alive(
        *support,
        refuting("r1", 1, 0.9),
        refuting("r2", 3, 0.3),
        marks=[Mark("m", RESOLVE, after(2))],
    )
    found = vitality_oracle.gated(life)
    assert (found.prior_at, found.known, found.flags) == (after(2), 4, [after(1), after(3)])
    assert found.prior == pytest.approx(0.1 / (0.1 + 0.001))
    assert found.contradiction == pytest.approx(0.3)
    reviewed = alive(*support, refuting("r1", 1, 0.9), marks=[Mark("m", RESOLVE, after(2))])
    assert vitality_oracle.gated(reviewed).flagged_at is None


def test_a_stated_belief_is_not_derived() -> None:
    mine, theirs = "consolidation", "manual"

    def is_derived(*sources: tuple[str, int], stated: Sequence[str] = ()) -> bool:
        pieces = [
            Piece(make_evidence(f"e{n}", polarity=polarity), source)
            for n, (source, polarity) in enumerate(sources)
        ]
        return vitality_oracle.derived(alive(pieces=pieces, stated_by=stated))

    assert is_derived((mine, 1))
    assert is_derived((mine, 1), (mine, 1), stated=[mine])
    assert is_derived((mine, 1), (theirs, -1))
    assert is_derived((mine, -1))
    assert not is_derived()
    assert not is_derived(stated=[mine])
    assert not is_derived((theirs, -1))
    assert not is_derived((mine, 1), (theirs, 1))
    assert not is_derived((mine, 1), stated=[theirs])


def test_what_is_sent_is_every_constant() -> None:
    sent = vitality.vitality_params()
    assert sent["max_stability_days"] == STANDARD_VITALITY.max_stability_days == 365
    assert set(sent) == set(vitality.VitalityConstants.model_fields)
