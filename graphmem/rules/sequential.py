"""The sequential probability ratio test of a belief: bounds, strengths and what is needed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from graphmem.model.belief import EvidenceNeeded, VerdictStatus
from graphmem.rules.projection import Evidence

WEAKEST = 0.1
STRONGEST = 0.9
"""A strength is clamped to these: no single event decides."""
TOLERANCE = 1e-12
"""A boundary counts as crossed from this near, so that rounding does not decide."""


@dataclass(frozen=True)
class SprtParameters:
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


STANDARD_TEST = SprtParameters()


class SprtState(Protocol):
    """Where a test stands, whoever computed it."""

    @property
    def status(self) -> VerdictStatus:
        """What the last boundary crossed made of the belief."""
        ...

    @property
    def log_ratio(self) -> float:
        """The sum of what was said."""
        ...


def evidence_strength(e: Evidence) -> float:
    """Return the strength of an event in [0.1, 0.9]; that of an observation is at least 1/2."""
    own = e.strength if e.strength is not None else (1 + e.weight * e.confidence) / 2
    return min(max(own, WEAKEST), STRONGEST)


def needed(verdict: SprtState, bounds: SprtParameters = STANDARD_TEST) -> EvidenceNeeded:
    """Return how much more evidence would promote the belief, and how much would demote it."""
    up = max(0.0, bounds.upper - verdict.log_ratio)
    down = max(0.0, verdict.log_ratio - bounds.lower)
    if verdict.status is VerdictStatus.PROMOTED:
        up = 0.0
    elif verdict.status is VerdictStatus.DEMOTED:
        down = 0.0
    return EvidenceNeeded(promote=up, demote=down, promote_pieces=_pieces(up), demote_pieces=_pieces(down))


def _pieces(log_units: float) -> int:
    return math.ceil(log_units / math.log(STRONGEST / (1 - STRONGEST)) - TOLERANCE)
