"""Report the five goals of the ratings on one's own log."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graphmem import Handle
from graphmem.rules import rating
from graphmem.usage import Pack, UsageGoal, goals

MAY = datetime(2026, 5, 5, tzinfo=UTC)


def chat(memory: Handle, sessions: range, opened: str = "a") -> None:
    """Search the same three files in each session, and open one."""
    for n in sessions:
        with memory.session(f"s{n}") as session:
            found = [("file", name) for name in ("a", "b", "c")]
            session.usage.log_search("where?", tool="grep", results=found)
            session.usage.log_access("file", opened)
    memory.usage.rate()


def by_name(memory: Handle) -> list[UsageGoal]:
    """Return the goals; the first three have curves."""
    found = memory.usage.goals().goals
    assert len(found) == 5
    return list(found)


def test_nothing_is_reached_without_a_log(plain: Handle) -> None:
    moved, opened, top, pack, size = by_name(plain)
    assert [one.value for one in (moved, opened, top, pack)] == [None] * 4
    assert [one.reached for one in (moved, opened, top, pack)] == [None] * 4
    assert all(one.reason for one in (moved, opened, top, pack))
    assert size.reached


def test_each_goal_has_its_value_and_curve(plain: Handle) -> None:
    chat(plain, range(20))
    found = plain.usage.goals()
    assert found.sessions == 20
    moved, opened, top, pack, size = found.goals
    assert bool(pack.reason) is not pack.reached
    assert [n for n, _ in opened.curve] == list(range(2, 21, 2))
    assert [n for n, _ in moved.curve] == list(range(4, 21, 2))
    # The one opened file moves ever less, but a hundred sessions are asked for.
    assert moved.curve[-1][1] < moved.curve[0][1]
    assert (moved.reached, moved.reason) == (None, "20 of 100 sessions")
    assert (opened.value, opened.reached) == (0.0, False)
    assert "HIGH begins at 1,600" in opened.reason
    assert (top.value, top.reached) == (0.0, False)
    assert pack.value is not None
    assert size.value is not None
    assert 0 < size.value < 1e6
    # Another scope's log is not read, and what is not rated does not count.
    chat(plain.scope("alice"), range(3), "b")
    with plain.session("open") as session:
        session.usage.log_access("file", "a")
        assert plain.usage.goals().sessions == 20
    assert plain.scope("alice").usage.goals().sessions == 23


@pytest.mark.parametrize(("high", "share"), [(1_201.0, 1.0), (1_210.0, 0.0)])
def test_the_tier_is_that_of_the_time(high: float, share: float) -> None:
    sessions = [
        {
            "searches": [
                {"at": MAY, "top": ["a", "b"], "changes": [{"id": "a", "after": 1_208.0}]},
                {"at": MAY, "top": ["a", "b"], "changes": []},
            ],
            "opened": [{"id": "a", "at": MAY}],
        }
    ]
    empty = Pack(
        text="",
        items=(),
        budget=1,
        tokens=0,
        overflow=0,
        whole_tokens=0,
        saved_tokens=0,
        saved_share=0.0,
        counted_by="",
        blocked_paths=(),
    )
    found = goals.measured(sessions, rating.Rating(high=high), empty, 11e9)
    _, opened, top, _, size = found.goals
    assert opened.curve == ((1, share),)
    # Of four results shown, one was HIGH at its time.
    assert top.value == share / 4
    assert size.reached is False
