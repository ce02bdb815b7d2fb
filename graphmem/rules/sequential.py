"""The sequential probability ratio test of a belief: fold and trail, oracle of cypher/belief/."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Protocol

from graphmem.model.belief import Needed, VerdictStatus
from graphmem.rules.projection import Evidence, episode_of

WEAKEST = 0.1
STRONGEST = 0.9
"""A strength is clamped to these: no single event decides."""
TOLERANCE = 1e-12
"""A boundary counts as crossed from this near, so that rounding does not decide."""


@dataclass(frozen=True)
class Test:
    """The bounds of the test and its steps of confidence."""

    alpha: float = 0.05
    """Tolerated rate of false promotions, in (0, 1); alpha + beta < 1."""
    beta: float = 0.10
    """Tolerated rate of false demotions, in (0, 1)."""
    promote_step: float = 0.10
    demote_step: float = 0.20
    most: float = 0.95
    least: float = 0.05

    @property
    def upper(self) -> float:
        """A > 0: the log ratio from which a belief is promoted."""
        return math.log((1 - self.beta) / self.alpha)

    @property
    def lower(self) -> float:
        """B < 0: the log ratio down from which a belief is demoted."""
        return math.log(self.beta / (1 - self.alpha))

    def crossed(self, log_ratio: float) -> VerdictStatus | None:
        """Return what the boundary beyond which the log ratio lies makes of a belief."""
        if log_ratio >= self.upper - TOLERANCE:
            return VerdictStatus.PROMOTED
        return VerdictStatus.DEMOTED if log_ratio <= self.lower + TOLERANCE else None

    def stepped(self, confidence: float, status: VerdictStatus) -> float:
        """Return the confidence after the belief was promoted or demoted."""
        if status is VerdictStatus.PROMOTED:
            return max(confidence, min(confidence + self.promote_step, self.most))
        return min(confidence, max(confidence - self.demote_step, self.least))


STANDARD = Test()


@dataclass(frozen=True)
class Step:
    """What one event said, and where the test stood after all events of its instant."""

    at: datetime
    id: str
    llr: float
    log_ratio: float
    status: VerdictStatus
    confidence: float


@dataclass(frozen=True)
class Verdict:
    """Where the test stands."""

    status: VerdictStatus
    log_ratio: float
    confidence: float
    steps: tuple[Step, ...]
    """In order of (at, id); pooled, only of the events that count."""

    @property
    def revise_due(self) -> bool:
        """Whether its wording should be revised."""
        return self.status is VerdictStatus.DEMOTED


class Standing(Protocol):
    """Where a test stands, whoever computed it."""

    @property
    def status(self) -> VerdictStatus:
        """What the last boundary crossed made of the belief."""
        ...

    @property
    def log_ratio(self) -> float:
        """The sum of what was said."""
        ...


def strength(e: Evidence) -> float:
    """Return the strength of an event in [0.1, 0.9]; that of an observation is at least 1/2."""
    own = e.strength if e.strength is not None else (1 + e.weight * e.confidence) / 2
    return min(max(own, WEAKEST), STRONGEST)


def llr(e: Evidence) -> float:
    """Return the log likelihood ratio of an event; "support" under 1/2 counts against."""
    s = strength(e)
    return e.polarity * math.log(s / (1 - s))


def test(
    evidence: Iterable[Evidence],
    initial: float,
    bounds: Test = STANDARD,  # noqa: PT028 - the test of a belief, not of this code
    *,
    pooled: bool = False,  # noqa: PT028
) -> Verdict:
    """Return the verdict of the evidence and how it came about.

    A state is entered when its boundary is crossed from another state, so the same state never
    counts twice. What would be if the evidence were different is the same function of it.

    Args:
        evidence: of one claim, as much as is visible, in any order.
        initial: the confidence before all evidence, in [0, 1].
        bounds: of the test.
        pooled: of an episode and polarity only the event that says most counts.
    """
    counted = sorted({e.id: e for e in evidence}.values(), key=attrgetter("at", "id"))
    if pooled:
        counted = _pooled(counted)
    status = VerdictStatus.ACCUMULATING
    log_ratio, confidence = 0.0, initial
    steps: list[Step] = []
    for at, events in groupby(counted, key=attrgetter("at")):
        said = [(e.id, llr(e)) for e in events]
        log_ratio += math.fsum(by for _, by in said)
        crossed = bounds.crossed(log_ratio)
        if crossed is not None and crossed is not status:
            status, confidence = crossed, bounds.stepped(confidence, crossed)
        steps += [Step(at, event_id, by, log_ratio, status, confidence) for event_id, by in said]
    return Verdict(status, log_ratio, confidence, tuple(steps))


def needed(verdict: Standing, bounds: Test = STANDARD) -> Needed:
    """Return how much more evidence would promote the belief, and how much would demote it."""
    up = max(0.0, bounds.upper - verdict.log_ratio)
    down = max(0.0, verdict.log_ratio - bounds.lower)
    if verdict.status is VerdictStatus.PROMOTED:
        up = 0.0
    elif verdict.status is VerdictStatus.DEMOTED:
        down = 0.0
    return Needed(promote=up, demote=down, promote_pieces=_pieces(up), demote_pieces=_pieces(down))


def _pieces(log_units: float) -> int:
    return math.ceil(log_units / math.log(STRONGEST / (1 - STRONGEST)) - TOLERANCE)


def _pooled(evidence: Sequence[Evidence]) -> list[Evidence]:
    best: dict[Hashable, Evidence] = {}
    for e in evidence:
        side = (episode_of(e), e.polarity)
        if side not in best or _loudness(e) > _loudness(best[side]):
            best[side] = e
    return sorted(best.values(), key=attrgetter("at", "id"))


def _loudness(e: Evidence) -> float:
    # Rounded, because s and 1 - s are equally loud and their logarithms are off by a last bit.
    return round(abs(llr(e)), 9)
