"""Report the five goals of the ratings on one's own log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from graphmem import Handle
from graphmem.model import Tier
from graphmem.rules import rating
from graphmem.testing import FrozenClock
from graphmem.usage import Pack, UsageGoal, goals
from tests.plugins.clients import on

MAY = datetime(2026, 5, 5, tzinfo=UTC)
EMPTY = Pack(
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


def test_a_rating_is_high_until_it_decays_below(plain: Handle) -> None:
    clock = FrozenClock(MAY)
    settings = plain._state.context.services.settings
    limits = settings.rating.model_copy(update={"high": 1_205.0})
    memory = on(plain, clock=clock, settings=settings.model_copy(update={"rating": limits}))

    def session(*opened: str) -> None:
        with memory.session("s") as log:
            for one in opened or ("",):
                found = [("file", name) for name in ("a", "b", "c")]
                log.usage.log_search("where?", tool="grep", results=found)
                if one:
                    log.usage.log_access("file", one)
                clock.advance(timedelta(minutes=1))
        memory.usage.rate()

    session("a")
    session("a", "a", "a", "a")
    clock.advance(timedelta(days=6))
    session("b")
    session()
    # In the second session a was HIGH after 16 points of the first; six days later it was opened
    # last, and a lost game is not an opening.
    assert memory.usage.ratings(tier=Tier.HIGH) == ()
    _, opened, top, _, _ = by_name(memory)
    assert opened.curve == ((1, 1.0), (2, 1.0), (3, 0.0), (4, 0.0))
    assert top.curve == ((1, 0.0), (2, 1 / 3), (3, 0.0), (4, 0.0))


def test_a_large_log_is_not_small_short_term_memory() -> None:
    assert goals.measured([], (), rating.STANDARD, EMPTY, 11e9).goals[-1].reached is False
