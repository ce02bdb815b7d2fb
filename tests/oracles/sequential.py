"""The sequential probability ratio test of a belief, with its trail: oracle of cypher/belief/."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter

from graphmem.model.belief import VerdictStatus
from graphmem.model.policies import SprtParameters
from graphmem.rules.formulas import STANDARD_TEST, TOLERANCE, Evidence, clamp_strength
from tests.oracles.projection import episode_of


def evidence_strength(e: Evidence) -> float:
    """Return the strength of an event in [0.1, 0.9]; for an observation it is at least 1/2."""
    return clamp_strength(
        e.strength if e.strength is not None else (1 + e.weight * e.confidence) / 2
    )


def implied_belief(e: Evidence) -> float:
    """Return the degree of belief that a piece of evidence implies, in [0, 1]."""
    strength = evidence_strength(e)
    return strength if e.polarity > 0 else 1 - strength


@dataclass(frozen=True)
class Step:
    """Contribution of one event, and the state of the test after all events of its timestamp."""

    at: datetime
    id: str
    llr: float
    log_ratio: float
    status: VerdictStatus
    confidence: float


@dataclass(frozen=True)
class Verdict:
    """Result of the test."""

    status: VerdictStatus
    log_ratio: float
    confidence: float
    steps: tuple[Step, ...]
    """Steps in order of (at, id); if pooled, only of the events that count."""

    @property
    def revise_due(self) -> bool:
        """Whether the belief should be revised."""
        return self.status is VerdictStatus.DEMOTED


def llr(e: Evidence) -> float:
    """Return the log likelihood ratio of an event; support of a strength below 1/2 is negative."""
    s = evidence_strength(e)
    return e.polarity * math.log(s / (1 - s))


def crossed(bounds: SprtParameters, log_ratio: float) -> VerdictStatus | None:
    """Return the status beyond the boundary that the log ratio has crossed; None if neither."""
    if log_ratio >= bounds.upper - TOLERANCE:
        return VerdictStatus.PROMOTED
    return VerdictStatus.DEMOTED if log_ratio <= bounds.lower + TOLERANCE else None


def stepped(bounds: SprtParameters, confidence: float, status: VerdictStatus) -> float:
    """Return the confidence after a promotion or demotion."""
    if status is VerdictStatus.PROMOTED:
        return max(confidence, min(confidence + bounds.promote_step, bounds.max_confidence))
    return min(confidence, max(confidence - bounds.demote_step, bounds.min_confidence))


def test(
    evidence: Iterable[Evidence],
    initial: float,
    bounds: SprtParameters = STANDARD_TEST,  # noqa: PT028 - the test of a belief, not of this code
    *,
    pooled: bool = False,  # noqa: PT028
) -> Verdict:
    """Return the verdict of the evidence and its steps.

    A state is entered when its boundary is crossed from another state, so the same state never
    counts twice. Hypothetical evidence is tested by the same function.

    Args:
        evidence: Visible evidence of one claim, in any order.
        initial: Confidence before all evidence, in [0, 1].
        bounds: Parameters of the test.
        pooled: Whether only the strongest event of an episode and polarity counts.
    """
    counted = sorted({e.id: e for e in evidence}.values(), key=attrgetter("at", "id"))
    if pooled:
        counted = _pooled(counted)
    status = VerdictStatus.ACCUMULATING
    log_ratio, confidence = 0.0, initial
    steps: list[Step] = []
    for at, events in groupby(counted, key=attrgetter("at")):
        ratios = [(e.id, llr(e)) for e in events]
        log_ratio += math.fsum(by for _, by in ratios)
        entered = crossed(bounds, log_ratio)
        if entered is not None and entered is not status:
            status, confidence = entered, stepped(bounds, confidence, entered)
        steps += [Step(at, event_id, by, log_ratio, status, confidence) for event_id, by in ratios]
    return Verdict(status, log_ratio, confidence, tuple(steps))


def _pooled(evidence: Sequence[Evidence]) -> list[Evidence]:
    strongest: dict[Hashable, Evidence] = {}
    for e in evidence:
        side = (episode_of(e), e.polarity)
        if side not in strongest or _weight(e) > _weight(strongest[side]):
            strongest[side] = e
    return sorted(strongest.values(), key=attrgetter("at", "id"))


def _weight(e: Evidence) -> float:
    # Rounded, because s and 1 - s have equal weight but their logarithms differ in the last bit.
    return round(abs(llr(e)), 9)
