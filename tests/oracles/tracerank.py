"""TraceRank: the value of a repeated statement at a given time.

Oracle of cypher/fragments/trace_fold.cypher.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from graphmem.model.recall import TraceRank
from graphmem.rules.formulas import STANDARD_TRACE

TRACE_WINDOW = timedelta(hours=24)
"""Time after a full event within which further events form a burst."""
BURST_BASE = 0.1
"""Base of the weights in a burst: the j-th event adds BURST_BASE^j, a thousand together a ninth."""
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Contribution:
    """Contribution of one event to the trace."""

    at: datetime
    burst: float
    """Weight: 1 for a full event, 0.1^j for the j-th event of a burst."""
    spacing: float
    """Factor 1 + b ln(1 + days since the previous full event), >= 1."""


def trace_contributions(
    instants: Iterable[datetime], by: TraceRank = STANDARD_TRACE
) -> list[Contribution]:
    """Return the contribution of each event before decay, oldest first."""
    contributions: list[Contribution] = []
    full_at: datetime | None = None
    burst_index = 0
    for at in sorted(instants):
        if full_at is not None and at - full_at < TRACE_WINDOW:
            burst_index += 1
            contributions.append(Contribution(at, BURST_BASE**burst_index, 1.0))
            continue
        gap = (at - full_at) / _DAY if full_at is not None else 0.0
        contributions.append(Contribution(at, 1.0, 1 + by.spacing * math.log1p(gap)))
        full_at, burst_index = at, 0
    return contributions


@dataclass(frozen=True, slots=True)
class State:
    """State of a trace: everything that its future depends on."""

    trace: float = 0.0
    """Trace right after the last event, >= 0."""
    at: datetime | None = None
    """Time of the last event."""
    full_at: datetime | None = None
    """Time of the last full event."""
    burst: int = 0
    """Number of events since the last full event."""


def trace(instants: Iterable[datetime], now: datetime, by: TraceRank = STANDARD_TRACE) -> float:
    """Return the trace at `now`, >= 0; later events are ignored.

    The sum of e^(-(now - t) / tau) * burst * spacing over the events.
    """
    seen = [at for at in instants if at <= now]
    return math.fsum(
        c.burst * c.spacing * math.exp(-(now - c.at) / _DAY / by.tau_days)
        for c in trace_contributions(seen, by)
    )


def continued(state: State, instants: Sequence[datetime], by: TraceRank = STANDARD_TRACE) -> State:
    """Return the state after events that are not older than the last one of `state`.

    Because recency is exponential, the previous sum decays as a whole.
    """
    for at in sorted(instants):
        faded = state.trace * math.exp(-(at - state.at) / _DAY / by.tau_days) if state.at else 0.0
        if state.full_at is None or at - state.full_at >= TRACE_WINDOW:
            gap = (at - state.full_at) / _DAY if state.full_at is not None else 0.0
            state = State(faded + 1 + by.spacing * math.log1p(gap), at, at, 0)
        else:
            burst = state.burst + 1
            state = State(faded + BURST_BASE**burst, at, state.full_at, burst)
    return state
