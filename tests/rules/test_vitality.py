"""How alive a belief is, by hand: R, S, the weighted mean and the gate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import EventType
from graphmem.rules import formulas
from graphmem.rules.formulas import STANDARD_VITALITY, Evidence
from tests.oracles import vitality as vitality_oracle
from tests.oracles.vitality import Life, Mark, Piece
from tests.rules.strategies_histories import BASE, claim_histories, instants, make_evidence

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
        ([], [], 1.0),
        ([0], [], 1.0),
        ([0, 1], [], 1 + math.log(2)),
        ([0, 3], [], 1 + math.log(4)),
        ([0, 1, 3], [], (1 + math.log(2)) * (1 + math.log(3))),
        ([0, 0, 0], [], 1.0),
        ([0, 3], [4], (1 + math.log(4)) / 2),
        ([0, 3], [3], (1 + math.log(4)) / 2),
        ([0, 3], [3, 3], (1 + math.log(4)) / 2),
        ([0, 3], [1], 1 + math.log(4)),
        ([0, 3, 6], [4], (1 + math.log(4)) ** 2 / 2),
        ([0, 1], [2, 3, 4], 1.0),
        ([], [2], 1.0),
        ([5], [2], 1.0),
        ([0, 400, 800, 1_200, 1_600], [], 365.0),
        ([0, 400, 800, 1_200, 1_600], [1_601], 182.5),
    ],
)
def test_stability_grows_with_spaced_retrievals(
    days: Sequence[float], flags: Sequence[float], expected: float
) -> None:
    found = vitality_oracle.stability(map(after, days), map(after, flags))
    assert found == pytest.approx(expected, abs=1e-12)


def test_a_flag_comes_after_the_retrieval_of_its_instant() -> None:
    """Before it, halving would meet the least there is and change nothing."""
    assert vitality_oracle.stability([BASE, after(1)], [after(1)]) == pytest.approx(1.0)
    assert vitality_oracle.stability([BASE, after(9)], [after(9)]) == pytest.approx(
        (1 + math.log(10)) / 2
    )


@given(st.lists(instants), st.lists(instants), st.randoms(use_true_random=False))
def test_order_and_redelivery_change_nothing(
    looks: list[datetime], flags: list[datetime], random: object
) -> None:
    again = [*looks, *looks[:2]]
    random.shuffle(again)  # type: ignore[attr-defined]
    found = vitality_oracle.stability(again, [*flags, *flags[:1]])
    assert found == vitality_oracle.stability(looks, flags)
    assert 1 <= found <= 365


@given(st.lists(instants, min_size=1), st.floats(0, 1_000))
def test_a_later_retrieval_never_weakens(looks: list[datetime], days: float) -> None:
    later = max(looks) + timedelta(days=days)
    assert vitality_oracle.stability([*looks, later]) >= vitality_oracle.stability(looks)


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
    assert found.stability_days == pytest.approx(1 + math.log(4))
    assert found.retrieval == pytest.approx(math.exp(-3 / (1 + math.log(4))))
    assert (found.storage, found.last_access_at) == (3, None)
    looked = alive(make_evidence("e1"), accesses=[after(3), after(1)])
    seen = vitality_oracle.vitality(looked, after(3))
    assert (seen.retrieval, seen.last_access_at) == (1.0, after(3))
    assert seen.stability_days == pytest.approx((1 + math.log(2)) * (1 + math.log(3)))


def test_a_belief_that_nothing_retrieves_fades_from_its_beginning() -> None:
    found = vitality_oracle.vitality(alive(), after(2))
    assert found.retrieval == pytest.approx(math.exp(-2))
    assert (found.stability_days, found.storage, found.mean, found.precision) == (1, 0, 0.5, 1)
    refuted = alive(make_evidence("e1", day=1, polarity=-1))
    assert vitality_oracle.vitality(refuted, after(2)).retrieval == pytest.approx(math.exp(-2))


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


@given(claim_histories, st.floats(0, 1), st.randoms(use_true_random=False))
def test_the_fold_is_a_weighted_mean_in_any_order(
    evidence: list[Evidence], initial: float, random: object
) -> None:
    mean, precision = vitality_oracle.weighted(evidence, initial)
    shuffled = list(evidence)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert vitality_oracle.weighted(shuffled, initial) == pytest.approx((mean, precision), abs=1e-9)
    weights = [e.weight * e.confidence for e in evidence]
    drawn = sum(w * formulas.implied_belief(e) for w, e in zip(weights, evidence, strict=True))
    assert mean == pytest.approx((initial + drawn) / (1 + sum(weights)), abs=1e-9)
    assert 0 <= mean <= 1


# The gate.


@pytest.mark.parametrize(
    ("storage", "days", "expected"),
    [
        (0, 100, 0.1),
        (5, 0, 0.1),
        (1, 1, 0.3 * math.log(2) ** 2),
        (2, 3, 0.3 * math.log(3) * math.log(4)),
        (4, 2, 0.3 * math.log(5) * math.log(3)),
        (100, 100, 0.9),
        (3, -1, 0.1),
    ],
)
def test_the_gate_by_hand(storage: int, days: float, expected: float) -> None:
    assert vitality_oracle.gate(storage, timedelta(days=days)) == pytest.approx(expected, abs=1e-12)


def test_the_prediction_error_by_hand() -> None:
    support, refute = (
        make_evidence("e1", confidence=0.8),
        make_evidence("e2", confidence=0.8, polarity=-1),
    )
    assert formulas.prediction_error(support, 0.5) == pytest.approx(0.4)
    assert formulas.prediction_error(refute, 0.9) == pytest.approx(0.8)
    assert formulas.prediction_error(support, 0.9) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("error", "looked", "unsettles"),
    [
        (0.31, None, True),
        (0.3, None, False),
        (0.1, None, False),
        (0.1, timedelta(0), True),
        (0.1, 6 * HOUR, True),
        (0.1, 6 * HOUR + timedelta(microseconds=1), False),
        (0.31, 9 * DAY, True),
        (0.1, -HOUR, False),
    ],
)
def test_what_unsettles_a_belief(
    error: float, looked: timedelta | None, *, unsettles: bool
) -> None:
    last = None if looked is None else BASE - looked
    assert formulas.is_destabilised(error, 0.3, BASE, last) is unsettles


# Flags, and what was only inferred.


def test_the_newest_of_flag_and_resolve_holds() -> None:
    first, second = Mark("a", FLAG, BASE), Mark("b", RESOLVE, after(1))
    again = Mark("c", FLAG, after(2))
    assert vitality_oracle.flagged_at([]) is None
    assert vitality_oracle.flagged_at([first]) == BASE
    assert vitality_oracle.flagged_at([second, first]) is None
    assert vitality_oracle.flagged_at([again, first, second]) == after(2)
    assert vitality_oracle.flagged_at([Mark("b", FLAG, BASE), Mark("a", RESOLVE, BASE)]) == BASE
    assert vitality_oracle.flagged_at([Mark("a", FLAG, BASE), Mark("b", RESOLVE, BASE)]) is None


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
    sent = formulas.vitality_params()
    assert sent["most_days"] == STANDARD_VITALITY.most_days == 365
    assert set(sent) == set(STANDARD_VITALITY.__dataclass_fields__)
