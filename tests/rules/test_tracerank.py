"""TraceRank by hand, and its state against its sum."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import TraceRank
from graphmem.rules import formulas
from tests.oracles import tracerank as tracerank_oracle
from tests.oracles.tracerank import State

NOW = datetime(2025, 5, 5, 9, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)

ago = st.one_of(
    st.sampled_from([0.0, 1.0, 23.999, 24.0, 24.001, 48.0, 21 * 24.0]),
    st.floats(0, 24_000, allow_subnormal=False),
).map(lambda hours: NOW - timedelta(hours=hours))
histories = st.lists(ago, max_size=30)
terms = st.builds(
    TraceRank, tau_days=st.sampled_from([0.5, 21.0, 400.0]), spacing=st.sampled_from([0.0, 0.1, 2])
)


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


@given(history=histories, place=st.integers(0, 30), by=terms)
def test_the_state_says_what_the_sum_says(
    history: list[datetime], place: int, by: TraceRank
) -> None:
    inorder = sorted(history)
    state = tracerank_oracle.continued(State(), inorder[:place], by)
    state = tracerank_oracle.continued(state, inorder[place:], by)
    assert state.at == (inorder[-1] if inorder else None)
    faded = math.exp(-((NOW - state.at) / DAY) / by.tau_days) if state.at else 0
    assert state.trace * faded == pytest.approx(tracerank_oracle.trace(history, NOW, by), abs=1e-9)


@given(history=histories, by=terms, data=st.data())
def test_order_does_not_matter_and_the_future_is_not_seen(
    history: list[datetime], by: TraceRank, data: st.DataObject
) -> None:
    at = data.draw(ago)
    shuffled = data.draw(st.permutations(history))
    seen = [one for one in history if one <= at]
    assert tracerank_oracle.trace(shuffled, at, by) == tracerank_oracle.trace(seen, at, by)
    assert len(tracerank_oracle.trace_contributions(shuffled)) == len(history)


def test_the_window_the_burst_and_the_weight_of_imports_by_hand() -> None:
    hour = timedelta(hours=1)
    by = TraceRank(window_hours=2, burst=0.5, import_weight=0.25, spacing=0)
    times = [NOW - 5 * hour, NOW - 4 * hour, NOW - 3 * hour]
    found = tracerank_oracle.trace_contributions(times, by, imported=[times[0]])
    assert [(one.burst, one.weight) for one in found] == [(1, 0.25), (0.5, 1), (1, 1)]
    assert tracerank_oracle.trace(times, times[-1], by, imported=times[:1]) == pytest.approx(
        0.25 * math.exp(-2 / 24 / 21) + 0.5 * math.exp(-1 / 24 / 21) + 1
    )
