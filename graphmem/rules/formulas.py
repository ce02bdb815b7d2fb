"""Constants and small formulas of beliefs: projection, sequential test, TraceRank and vitality."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from graphmem.model.belief import EvidenceNeeded, VerdictStatus
from graphmem.model.recall import TraceRank


@dataclass(frozen=True, slots=True)
class Evidence:
    """One event for or against a claim, as the projections see it."""

    id: str
    claim: str
    polarity: int
    """+1 or -1."""
    confidence: float
    """In [0, 1]."""
    weight: float
    """Of its source, in (0, 1]."""
    episode: str | None
    """None: an episode of its own."""
    at: datetime
    """When it happened."""
    strength: float | None = None
    """What it says in the sequential test, where that was given; see `rules.sequential`."""


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
    return EvidenceNeeded(
        promote=up, demote=down, promote_pieces=_pieces(up), demote_pieces=_pieces(down)
    )


def _pieces(log_units: float) -> int:
    return math.ceil(log_units / math.log(STRONGEST / (1 - STRONGEST)) - TOLERANCE)


TRACE_WINDOW = timedelta(hours=24)
"""What follows a full event within it is a burst."""
BURST = 0.1
"""The j-th event of a burst counts this to the power of j: a thousand together add a ninth."""
STANDARD_TRACE = TraceRank()
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one event adds to the trace."""

    at: datetime
    burst: float
    """1 for a full event, else 0.1^j."""
    spacing: float
    """1 + b ln(1 + days since the full event before), >= 1."""


def contributions(
    instants: Iterable[datetime], by: TraceRank = STANDARD_TRACE
) -> list[Contribution]:
    """Return what each event adds, oldest first, before it fades."""
    found: list[Contribution] = []
    full_at: datetime | None = None
    place = 0
    for at in sorted(instants):
        if full_at is not None and at - full_at < TRACE_WINDOW:
            place += 1
            found.append(Contribution(at, BURST**place, 1.0))
            continue
        gap = (at - full_at) / _DAY if full_at is not None else 0.0
        found.append(Contribution(at, 1.0, 1 + by.spacing * math.log1p(gap)))
        full_at, place = at, 0
    return found


def final(similarity: float, traced: float, by: TraceRank = STANDARD_TRACE) -> float:
    """Return max(similarity, 0) * (1 + k ln(1 + trace))."""
    return max(similarity, 0.0) * (1 + by.weight * math.log1p(traced))


def trace_params(by: TraceRank) -> dict[str, Any]:
    """Return the terms of a trace as a query is given them."""
    kept = (by.tau_days, by.spacing) == (STANDARD_TRACE.tau_days, STANDARD_TRACE.spacing)
    return {**by.model_dump(), "kept": kept}


def retold(said: Mapping[str, Sequence[str] | None]) -> dict[str, Any]:
    """Return what cache/retrace.cypher is given, beside the tenant.

    Args:
        said: ids of the events just written, by memory; None looks at all of its events anew.
    """
    rows = [{"id": memory_id, "event_ids": ids} for memory_id, ids in said.items()]
    return {"trace": trace_params(STANDARD_TRACE), "memories": rows}


@dataclass(frozen=True)
class VitalityConstants:
    """The constants, as a query is given them: design §7 and §13 where nothing else is said."""

    first_days: float = 1.0
    """S at the first retrieval, and the least there is, days."""
    most_days: float = 365.0
    """S at most, days."""
    flagged: float = 0.5
    """What a FLAG leaves of S."""
    neutral: float = 0.5
    """The importance that changes nothing; that of an episode unless it is given."""
    stretch: float = 4.0
    """R fades with S * stretch^(importance - neutral): 1 doubles S, 0 halves it. Ours."""
    prior_precision: float = 1.0
    """Of the initial confidence: it counts as one certain piece of evidence. Ours."""
    gate_base: float = 0.3
    gate_least: float = 0.1
    gate_most: float = 0.9
    consolidation: str = "consolidation"
    """The `source` of events that consolidation writes."""


STANDARD_VITALITY = VitalityConstants()
VITALITY_WINDOW = timedelta(hours=6)
"""After a look at a belief a contradiction needs no great error: how long a retrieved memory stays
open to change in Nader's experiments."""
LEAST_RETRIEVAL = 0.05
"""What was only inferred and comes to mind less easily stays out of a context: three time constants
without a look or support. What somebody told is never kept out: that would be forgetting it."""


def vitality_record(e: Evidence) -> float:
    """Return what a piece of evidence says the belief is, in [0, 1]."""
    strength = evidence_strength(e)
    return strength if e.polarity > 0 else 1 - strength


def prediction_error(e: Evidence, mean: float) -> float:
    """Return how far a piece of evidence lies from what was expected, in [0, 1]."""
    return abs(vitality_record(e) - mean)


def destabilises(
    error: float, threshold: float, at: datetime, last_access: datetime | None
) -> bool:
    """Return whether a contradiction unsettles a belief, so that it is flagged for revision.

    Args:
        error: the prediction error of the contradiction.
        threshold: the gate before it.
        at: when it happened.
        last_access: the last look at the belief then or before.
    """
    is_open = last_access is not None and timedelta(0) <= at - last_access <= VITALITY_WINDOW
    return is_open or error > threshold


def vitality_params(by: VitalityConstants = STANDARD_VITALITY) -> dict[str, Any]:
    """Return the constants as a query is given them."""
    return asdict(by)
