"""supersede, deprecate, restore, chain and history, by either client."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from graphmem import Handle, Outcome, Status
from graphmem.errors import (
    ContentRefusedError,
    EventConflictError,
    ForkedChainError,
    SelfSupersessionError,
)
from graphmem.model import Origin
from tests.plugins.graph import Look
from tests.plugins.texts import WINDOW, restated, unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)


def day(n: int) -> datetime:
    return MAY + timedelta(days=n)


def kept(memory: Handle, n: int, at: datetime = MAY) -> str:
    """Remember the n-th text and return its memory's id."""
    return str(memory.remember(unlike(n), at=at).memory_id)


def test_supersede_puts_a_text_in_the_place_of_another(memory: Handle) -> None:
    older = kept(memory, 1)

    done = memory.supersede(
        older,
        unlike(2),
        reason="moved",
        at=day(3),
        tags=["t"],
        origin=Origin(source="hook", actor="alice"),
    )

    assert (done.older_id, done.reason) == (older, "moved")
    old, new = memory.memories.get(older), memory.memories.get(done.newer_id)
    assert (old.status, old.head_ids) == (Status.SUPERSEDED, (new.id,))
    assert (new.status, new.head_ids, new.content) == (Status.CURRENT, (), unlike(2))
    assert (new.created_at, new.tags, new.reinforce_count) == (day(3), ("t",), 0)
    assert [e.type for e in memory.memories.history(older)] == ["ADD", "SUPERSEDE"]
    events = {e.type: e for e in memory.memories.history(new.id)}
    assert set(events) == {"ADD", "SUPERSEDE"}
    assert events["SUPERSEDE"].id == done.event_id
    assert events["SUPERSEDE"].payload["reason"] == "moved"
    assert (events["SUPERSEDE"].actor, events["ADD"].source) == ("alice", "hook")


def test_a_chain_is_the_same_seen_from_anywhere(memory: Handle) -> None:
    a = kept(memory, 1)
    b = memory.supersede(a, unlike(2), at=day(1)).newer_id
    c = memory.supersede(b, unlike(3), at=day(2)).newer_id
    lone = kept(memory, 4)

    chains = [memory.memories.chain(x) for x in (a, b, c)]

    assert chains[0] == chains[1] == chains[2]
    assert [m.id for m in chains[0].memories] == [a, b, c]
    assert chains[0].head_ids == (c,)
    assert [(x.newer_id, x.older_id, x.in_force) for x in chains[0].links] == [
        (b, a, True),
        (c, b, True),
    ]
    assert memory.memories.get(a).head_ids == (c,)
    alone = memory.memories.chain(lone)
    assert ([m.id for m in alone.memories], alone.links, alone.head_ids) == ([lone], (), (lone,))


def test_one_memory_may_replace_many_and_be_replaced_by_many(memory: Handle) -> None:
    a, b = kept(memory, 1), kept(memory, 2)
    joined = memory.supersede(a, unlike(3), at=day(1)).newer_id
    assert memory.supersede(b, unlike(3), at=day(1)).newer_id == joined
    left = memory.supersede(joined, unlike(4), at=day(2)).newer_id
    right = memory.supersede(joined, unlike(5), at=day(2), fork=True).newer_id

    assert set(memory.memories.chain(a).head_ids) == {left, right}
    assert memory.memories.get(b).head_ids == tuple(sorted((left, right)))
    with pytest.raises(ForkedChainError) as caught:
        memory.supersede(a, unlike(6), at=day(3))
    assert left in caught.value.hint
    assert right in caught.value.hint
    assert memory.supersede(right, unlike(6), at=day(3)).older_id == right


def test_an_earlier_version_stands_for_the_head_of_its_chain(
    memory: Handle, look: Look, tenant: str
) -> None:
    first = kept(memory, 1)
    second = memory.supersede(first, unlike(2), at=day(1)).newer_id

    done = memory.supersede(first, unlike(3), at=day(2), origin=Origin(event_id="s"))

    assert (done.older_id, done.requested_id) == (second, first)
    assert memory.memories.chain(first).head_ids == (done.newer_id,)
    current = [m.id for m in memory.memories.list().memories]
    assert current == [done.newer_id]
    before = look.events(tenant)
    assert memory.supersede(first, unlike(3), at=day(2), origin=Origin(event_id="s")) == done
    with pytest.raises(EventConflictError):
        memory.supersede(first, unlike(3), at=day(2), origin=Origin(event_id="s"), fork=True)
    with pytest.raises(SelfSupersessionError):
        memory.supersede(first, unlike(3), at=day(3))
    assert look.events(tenant) == before
    # The text of a version that is not the head is a change back.
    back = memory.supersede(second, unlike(1), at=day(4))
    assert (back.newer_id, back.older_id) == (first, done.newer_id)
    assert [m.id for m in memory.memories.list().memories] == [first]


def test_concurrent_corrections_of_one_memory_make_a_chain(plain: Handle) -> None:
    first = kept(plain, 1)
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda n: plain.supersede(first, unlike(n)), range(2, 8)))
    chain = plain.memories.chain(first)
    assert len({one.older_id for one in done}) == len(done)
    assert len(chain.head_ids) == 1
    assert len(plain.memories.list().memories) == 1


def test_a_value_stated_again_replaces_its_successor(memory: Handle) -> None:
    a = kept(memory, 1)
    b = memory.supersede(a, unlike(2), at=day(1)).newer_id

    again = memory.remember(unlike(1), at=day(2))

    assert (again.outcome, again.memory_id) == (Outcome.EXACT_DUPE, a)
    assert memory.memories.get(a).status is Status.CURRENT
    assert memory.memories.get(b).status is Status.SUPERSEDED
    assert {(x.newer_id, x.older_id): x.in_force for x in memory.memories.chain(a).links} == {
        (b, a): False,
        (a, b): True,
    }
    assert sorted(e.type for e in memory.memories.history(a)) == sorted(
        ["ADD", "SUPERSEDE", "REINFORCE_EXACT", "RESTORE", "SUPERSEDE"]
    )


def test_a_value_comes_back_by_superseding_its_successor(memory: Handle) -> None:
    a = kept(memory, 1)
    b = memory.supersede(a, unlike(2), at=day(1)).newer_id

    done = memory.supersede(b, unlike(1), at=day(2))

    assert done.newer_id == a
    assert (memory.memories.get(a).status, memory.memories.get(b).status) == (
        Status.CURRENT,
        Status.SUPERSEDED,
    )
    chain = memory.memories.chain(b)
    assert chain.head_ids == (a,)
    assert {(x.newer_id, x.older_id): x.in_force for x in chain.links} == {
        (b, a): False,
        (a, b): True,
    }
    assert memory.memories.get(b).head_ids == (a,)


def test_saying_it_earlier_does_not_bring_it_back(memory: Handle) -> None:
    """What is said to have happened before the correction does not outweigh it."""
    a = kept(memory, 1)
    memory.supersede(a, unlike(2), at=day(5))
    memory.remember(unlike(1), at=day(3))
    assert memory.memories.get(a).status is Status.SUPERSEDED
    assert all(x.in_force for x in memory.memories.chain(a).links)


def test_deprecate_and_restore(memory: Handle) -> None:
    a = kept(memory, 1)

    gone = memory.memories.deprecate(a, reason="wrong", at=day(1), origin=Origin(actor="bob"))
    assert memory.memories.get(a).status is Status.DEPRECATED
    assert memory.memories.get(a).head_ids == ()
    back = memory.memories.restore(a, reason="was right", at=day(2))
    assert memory.memories.get(a).status is Status.CURRENT

    events = {e.id: e for e in memory.memories.history(a)}
    assert (events[gone].type, events[gone].actor) == ("DEPRECATE", "bob")
    assert events[gone].payload == {"reason": "wrong"}
    assert (events[back].type, events[back].occurred_at) == ("RESTORE", day(2))
    assert memory.memories.get(a).reinforce_count == 0


def test_restore_ends_a_supersession(memory: Handle) -> None:
    a = kept(memory, 1)
    b = memory.supersede(a, unlike(2), at=day(1)).newer_id
    memory.memories.restore(a, at=day(2))
    assert {memory.memories.get(a).status, memory.memories.get(b).status} == {Status.CURRENT}
    assert set(memory.memories.chain(a).head_ids) == {a, b}


def test_the_newest_correction_counts_whenever_it_arrives(memory: Handle) -> None:
    a = kept(memory, 1)
    memory.memories.restore(a, at=day(9))
    memory.memories.deprecate(a, at=day(5))
    b = memory.supersede(a, unlike(2), at=day(7)).newer_id
    assert memory.memories.get(a).status is Status.CURRENT
    assert not memory.memories.chain(b).links[0].in_force


@pytest.mark.parametrize("largest", ["gone", "over", "back"])
@pytest.mark.parametrize("order", list(permutations(["gone", "over", "back"])), ids="-".join)
def test_at_one_instant_the_largest_id_counts_whenever_it_arrives(
    memory: Handle, order: tuple[str, ...], largest: str
) -> None:
    a = kept(memory, 1)
    for act in order:
        event_id = f"z-{act}" if act == largest else act
        if act == "gone":
            memory.memories.deprecate(a, origin=Origin(event_id=event_id), at=day(1))
        elif act == "back":
            memory.memories.restore(a, origin=Origin(event_id=event_id), at=day(1))
        else:
            memory.supersede(a, unlike(2), origin=Origin(event_id=event_id), at=day(1))

    status = {"gone": Status.DEPRECATED, "over": Status.SUPERSEDED, "back": Status.CURRENT}
    assert memory.memories.get(a).status is status[largest]
    # By their names alone: back, gone, over.
    assert memory.memories.chain(a).links[0].in_force is (largest != "back")


def test_supersede_keeps_its_text_word_for_word(memory: Handle) -> None:
    """A near duplicate would put another wording in the place of what was given."""
    near = str(memory.remember(WINDOW).memory_id)
    a = kept(memory, 1)

    done = memory.supersede(a, restated(6))

    assert done.newer_id != near
    assert memory.memories.get(done.newer_id).content == restated(6)


def test_supersede_takes_a_text_that_is_there(memory: Handle) -> None:
    a, b = kept(memory, 1), kept(memory, 2)
    memory.memories.deprecate(b, at=day(1))

    done = memory.supersede(a, f"  {unlike(2)} ", at=day(2), tags=["new"])

    assert done.newer_id == b
    found = memory.memories.get(b)
    assert (found.status, found.reinforce_count, found.tags) == (Status.CURRENT, 1, ("new",))


def test_corrections_are_written_once_under_one_id(memory: Handle, look: Look, tenant: str) -> None:
    a = kept(memory, 1)
    first = memory.supersede(a, unlike(2), origin=Origin(event_id="s"), reason="r", at=day(1))
    memory.memories.deprecate(a, origin=Origin(event_id="d"), at=day(2))
    memory.memories.restore(a, origin=Origin(event_id="r"), at=day(3))
    before, statuses = look.events(tenant), memory.memories.get(a).status

    assert (
        memory.supersede(a, unlike(2), origin=Origin(event_id="s"), reason="r", at=day(1)) == first
    )
    assert memory.memories.deprecate(a, origin=Origin(event_id="d"), at=day(2)) == "d"
    assert memory.memories.restore(a, origin=Origin(event_id="r"), at=day(3)) == "r"

    assert look.events(tenant) == before
    assert memory.memories.get(a).status is statuses


def test_an_id_used_for_something_else_is_refused(memory: Handle, look: Look, tenant: str) -> None:
    a, b = kept(memory, 1), kept(memory, 2)
    memory.remember(unlike(3), event_id="m")
    memory.supersede(a, unlike(4), origin=Origin(event_id="s"), reason="r")
    memory.memories.deprecate(a, origin=Origin(event_id="d"), reason="r")
    before = look.events(tenant)

    attempts: list[Callable[[], object]] = [
        lambda: memory.supersede(a, unlike(4), origin=Origin(event_id="m")),
        lambda: memory.supersede(a, unlike(4), origin=Origin(event_id="s")),
        lambda: memory.supersede(a, unlike(5), origin=Origin(event_id="s"), reason="r"),
        lambda: memory.supersede(b, unlike(4), origin=Origin(event_id="s"), reason="r"),
        lambda: memory.supersede(a, unlike(4), origin=Origin(event_id="s"), reason="r", tags=["x"]),
        lambda: memory.memories.deprecate(a, origin=Origin(event_id="s"), reason="r"),
        lambda: memory.memories.deprecate(a, origin=Origin(event_id="d")),
        lambda: memory.memories.deprecate(b, origin=Origin(event_id="d"), reason="r"),
        lambda: memory.memories.restore(a, origin=Origin(event_id="d"), reason="r"),
        lambda: memory.remember(unlike(3), event_id="d"),
        lambda: memory.remember(unlike(4), event_id="s"),
    ]
    for attempt in attempts:
        with pytest.raises(EventConflictError):
            attempt()

    assert look.events(tenant) == before


def test_a_text_cannot_replace_itself(memory: Handle, look: Look, tenant: str) -> None:
    a = kept(memory, 1)
    with pytest.raises(SelfSupersessionError) as caught:
        memory.supersede(a, f"{unlike(1)}  ")
    assert (caught.value.code, bool(caught.value.hint)) == ("self_supersession", True)
    assert look.count(tenant) == {"Memory": 1, "Event": 1}


def test_hygiene_refuses_a_successor(memory: Handle, look: Look, tenant: str) -> None:
    a = kept(memory, 1)
    for text in ("", "?!", "the password is hunter2hunter2", "half \ud800", "x" * 9_000):
        with pytest.raises(ContentRefusedError) as caught:
            memory.supersede(a, text)
        assert "hunter2" not in str(caught.value)
        assert len(str(caught.value)) < 200
    assert look.count(tenant) == {"Memory": 1, "Event": 1}


def test_history_is_the_newest_events_oldest_first(memory: Handle) -> None:
    a = kept(memory, 1)
    for n in range(1, 8):
        memory.remember(unlike(1), at=day(n), event_id=f"e{n}")
    assert [e.id for e in memory.memories.history(a, limit=3)] == ["e5", "e6", "e7"]
    assert [e.occurred_at for e in memory.memories.history(a)] == [day(n) for n in range(8)]
