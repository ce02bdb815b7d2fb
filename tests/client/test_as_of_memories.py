"""get, list, history and chain as of a pair of times, by either client."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import Any

import pytest

from graphmem import Handle, Memory, Status
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.model import AsOf
from graphmem.testing import FrozenClock
from tests.plugins.clients import Door, on_tenant
from tests.plugins.texts import WINDOW, restated, unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
READS = ("get", "history", "chain", "list")


def day(n: float) -> datetime:
    return MAY + timedelta(days=n)


def on(n: float) -> AsOf:
    """All that is known of a day."""
    return AsOf(valid=day(n))


def kept(memory: Handle, n: int, at: datetime = MAY) -> str:
    """Remember the n-th text and return its memory's id."""
    return str(memory.remember(unlike(n), at=at).memory_id)


def last_recorded(memory: Handle, memory_id: str) -> datetime:
    """Return when the newest event of a memory was recorded."""
    return max(e.recorded_at for e in memory.memories.history(memory_id))


def read(memory: Handle, name: str, memory_id: str, as_of: Any) -> Any:
    if name == "list":
        return memory.memories.list(as_of=as_of)
    return getattr(memory.memories, name)(memory_id, as_of=as_of)


def test_a_memory_is_what_it_was_on_each_day(memory: Handle) -> None:
    a = kept(memory, 1, day(1))
    memory.remember(unlike(1), at=day(2))
    b = memory.supersede(a, unlike(2), at=day(3)).newer_id
    memory.memories.deprecate(a, at=day(4))
    memory.memories.restore(a, at=day(5))

    def told(n: float) -> tuple[Status, tuple[str, ...], int, datetime]:
        found = memory.memories.get(a, as_of=on(n))
        assert found.created_at == day(1)
        return found.status, found.head_ids, found.reinforce_count, found.last_seen_at

    assert told(1) == told(1.5) == (Status.CURRENT, (), 0, day(1))
    assert told(2) == (Status.CURRENT, (), 1, day(2))
    assert told(3) == (Status.SUPERSEDED, (b,), 1, day(2))
    assert told(4) == (Status.DEPRECATED, (), 1, day(2))
    assert told(5) == told(9_999) == (Status.CURRENT, (), 1, day(2))
    assert memory.memories.get(a, as_of=on(9)) == memory.memories.get(a)
    assert memory.memories.get(b, as_of=on(4)).status is Status.CURRENT


@pytest.mark.parametrize("name", ["get", "history", "chain"])
def test_before_it_was_said_it_is_not_found(memory: Handle, name: str) -> None:
    a = kept(memory, 1, day(1))
    known = last_recorded(memory, a)
    for as_of in (
        on(0.5),
        AsOf(known=known - timedelta(microseconds=1)),
        AsOf(valid=day(0), known=known),
    ):
        with pytest.raises(NotFoundError) as caught:
            read(memory, name, a, as_of)
        assert "without a time" in caught.value.hint
    for as_of in (on(1), AsOf(known=known), AsOf(valid=day(1), known=known)):
        assert read(memory, name, a, as_of)


def test_what_is_told_late_takes_its_place_by_when_it_happened(memory: Handle) -> None:
    a = kept(memory, 1, day(5))
    before = last_recorded(memory, a)
    memory.remember(unlike(1), at=day(2))

    early = memory.memories.get(a, as_of=on(3))
    assert (early.created_at, early.last_seen_at, early.reinforce_count) == (day(2), day(2), 0)
    with pytest.raises(NotFoundError):
        memory.memories.get(a, as_of=AsOf(valid=day(3), known=before))
    then = memory.memories.get(a, as_of=AsOf(known=before))
    assert (then.created_at, then.reinforce_count) == (day(5), 0)
    assert [
        m.id for m in memory.memories.list(as_of=AsOf(known=before), since=day(3)).memories
    ] == [a]
    assert memory.memories.list(since=day(3)).memories == ()


def test_a_memory_known_by_other_words_alone_is_current(memory: Handle) -> None:
    """Said nearly at first, and exactly later: the day between has no exact statement."""
    a = str(memory.remember(WINDOW, at=day(5)).memory_id)
    assert memory.remember(restated(5), at=day(2)).memory_id == a
    found = memory.memories.get(a, as_of=on(3))
    assert (found.status, found.created_at, found.reinforce_count) == (Status.CURRENT, day(2), 0)


def test_what_a_reader_heard_in_private_brings_nothing_back(memory: Handle) -> None:
    a = kept(memory, 1)
    alice = memory.scope("alice")
    assert alice.remember(unlike(1), at=day(5)).memory_id == a
    memory.memories.deprecate(a, at=day(2))

    for handle in (alice, memory):
        assert handle.memories.get(a, as_of=on(9)).status is Status.DEPRECATED
    assert alice.memories.get(a, as_of=on(9)).last_seen_at == day(5)
    assert alice.memories.get(a, as_of=on(4)).last_seen_at == MAY
    assert memory.memories.get(a, as_of=on(9)).last_seen_at == MAY


def test_a_chain_grows_with_the_days(memory: Handle) -> None:
    ids = [kept(memory, 0)]
    for n in range(1, 6):
        ids.append(memory.supersede(ids[-1], unlike(n), at=day(n)).newer_id)

    for n in range(6):
        chain = memory.memories.chain(ids[0], as_of=on(n))
        assert [m.id for m in chain.memories] == ids[: n + 1]
        assert chain.head_ids == (ids[n],)
        assert [(x.newer_id, x.older_id, x.in_force) for x in chain.links] == [
            (newer, older, True) for older, newer in pairwise(ids[: n + 1])
        ]
        assert [m.head_ids for m in chain.memories] == [(ids[n],)] * n + [()]
        assert memory.memories.get(ids[0], as_of=on(n)).head_ids == ((ids[n],) if n else ())
    assert memory.memories.chain(ids[2], as_of=on(9)) == memory.memories.chain(ids[2])


@pytest.mark.parametrize("late", ["short", "long"])
def test_heads_are_found_along_what_is_in_force_alone(memory: Handle, late: str) -> None:
    """A text x replaced m, was undone, and stands there again by way of a: one way is shut."""
    m, x = kept(memory, 1), kept(memory, 3)

    def short() -> None:
        memory.supersede(m, unlike(3), fork=True, at=day(1))
        memory.memories.restore(m, at=day(2))

    def long() -> None:
        a = memory.supersede(m, unlike(2), at=day(3)).newer_id
        assert memory.supersede(a, unlike(3), at=day(4)).newer_id == x

    for part in (long, short) if late == "short" else (short, long):
        part()
    y = memory.supersede(x, unlike(4), at=day(5)).newer_id

    assert memory.memories.get(m, as_of=on(1)).head_ids == (x,)
    assert memory.memories.get(m, as_of=on(2)).head_ids == ()
    assert memory.memories.get(m, as_of=on(4)).head_ids == (x,)
    assert memory.memories.get(m, as_of=on(5)).head_ids == (y,) == memory.memories.get(m).head_ids
    links = memory.memories.chain(y, as_of=on(9)).links
    assert sum(link.in_force for link in links) == 3
    assert links == memory.memories.chain(y).links


def test_a_memory_not_said_yet_is_not_in_its_chain(memory: Handle) -> None:
    a = kept(memory, 1, day(5))
    b = memory.supersede(a, unlike(2), at=day(3)).newer_id
    chain = memory.memories.chain(b, as_of=on(4))
    assert ([m.id for m in chain.memories], chain.links, chain.head_ids) == ([b], (), (b,))


def test_history_is_what_was_seen(memory: Handle) -> None:
    a = kept(memory, 1)
    known = last_recorded(memory, a)
    memory.remember(unlike(1), at=day(2))
    memory.memories.deprecate(a, at=day(1))

    def types(as_of: AsOf, **more: int) -> list[str]:
        return [e.type for e in memory.memories.history(a, as_of=as_of, **more)]

    assert types(on(0)) == ["ADD"]
    assert types(on(1)) == ["ADD", "DEPRECATE"]
    assert types(on(2)) == types(AsOf()) == ["ADD", "DEPRECATE", "REINFORCE_EXACT"]
    assert types(AsOf(known=known)) == ["ADD"]
    assert types(on(2), limit=2) == ["DEPRECATE", "REINFORCE_EXACT"]


def test_list_narrows_by_what_was(memory: Handle) -> None:
    a, b = kept(memory, 1, day(1)), kept(memory, 2, day(2))
    memory.remember(unlike(1), at=day(3), source="import", tags=["t"])
    memory.memories.deprecate(b, at=day(4))

    def ids(n: float, **narrowing: Any) -> list[str]:
        return [m.id for m in memory.memories.list(as_of=on(n), **narrowing).memories]

    assert ids(0) == []
    assert ids(1) == [a]
    assert ids(3) == [b, a]
    assert ids(4) == [a]
    assert ids(4, statuses=[Status.DEPRECATED]) == [b]
    assert ids(4, statuses=[]) == []
    assert ids(2, source="import") == []
    assert ids(3, source="import") == [a]
    assert ids(3, since=day(2)) == [b]
    assert ids(3, until=day(2)) == [a]
    # Tags are those of now.
    assert ids(1, tags=["t"]) == [a]


@pytest.mark.parametrize("limit", [1, 5, 9])
def test_pages_of_the_past_cover_it_once(memory: Handle, limit: int) -> None:
    ids = [kept(memory, n, day(n % 3)) for n in range(8)]
    for n in (1, 4):
        memory.memories.deprecate(ids[n], at=day(5))
    known = max(last_recorded(memory, m) for m in ids)
    for n in range(8, 12):
        kept(memory, n, day(n % 3))
    memory.memories.deprecate(ids[0], at=day(4))

    as_of = AsOf(valid=day(9), known=known)
    found: list[Memory] = []
    cursor = None
    while cursor is not None or not found:
        page = memory.memories.list(as_of=as_of, limit=limit, cursor=cursor)
        found += page.memories
        cursor = page.next_cursor
    assert {m.id for m in found} == {*ids} - {ids[1], ids[4]}
    order = [(m.created_at, m.id) for m in found]
    assert order == sorted(order, reverse=True)
    assert len(order) == 6


def test_the_past_has_the_walls_of_the_present(memory: Handle, tenant: str) -> None:
    alice = memory.scope("alice")
    hers = kept(alice, 1)
    for other in (memory, memory.scope("bob"), on_tenant(memory, f"{tenant}-other").scope("alice")):
        for name in ("get", "history", "chain"):
            with pytest.raises(NotFoundError):
                read(other, name, hers, on(9))
        assert other.memories.list(as_of=on(9)).memories == ()
    assert [m.id for m in alice.memories.list(as_of=on(9)).memories] == [hers]


def test_what_is_known_of_late_is_provisional(memory: Handle) -> None:
    """A write under way may still be recorded before it."""
    a = kept(memory, 1)
    known = AsOf(known=last_recorded(memory, a))
    page, chain = memory.memories.list(as_of=known), memory.memories.chain(a, as_of=known)
    marked: list[Any] = [
        memory.memories.get(a, as_of=known),
        page,
        *page.memories,
        chain,
        *chain.memories,
    ]
    assert all(answer.provisional for answer in marked)

    page, chain = memory.memories.list(as_of=on(9)), memory.memories.chain(a)
    unmarked: list[Any] = [
        memory.memories.get(a),
        memory.memories.get(a, as_of=on(9)),
        page,
        *page.memories,
        chain,
    ]
    assert not any(answer.provisional for answer in unmarked)
    long_ago = memory.memories.list(as_of=AsOf(known=datetime.now(UTC) - timedelta(minutes=5)))
    assert (long_ago.memories, long_ago.provisional) == ((), False)


@pytest.mark.parametrize("name", READS)
def test_nobody_knows_yet_what_will_be_known(memory: Handle, name: str) -> None:
    a = kept(memory, 1)
    now = datetime.now(UTC)
    for ahead in (timedelta(minutes=10), timedelta(days=1_000)):
        with pytest.raises(InvalidInputError, match="must not be in the future") as caught:
            read(memory, name, a, AsOf(known=now + ahead))
        assert "valid" in caught.value.hint
    # The clock of whoever asks may run ahead a little; what will be so in the world may be asked.
    assert read(memory, name, a, AsOf(known=now + timedelta(minutes=1)))
    assert read(memory, name, a, AsOf(valid=now + timedelta(days=1_000)))


def test_it_is_the_servers_clock_that_counts(memory: Handle, door: Door) -> None:
    a = kept(memory, 1)
    behind = door.on(memory, clock=FrozenClock(day(1)))
    known = AsOf(known=last_recorded(memory, a))
    assert behind.memories.get(a, as_of=known) == memory.memories.get(a, as_of=known)


MIDNIGHT = day(2).replace(hour=0, minute=0)


@pytest.mark.parametrize(
    "given",
    [
        MIDNIGHT,
        MIDNIGHT.date(),
        MIDNIGHT.date().isoformat(),
        MIDNIGHT.isoformat(),
        MIDNIGHT.astimezone(timezone(timedelta(hours=2))).isoformat(),
    ],
    ids=repr,
)
def test_a_valid_time_alone_is_a_datetime_a_date_or_its_text(plain: Handle, given: Any) -> None:
    before, after = kept(plain, 1, at=day(1)), kept(plain, 2, at=day(3))
    assert plain.memories.list(as_of=given) == plain.memories.list(as_of=AsOf(valid=MIDNIGHT))
    assert plain.memories.get(before, as_of=given).id == before
    with pytest.raises(NotFoundError):
        plain.memories.get(after, as_of=given)
