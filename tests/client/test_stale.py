"""Current memories that nobody has said for long, by either client."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import neo4j
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Handle, NewMemory, Status
from graphmem.graph import catalog
from graphmem.graph.catalog import LANGUAGE, in_one_map
from graphmem.model import MemoryReasons, StaleMemory
from graphmem.testing import FrozenClock
from tests.plugins.clients import Door, on_tenant
from tests.plugins.examples import few
from tests.plugins.graph import fresh_tenant
from tests.plugins.histories import clocked
from tests.plugins.texts import WINDOW, unlike

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def day(n: float) -> datetime:
    return MAY + timedelta(days=n)


def at(door: Door, memory: Handle, n: float) -> Handle:
    """The same handle on a day."""
    return door.on(memory, clock=FrozenClock(day(n)))


def contents(memory: Handle, days: int = 90) -> list[str]:
    return [one.memory.content for one in memory.memories.stale(days=days, limit=1_000).memories]


def test_what_was_last_said_longest_ago_comes_first(door: Door, memory: Handle) -> None:
    for n, when in ((1, 5), (2, 0), (3, 9)):
        memory.remember(unlike(n), at=day(when))
    memory.remember(unlike(2), at=day(7))
    today = at(door, memory, 100)
    assert contents(today) == [unlike(1), unlike(2), unlike(3)]
    [first, second, _] = today.memories.stale().memories
    assert [one.days for one in (first, second)] == [95.0, 93.0]
    assert second.memory.reinforce_count == 1
    for one in today.memories.stale().memories:
        found = today.memories.get(one.memory.id)
        assert one.memory == found.model_copy(update={"trust": None})


def test_longer_ago_is_longer_to_the_microsecond(door: Door, memory: Handle) -> None:
    memory.remember(unlike(1), at=MAY)
    memory.remember(unlike(2), at=MAY - MICROSECOND)
    assert contents(at(door, memory, 90)) == [unlike(2)]
    assert contents(at(door, memory, 91)) == [unlike(2), unlike(1)]
    assert contents(at(door, memory, 91), days=92) == []
    assert contents(at(door, memory, 36_500), days=36_500) == [unlike(2)]


def test_what_is_hidden_is_not_looked_for(door: Door, memory: Handle) -> None:
    old = str(memory.remember(unlike(1), at=MAY).memory_id)
    memory.supersede(old, unlike(2), at=MAY)
    gone = str(memory.remember(unlike(3), at=MAY).memory_id)
    memory.memories.deprecate(gone, at=MAY)
    assert contents(at(door, memory, 100)) == [unlike(2)]
    memory.memories.restore(gone, at=MAY + MICROSECOND)
    assert set(contents(at(door, memory, 100))) == {unlike(2), unlike(3)}


def test_a_word_of_another_scope_counts_for_who_sees_it(door: Door, memory: Handle) -> None:
    for n in (1, 2, 3):
        memory.remember(unlike(n), at=day(n))
    alice, bob = memory.scope("alice"), memory.scope("bob")
    alice.remember(unlike(1), at=day(2.5))
    alice.remember(unlike(2), at=day(50))
    bob.remember(unlike(3), at=day(-9))
    everything = [unlike(1), unlike(2), unlike(3)]
    assert contents(at(door, memory, 100)) == everything
    assert contents(at(door, bob, 100)) == everything
    hers = at(door, alice, 100).memories.stale().memories
    assert [one.memory.content for one in hers] == [unlike(1), unlike(3)]
    assert [one.days for one in hers] == [97.5, 97.0]
    assert contents(at(door, alice, 141)) == [unlike(1), unlike(3), unlike(2)]


def test_what_is_not_seen_is_not_listed(door: Door, memory: Handle) -> None:
    memory.scope("alice").remember(unlike(1), at=MAY)
    today = at(door, memory, 100)
    assert contents(today.scope("alice")) == [unlike(1)]
    assert contents(today) == contents(today.scope("bob")) == []
    assert contents(on_tenant(today, fresh_tenant()).scope("alice")) == []


def test_it_says_which_claims_have_lost(door: Door, memory: Handle) -> None:
    memory.predicates.declare("works_on", cardinality="ONE", at=MAY)
    claim = ("alice", "works_on", "Borealis")
    done = memory.remember(unlike(1), claims=[claim, ("alice", "likes", "tea")], at=MAY)
    memory.remember(unlike(2), at=MAY)
    lost = next(b for b in done.belief_ids if memory.beliefs.get(b).object == "Borealis")
    today = at(door, memory, 100)
    shown = {one.memory.content: one.memory.lost_ids for one in today.memories.stale().memories}
    assert shown == {unlike(1): (), unlike(2): None}
    memory.observe("alice", "works_on", "Atlas", at=day(99))
    shown = {one.memory.content: one.memory.lost_ids for one in today.memories.stale().memories}
    assert shown == {unlike(1): (lost,), unlike(2): None}


def test_what_is_contradicted_is_listed_whatever_its_age(door: Door, memory: Handle) -> None:
    memory.predicates.declare("works_on", cardinality="ONE", at=MAY)
    today = at(door, memory, 100)

    def shown() -> dict[str, tuple[str, ...]]:
        return {one.memory.content: one.reasons for one in today.memories.stale().memories}

    def add(n: int, claim: tuple[str, str, str], when: float) -> str:
        done = memory.remember(unlike(n), claims=[claim], at=day(when))
        return done.belief_ids[0]

    add(1, ("alice", "works_on", "Borealis"), 97)
    add(2, ("alice", "likes", "tea"), 98)
    coffee = add(3, ("alice", "likes", "coffee"), 1)
    add(4, ("alice", "likes", "milk"), 99)
    assert shown() == {unlike(3): ("age",)}
    memory.observe("alice", "works_on", "Atlas", at=day(99))
    for n in range(2):
        memory.observe("alice", "likes", "tea", kind="refuting", at=day(99 + n / 24))
    memory.beliefs.archive(coffee, at=day(99))
    assert shown() == {
        unlike(3): ("age", "contradicted"),
        unlike(1): ("contradicted",),
        unlike(2): ("unsupported",),
    }
    first = today.memories.stale(limit=1)
    second = today.memories.stale(limit=2, cursor=first.next_cursor)
    rest = today.memories.stale(limit=2, cursor=second.next_cursor)
    pages = [[one.memory.content for one in page.memories] for page in (first, second, rest)]
    assert pages == [[unlike(3)], [unlike(1), unlike(2)], []]


def test_a_page_goes_on_where_the_one_before_ended(door: Door, memory: Handle) -> None:
    memory.remember_many([NewMemory(content=unlike(n), at=day(n // 3)) for n in range(10)])
    memory.scope("alice").remember(unlike(0), at=day(1))
    today = at(door, memory.scope("alice"), 100)
    whole = [one.memory.id for one in today.memories.stale().memories]
    assert today.memories.stale().next_cursor is None
    seen: list[str] = []
    sizes: list[int] = []
    cursor = None
    while cursor or not sizes:
        page = today.memories.stale(limit=4, cursor=cursor)
        seen += [one.memory.id for one in page.memories]
        sizes.append(len(page.memories))
        cursor = page.next_cursor
    assert (seen, sizes) == (whole, [4, 4, 2])


SAYINGS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(["global", "own", "other"]),
        # Few instants, so that many memories share theirs.
        st.integers(0, 6) | st.integers(0, 250),
    ),
    max_size=25,
)


@few
@given(sayings=SAYINGS, days=st.integers(1, 220), limit=st.integers(1, 4))
def test_pages_are_what_the_histories_say(
    plain: Handle, sayings: list[tuple[int, str, int]], days: int, limit: int
) -> None:
    """Against the histories that the reader sees, one by one."""
    tenant = on_tenant(plain, fresh_tenant())
    for name in ("global", "own", "other"):
        told = [
            NewMemory(content=unlike(n), at=day(at)) for n, scope, at in sayings if scope == name
        ]
        tenant.scope(name).remember_many(told)
    reader = clocked(tenant.scope("own"), day(200))
    until = day(200 - days)
    expected = []
    for memory in reader.memories.list(limit=1_000).memories:
        said = [e for e in reader.memories.history(memory.id) if e.type != "RESTORE"]
        last = max(e.occurred_at for e in said)
        assert memory.last_seen_at == last
        if last < until:
            expected.append((last, memory.id))
    found: list[StaleMemory] = []
    cursor = None
    while True:
        page = reader.memories.stale(days=days, limit=limit, cursor=cursor)
        found += page.memories
        cursor = page.next_cursor
        if cursor is None:
            break
    assert [(one.memory.last_seen_at, one.memory.id) for one in found] == sorted(expected)
    for one in found:
        why = reader.why(one.memory.id)
        assert isinstance(why, MemoryReasons)
        assert one.trace == pytest.approx(why.trace.trace, abs=1e-9)
        assert one.days == (day(200) - one.memory.last_seen_at) / timedelta(days=1)
        assert one.memory.status is Status.CURRENT


def test_a_cursor_beyond_the_end_gives_nothing(door: Door, memory: Handle) -> None:
    memory.remember(WINDOW, at=MAY)
    cursor = at(door, memory, 100).memories.stale(limit=1).next_cursor
    assert at(door, memory, 100).memories.stale(cursor=cursor).memories == ()
    # By then it is no longer stale, and neither is anything before it.
    assert at(door, memory, 10).memories.stale(cursor=cursor).memories == ()


def test_memories_are_found_by_when_they_were_last_said(session: neo4j.Session) -> None:
    """In the order of the index, so that no more of it is read than the page needs."""
    text = neo4j.Query(f"{LANGUAGE}EXPLAIN {in_one_map(catalog.query('usage/stale', dict))}")
    plan = session.run(text).consume().plan
    assert plan is not None
    found = list(operators(plan))
    seeks = [str(o["args"].get("Details")) for o in found if o["operatorType"].startswith("Node")]
    assert len([s for s in seeks if ":Memory(tenant, scope, status, trace_at)" in s]) == 2, seeks
    assert any(o["operatorType"].startswith("PartialTop") for o in found)


def operators(plan: Any) -> Iterator[Any]:
    yield plan
    for child in plan.get("children", ()):
        yield from operators(child)
