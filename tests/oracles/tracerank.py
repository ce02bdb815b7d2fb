"""TraceRank: the value of a repeated statement at a given time.

Oracle of cypher/fragments/trace_fold.cypher.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from graphmem.model.recall import TraceRank
from graphmem.rules.formulas import STANDARD_TRACE

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Contribution:
    """Contribution of one event to the trace."""

    at: datetime
    burst: float
    """Weight: 1 for a full event, 0.1^j for the j-th event of a burst."""
    spacing: float
    """Factor 1 + b ln(1 + days since the previous full event), >= 1."""
    weight: float = 1.0
    """Weight of the event: that of imports, or 1."""


def trace_contributions(
    instants: Iterable[datetime],
    by: TraceRank = STANDARD_TRACE,
    imported: Collection[datetime] = (),
) -> list[Contribution]:
    """Return the contribution of each event before decay, oldest first.

    Args:
        instants: times of the events.
        by: the constants.
        imported: times of those that are IMPORT events.
    """
    contributions: list[Contribution] = []
    full_at: datetime | None = None
    burst_index = 0
    for at in sorted(instants):
        weight = by.import_weight if at in imported else 1.0
        if full_at is not None and at - full_at < timedelta(hours=by.window_hours):
            burst_index += 1
            contributions.append(Contribution(at, by.burst**burst_index, 1.0, weight))
            continue
        gap = (at - full_at) / _DAY if full_at is not None else 0.0
        contributions.append(Contribution(at, 1.0, 1 + by.spacing * math.log1p(gap), weight))
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


def trace(
    instants: Iterable[datetime],
    now: datetime,
    by: TraceRank = STANDARD_TRACE,
    imported: Collection[datetime] = (),
) -> float:
    """Return the trace at `now`, >= 0; later events are ignored.

    The sum of e^(-(now - t) / tau) * burst * spacing * weight over the events.
    """
    seen = [at for at in instants if at <= now]
    return math.fsum(
        c.burst * c.spacing * c.weight * math.exp(-(now - c.at) / _DAY / by.tau_days)
        for c in trace_contributions(seen, by, imported)
    )


def continued(state: State, instants: Sequence[datetime], by: TraceRank = STANDARD_TRACE) -> State:
    """Return the state after events that are not older than the last one of `state`.

    Because recency is exponential, the previous sum decays as a whole.
    """
    for at in sorted(instants):
        faded = state.trace * math.exp(-(at - state.at) / _DAY / by.tau_days) if state.at else 0.0
        if state.full_at is None or at - state.full_at >= timedelta(hours=by.window_hours):
            gap = (at - state.full_at) / _DAY if state.full_at is not None else 0.0
            state = State(faded + 1 + by.spacing * math.log1p(gap), at, at, 0)
        else:
            burst = state.burst + 1
            state = State(faded + by.burst**burst, at, state.full_at, burst)
    return state
