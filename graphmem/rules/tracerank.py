"""TraceRank: how much it counts that something was said again and again, at an instant.

Cypher folds it in cypher/fragments/trace_fold.cypher; here are its constants and its last step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from graphmem.model.recall import TraceRank

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


def contributions(instants: Iterable[datetime], by: TraceRank = STANDARD_TRACE) -> list[Contribution]:
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
