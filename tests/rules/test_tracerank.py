"""TraceRank by hand, and its state against its sum."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from graphmem.model import TraceRank
from graphmem.rules import formulas
from tests.oracles import tracerank as tracerank_oracle

NOW = datetime(2025, 5, 5, 9, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def past(*days: float) -> list[datetime]:
    return [NOW - timedelta(days=one) for one in days]


def test_by_hand() -> None:
    assert tracerank_oracle.trace([], NOW) == 0
    assert tracerank_oracle.trace(past(0), NOW) == 1
    assert tracerank_oracle.trace(past(21), NOW) == pytest.approx(math.exp(-1))
    spaced = 1 + 0.1 * math.log(22)
    expected = math.exp(-2) + (math.exp(-1) + 1) * spaced
    assert tracerank_oracle.trace(past(0, 21, 42), NOW) == pytest.approx(expected)
    assert formulas.trace_score(0.5, 1.0) == pytest.approx(0.5 * (1 + 0.35 * math.log(2)))
    assert formulas.trace_score(-0.5, 1.0) == 0


def test_a_burst_counts_less_than_a_few_times_over_weeks() -> None:
    two_minutes = [NOW - timedelta(seconds=30 * n) for n in range(5)]
    assert tracerank_oracle.trace(two_minutes, NOW) < tracerank_oracle.trace(past(0, 21, 42), NOW)
    a_minute = [NOW - timedelta(seconds=0.06 * n) for n in range(1_000)]
    assert tracerank_oracle.trace(a_minute, NOW) < tracerank_oracle.trace(past(0, 1), NOW)
    assert tracerank_oracle.trace(a_minute, NOW) == pytest.approx(1 + 1 / 9, abs=1e-4)


def test_a_day_after_the_last_full_event_is_full_again() -> None:
    """Not a day after the last event: otherwise one an hour would be one burst for ever."""
    hourly = [NOW - n * HOUR for n in range(49)]
    assert [one.burst for one in tracerank_oracle.trace_contributions(hourly)].count(1.0) == 3
    assert [one.burst for one in tracerank_oracle.trace_contributions([NOW - DAY, NOW])] == [1, 1]
    nearly = [NOW - DAY + timedelta(microseconds=1), NOW]
    assert [one.burst for one in tracerank_oracle.trace_contributions(nearly)] == [1, 0.1]


def test_the_window_the_burst_and_the_weight_of_imports_by_hand() -> None:
    hour = timedelta(hours=1)
    by = TraceRank(window_hours=2, burst=0.5, import_weight=0.25, spacing=0)
    times = [NOW - 5 * hour, NOW - 4 * hour, NOW - 3 * hour]
    found = tracerank_oracle.trace_contributions(times, by, imported=[times[0]])
    assert [(one.burst, one.weight) for one in found] == [(1, 0.25), (0.5, 1), (1, 1)]
    assert tracerank_oracle.trace(times, times[-1], by, imported=times[:1]) == pytest.approx(
        0.25 * math.exp(-2 / 24 / 21) + 0.5 * math.exp(-1 / 24 / 21) + 1
    )
