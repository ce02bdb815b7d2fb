"""Constants and small formulas of beliefs: projection, sequential test and TraceRank."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from graphmem.model.belief import EvidenceNeeded, VerdictStatus
from graphmem.model.policies import SprtParameters
from graphmem.model.recall import TraceRank
from graphmem.rules.vitality import STANDARD_VITALITY, VitalityConstants

MIN_STRENGTH = 0.1
MAX_STRENGTH = 0.9
"""Bounds to which a strength is clamped, so that no single event decides."""
TOLERANCE = 1e-12
"""Distance from which a boundary counts as crossed, so that rounding does not decide."""

STANDARD_TEST = SprtParameters()

STANDARD_TRACE = TraceRank()


@dataclass(frozen=True, slots=True)
class Evidence:
    """One event for or against a claim, as input to the projections."""

    id: str
    claim: str
    polarity: int
    """+1 for support, -1 for refutation."""
    confidence: float
    """Confidence, in [0, 1]."""
    weight: float
    """Weight of its source, in (0, 1]."""
    episode: str | None
    """Id of the episode; None counts as an episode of its own."""
    at: datetime
    """Time at which it occurred."""
    strength: float | None = None
    """Strength in the sequential test, if one was given; see `evidence_strength`."""


class SprtState(Protocol):
    """State of a test, however it was computed."""

    @property
    def status(self) -> VerdictStatus:
        """Status after the last boundary crossed."""
        ...

    @property
    def log_ratio(self) -> float:
        """Sum of the log ratios of the evidence."""
        ...


def clamp_strength(strength: float) -> float:
    """Return a strength clamped to [0.1, 0.9], as used by the sequential test."""
    return min(max(strength, MIN_STRENGTH), MAX_STRENGTH)


def evidence_needed(verdict: SprtState, bounds: SprtParameters = STANDARD_TEST) -> EvidenceNeeded:
    """Return the evidence still needed to promote the belief, and to demote it."""
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
    return math.ceil(log_units / math.log(MAX_STRENGTH / (1 - MAX_STRENGTH)) - TOLERANCE)


def trace_score(similarity: float, traced: float, by: TraceRank = STANDARD_TRACE) -> float:
    """Return max(similarity, 0) * (1 + k ln(1 + trace))."""
    return max(similarity, 0.0) * (1 + by.weight * math.log1p(traced))


def trace_params(by: TraceRank) -> dict[str, Any]:
    """Return the parameters of a trace for a query."""
    is_standard = by.model_copy(update={"weight": STANDARD_TRACE.weight}) == STANDARD_TRACE
    return {**by.model_dump(), "kept": is_standard}


def retrace_params(written: Mapping[str, Sequence[str] | None]) -> dict[str, Any]:
    """Return the parameters of cache/retrace.cypher, without the tenant.

    Args:
        written: ids of the events just written, by memory; None to read all its events again.
    """
    rows = [{"id": memory_id, "event_ids": ids} for memory_id, ids in written.items()]
    return {"trace": trace_params(STANDARD_TRACE), "memories": rows}


def refutation(evidence: Iterable[Evidence]) -> float:
    """Return the degree to which pieces of evidence refute, pooled as in a projection.

    An episode counts once, by its strongest piece.
    """
    terms: dict[tuple[str | None, str], float] = {}
    for e in evidence:
        key = e.episode, "" if e.episode is not None else e.id
        terms[key] = min(terms.get(key, 0.0), e.weight * math.log1p(-min(e.confidence, 1 - 1e-9)))
    return -math.expm1(math.fsum(terms.values()))


def is_destabilised(
    error: float,
    threshold: float,
    since_access: timedelta | None,
    by: VitalityConstants = STANDARD_VITALITY,
) -> bool:
    """Return whether contradictions unsettle a belief, so that it is flagged for revision.

    Args:
        error: prior belief times the pooled contradiction.
        threshold: the gate.
        since_access: time from the last `expand` to the contradiction; None without one before.
        by: the constants.
    """
    window = timedelta(hours=by.gate_window_hours)
    is_open = since_access is not None and timedelta(0) <= since_access <= window
    return error > threshold + TOLERANCE or (is_open and error > TOLERANCE)
