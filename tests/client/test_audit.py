"""What agents did in their sessions, and what of it was against the protocol."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from graphmem import Handle
from graphmem.testing import FrozenClock
from graphmem.usage import Severity, auditing
from tests.plugins.clients import Door
from tests.plugins.texts import unlike


def test_sessions_are_counted_and_what_was_wrong_is_found(door: Door, memory: Handle) -> None:
    now = datetime.now(UTC)
    clock = FrozenClock(now)
    memory = door.on(memory, clock=clock)
    known = str(memory.remember(unlike(1)).memory_id)
    with memory.session("good", agent="planner") as session:
        session.recall(unlike(1))
        clock.advance(timedelta(seconds=1))
        session.expand(known)
        clock.advance(timedelta(minutes=1))
    with memory.scope("alice").session("blind") as session:
        session.expand(known)
    memory.usage.log_search("how does the billing retry work?", tool="grep", results=[known])
    memory.usage.log_access("file", "a.py")
    found = memory.scope("alice").usage.audit()
    blind, good = found.sessions
    assert (good.session_id, good.agent, good.scope) == ("good", "planner", "global")
    assert (good.searches, good.accesses, good.lost) == (1, 1, 0)
    assert good.ended_at is not None
    assert good.ended_at - good.started_at == timedelta(seconds=61)
    assert (blind.session_id, blind.agent, blind.scope) == ("blind", None, "alice")
    assert (blind.searches, blind.accesses, blind.lost) == (0, 1, 0)
    assert [(one.code, one.severity) for one in found.findings] == [
        ("access_without_session", Severity.ERROR),
        ("search_without_session", Severity.ERROR),
        ("access_without_search", Severity.WARNING),
        ("keyword_for_concept", Severity.WARNING),
    ]
    assert found.findings[2].ids == ("blind", known)
    # Another scope's sessions are not seen, and one session alone is looked at by its name.
    assert [one.session_id for one in memory.usage.audit().sessions] == ["good"]
    alone = memory.usage.audit(session_id="good")
    assert (len(alone.sessions), alone.findings) == (1, ())
    assert memory.usage.audit(session_id="nobody") == alone.model_copy(update={"sessions": ()})


def test_a_session_that_goes_on_is_found_when_it_was_forgotten(door: Door, memory: Handle) -> None:
    now = datetime.now(UTC)
    memory = door.on(memory, clock=FrozenClock(now))
    memory.session("forgotten").recall(unlike(1))
    [one] = memory.usage.audit().sessions
    assert (one.ended_at, one.lost) == (None, None)
    assert memory.usage.audit().findings == ()
    late = door.on(memory, clock=FrozenClock(now + timedelta(hours=25)))
    assert [finding.code for finding in late.usage.audit().findings] == ["session_not_ended"]
    assert late.usage.rate().abandoned == 1
    [one] = late.usage.audit().sessions
    assert one.ended_at is not None
    assert (one.ended_at - now, one.lost) == (timedelta(0), None)
    assert late.usage.audit().findings == ()
    # Only what was recorded in the time is read.
    assert door.on(memory, clock=FrozenClock(now + timedelta(days=9))).usage.audit().sessions == ()


def test_pages_are_read_to_the_end(memory: Handle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "AUDIT_PAGE", 2)
    for n in range(5):
        with memory.session(f"s{n}") as session:
            session.recall(unlike(n))
        memory.recall(unlike(n))
    found = memory.usage.audit()
    assert [one.session_id for one in found.sessions] == ["s4", "s3", "s2", "s1", "s0"]
    assert [len(one.ids) for one in found.findings] == [5]


def test_what_is_lost_is_counted(memory: Handle) -> None:
    with memory.session("s") as session:
        for n in range(3):
            session.recall(unlike(n))
        # As if the client had given one up.
        log = session._state.accesses
        log.written([log.waiting()[2]])
    assert [(one.searches, one.lost) for one in memory.usage.audit().sessions] == [(2, 1)]
