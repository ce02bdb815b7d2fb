"""The sequential test: its walk-through, its laws, and what happens at the boundaries."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import VerdictStatus
from graphmem.model.policies import SprtParameters
from graphmem.rules import formulas
from graphmem.rules.formulas import Evidence, evidence_needed
from tests.oracles import sequential as sequential_oracle
from tests.oracles.sequential import Verdict, llr
from tests.rules.strategies_histories import (
    BASE,
    claim_histories,
    confidences,
    strengths,
)

ACCUMULATING, PROMOTED, DEMOTED = VerdictStatus
SYMMETRIC = SprtParameters(alpha=0.1, beta=0.1)


def make_evidence(
    name: str, strength: float, hour: float = 0, *, polarity: int = 1, episode: str | None = None
) -> Evidence:
    """Return one testimony, `hour` hours after the first."""
    at = BASE + timedelta(hours=hour)
    return Evidence(name, "b", polarity, max(0, 2 * strength - 1), 1.0, episode, at, strength)


def series(*tellings: float) -> list[Evidence]:
    """Return testimonies an hour apart; a negative strength refutes."""
    return [
        make_evidence(f"e{n}", abs(s), n, polarity=1 if s > 0 else -1)
        for n, s in enumerate(tellings)
    ]


def path(verdict: Verdict) -> list[tuple[VerdictStatus, float]]:
    return [(step.status, round(step.confidence, 9)) for step in verdict.steps]


def test_the_bounds() -> None:
    assert round(formulas.STANDARD_TEST.upper, 3) == 2.890
    assert round(formulas.STANDARD_TEST.lower, 3) == -2.251


def test_without_evidence_the_test_is_where_it_began() -> None:
    verdict = sequential_oracle.test([], 0.6)
    assert verdict == Verdict(ACCUMULATING, 0.0, 0.6, ())
    assert not verdict.revise_due


def test_each_change_counts_once_and_back_again() -> None:
    verdict = sequential_oracle.test(series(*[0.9] * 3, *[-0.9] * 6, *[0.9] * 5), 0.6)
    assert path(verdict) == [
        (ACCUMULATING, 0.6),
        *[(PROMOTED, 0.7)] * 6,
        *[(DEMOTED, 0.5)] * 6,
        (PROMOTED, 0.6),
    ]


@pytest.mark.parametrize(
    ("initial", "promoted", "demoted"),
    [(0.6, 0.7, 0.4), (0.9, 0.95, 0.7), (0.97, 0.97, 0.77), (0.2, 0.3, 0.05), (0.01, 0.11, 0.01)],
)
def test_confidence_is_moved_within_its_limits_and_never_backwards(
    initial: float, promoted: float, demoted: float
) -> None:
    assert sequential_oracle.test(series(0.9, 0.9), initial).confidence == pytest.approx(promoted)
    assert sequential_oracle.test(series(-0.9, -0.9), initial).confidence == pytest.approx(demoted)


def test_events_of_one_instant_are_summed_before_the_boundary_is_looked_at() -> None:
    at_once = [make_evidence(f"e{n}", 0.9) for n in range(2)]
    at_once += [make_evidence(f"e{n}", 0.9, polarity=-1) for n in range(2, 4)]
    verdict = sequential_oracle.test(at_once, 0.6)
    assert path(verdict) == [(ACCUMULATING, 0.6)] * 4
    assert [step.log_ratio for step in verdict.steps] == [pytest.approx(0, abs=1e-15)] * 4
    one_by_one = [replace(e, at=e.at + timedelta(hours=n)) for n, e in enumerate(at_once)]
    assert sequential_oracle.test(one_by_one, 0.6).status is PROMOTED


def test_a_boundary_met_exactly_is_crossed() -> None:
    """Ln 9 + ln 2 is ln 18, which is A; ln 9 + ln 19/18 is ln 9.5, which is -B."""
    for order in ([0.9, 2 / 3], [2 / 3, 0.9]):
        assert sequential_oracle.test(series(*order), 0.6).status is PROMOTED
    for order in ([-0.9, -19 / 37], [-19 / 37, -0.9]):
        assert sequential_oracle.test(series(*order), 0.6).status is DEMOTED
    assert sequential_oracle.test(series(0.9, 0.666), 0.6).status is ACCUMULATING
    assert sequential_oracle.test(series(-0.9, -0.513), 0.6).status is ACCUMULATING


@given(confidences, st.sampled_from([1.0, 0.5]), st.sampled_from([1, -1]))
def test_an_observation_never_counts_against_what_it_says(
    confidence: float, weight: float, polarity: int
) -> None:
    seen = Evidence("e", "b", polarity, confidence, weight, None, BASE)
    assert llr(seen) * polarity >= 0
    given_as_strength = replace(seen, strength=0.5 + weight * confidence / 2)
    assert llr(seen) == pytest.approx(llr(given_as_strength), abs=1e-12)


# An episode's evidence pooled, so that an echo counts once.


def test_an_echo_counts_once_and_its_contradiction_as_well() -> None:
    echoes = [make_evidence(f"e{n}", 0.85, n, episode="talk") for n in range(5)]
    assert sequential_oracle.test(echoes, 0.6).status is PROMOTED
    pooled = sequential_oracle.test(echoes, 0.6, pooled=True)
    assert (pooled.status, [s.id for s in pooled.steps]) == (ACCUMULATING, ["e0"])
    against = make_evidence("e9", 0.8, 9, polarity=-1, episode="talk")
    both = sequential_oracle.test([*echoes, against], 0.6, pooled=True)
    assert [s.id for s in both.steps] == ["e0", "e9"]


@pytest.mark.parametrize(("first", "second"), [(0.9, 0.1), (0.1, 0.9), (0.7, 0.3), (0.3, 0.7)])
def test_of_equally_loud_events_the_earlier_counts(first: float, second: float) -> None:
    """Their logarithms may differ by a last bit, which must not decide."""
    evidence = [
        make_evidence("e2", first, 0, episode="talk"),
        make_evidence("e1", second, 1, episode="talk"),
    ]
    pooled = sequential_oracle.test(evidence, 0.6, pooled=True)
    assert [s.id for s in pooled.steps] == ["e2"]


# How much more it takes.


@given(claim_histories, st.sampled_from([formulas.STANDARD_TEST, SYMMETRIC]))
def test_as_many_pieces_as_needed_decide_and_one_less_does_not(
    evidence: list[Evidence], bounds: SprtParameters
) -> None:
    verdict = sequential_oracle.test(evidence, 0.5, bounds)
    more = evidence_needed(verdict, bounds)
    wanted = ((1, more.promote_pieces, PROMOTED), (-1, more.demote_pieces, DEMOTED))
    for polarity, pieces, status in wanted:
        assert (pieces == 0) == (verdict.status is status)
        for fewer in range(min(pieces, 2)):
            new = [
                make_evidence(f"n{n}", 0.9, 24_000 + n, polarity=polarity)
                for n in range(pieces - fewer)
            ]
            assert (sequential_oracle.test([*evidence, *new], 0.5, bounds).status is status) == (
                not fewer
            )


@given(claim_histories, strengths)
def test_needed_log_units_are_the_distances_to_the_boundaries(
    evidence: list[Evidence], strength: float
) -> None:
    verdict = sequential_oracle.test([*evidence, make_evidence("more", strength, 24_000)], 0.5)
    more = evidence_needed(verdict)
    if verdict.status is not PROMOTED:
        assert verdict.log_ratio + more.promote == pytest.approx(formulas.STANDARD_TEST.upper)
    else:
        assert more.promote == 0
    if verdict.status is not DEMOTED:
        assert verdict.log_ratio - more.demote == pytest.approx(formulas.STANDARD_TEST.lower)
    else:
        assert more.demote == 0


def test_from_the_start_two_strong_pieces_are_needed() -> None:
    more = evidence_needed(sequential_oracle.test([], 0.5))
    assert (round(more.promote, 3), round(more.demote, 3)) == (2.890, 2.251)
    assert (more.promote_pieces, more.demote_pieces) == (2, 2)
