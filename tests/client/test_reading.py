"""get and list, by either client."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Handle, Memory, NewMemory, Status
from graphmem.errors import NotFoundError
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)


def day(n: int) -> datetime:
    return MAY + timedelta(days=n)


def everything(memory: Handle, limit: int, **narrowing: object) -> list[Memory]:
    found: list[Memory] = []
    cursor = None
    while True:
        page = memory.memories.list(cursor=cursor, limit=limit, **narrowing)  # type: ignore[arg-type]
        assert len(page.memories) <= limit
        found += page.memories
        assert len({m.id for m in found}) == len(found)
        cursor = page.next_cursor
        if cursor is None:
            return found


def test_get_is_what_was_said_and_leaves_no_trace(memory: Handle, look: Look, tenant: str) -> None:
    done = memory.remember(unlike(1), at=MAY)
    before = look.events(tenant)
    assert memory.memories.get(str(done.memory_id)) == memory.memories.get(str(done.memory_id))
    assert look.events(tenant) == before


@pytest.mark.parametrize("memory_id", ["", "m_nowhere", "'; MATCH (n) DETACH DELETE n //"])
def test_an_unknown_id_is_not_found(memory: Handle, memory_id: str) -> None:
    memory.remember(unlike(1))
    for ask in (
        memory.memories.get,
        memory.memories.history,
        memory.memories.chain,
        memory.episodes.get,
        memory.episodes.turns,
    ):
        with pytest.raises(NotFoundError) as caught:
            ask(memory_id)
        assert caught.value.code == "not_found"
        assert caught.value.hint


def test_list_shows_what_is_current_unless_told_otherwise(memory: Handle) -> None:
    first, second, _ = memory.remember_many(
        [NewMemory(content=unlike(n), at=day(n)) for n in (1, 2, 3)]
    )
    newer = memory.supersede(str(first.memory_id), unlike(4), at=day(5))
    memory.memories.deprecate(str(second.memory_id))

    assert [m.content for m in memory.memories.list().memories] == [unlike(4), unlike(3)]
    [hidden] = memory.memories.list(statuses=[Status.SUPERSEDED]).memories
    assert (hidden.content, hidden.head_ids) == (unlike(1), (newer.newer_id,))
    [gone] = memory.memories.list(statuses=[Status.DEPRECATED]).memories
    assert (gone.content, gone.head_ids) == (unlike(2), ())
    assert len(memory.memories.list(statuses=list(Status)).memories) == 4
    assert memory.memories.list(statuses=[]).memories == ()


@pytest.mark.parametrize("limit", [1, 5, 12, 13])
def test_pages_cover_everything_once(memory: Handle, limit: int) -> None:
    """Many memories share an instant, so the cursor has to tell them apart."""
    memory.remember_many([NewMemory(content=unlike(n), at=day(n % 3)) for n in range(12)])
    found = everything(memory, limit)
    assert sorted(m.content for m in found) == sorted(unlike(n) for n in range(12))
    assert [m.created_at for m in found] == sorted((m.created_at for m in found), reverse=True)
    assert found == list(memory.memories.list(limit=1_000).memories)


def test_an_empty_memory_has_one_empty_page(memory: Handle) -> None:
    page = memory.memories.list()
    assert (page.memories, page.next_cursor) == ((), None)


@settings(max_examples=examples(10, 60, 300))
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.sets(st.sampled_from("abc")), st.sampled_from(["x", "y"])),
        max_size=9,
    ),
    limit=st.integers(1, 4),
    tags=st.sets(st.sampled_from("abc"), max_size=2),
    source=st.sampled_from([None, "x", "y"]),
    since=st.none() | st.integers(0, 3),
    until=st.none() | st.integers(0, 4),
)
def test_pages_of_a_narrowed_list_equal_a_plain_filter(
    plain: Handle,
    rows: list[tuple[int, set[str], str]],
    limit: int,
    tags: set[str],
    source: str | None,
    since: int | None,
    until: int | None,
) -> None:
    memory = on_tenant(plain, fresh_tenant())
    memory.remember_many(
        [
            NewMemory(content=unlike(i), at=day(n), tags=tuple(own), source=origin)
            for i, (n, own, origin) in enumerate(rows)
        ]
    )

    found = everything(
        memory,
        limit,
        tags=sorted(tags),
        source=source,
        since=None if since is None else day(since),
        until=None if until is None else day(until),
    )

    expected = [
        unlike(i)
        for i, (n, own, origin) in enumerate(rows)
        if tags <= own
        and source in (None, origin)
        and (since is None or n >= since)
        and (until is None or n < until)
    ]
    assert sorted(m.content for m in found) == sorted(expected)
