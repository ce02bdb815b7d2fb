"""Pages of episodes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import AsOf, Episode, Handle
from tests.plugins.clients import on_tenant
from tests.plugins.graph import Look, fresh_tenant

MAY = datetime(2025, 5, 5, tzinfo=UTC)
DAY = timedelta(days=1)
HELLO = {"role": "user", "content": "Hello.", "id": "1"}


def everything(memory: Handle, limit: int) -> list[Episode]:
    found: list[Episode] = []
    cursor = None
    while True:
        page = memory.episodes.list(cursor=cursor, limit=limit)
        assert len(page.episodes) <= limit
        found += page.episodes
        cursor = page.next_cursor
        if cursor is None:
            return found


def ids(memory: Handle, **narrowing: Any) -> list[str]:
    return [one.id for one in memory.episodes.list(**narrowing).episodes]


def test_a_page_has_the_episodes_as_get_returns_them(
    memory: Handle, look: Look, tenant: str
) -> None:
    memory.episodes.add(
        episode_id="doc", summary="a paper", content="on memory", entities=["Neo4j"], at=MAY
    )
    with memory.session("monday") as session:
        session.add_messages([HELLO])
    before = look.events(tenant)
    page = memory.episodes.list()
    assert page.episodes == (memory.episodes.get(session.episode_id), memory.episodes.get("doc"))
    assert (page.episodes[0].session_id, page.episodes[0].turns) == ("monday", 1)
    assert (page.next_cursor, page.provisional) == (None, False)
    assert look.events(tenant) == before


@pytest.mark.parametrize("limit", [1, 2, 6, 7])
def test_pages_cover_every_episode_once_newest_first(memory: Handle, limit: int) -> None:
    """Several episodes share an instant, so the cursor must distinguish them."""
    for n in range(6):
        memory.episodes.add(episode_id=f"p{n}", at=MAY + n % 2 * DAY)
    found = everything(memory, limit)
    assert [one.id for one in found] == ["p5", "p3", "p1", "p4", "p2", "p0"]


def test_a_list_narrows(memory: Handle) -> None:
    for n in range(3):
        memory.episodes.add(episode_id=f"p{n}", at=MAY + n * DAY, session_id="s" if n else None)
    assert ids(memory, session_id="s") == ["p2", "p1"]
    assert ids(memory, session_id="unknown") == []
    assert ids(memory, since=MAY + DAY) == ["p2", "p1"]
    assert ids(memory, until=MAY + DAY) == ["p0"]
    assert ids(memory, since=MAY + DAY, until=MAY + 2 * DAY) == ["p1"]
    assert ids(memory, limit=1, session_id="s") == ["p2"]


def test_a_list_has_what_its_reader_sees(memory: Handle) -> None:
    memory.episodes.add(episode_id="shared", at=MAY)
    alice = memory.scope("alice")
    alice.episodes.add(episode_id="hers")
    assert ids(alice) == ["hers", "shared"]
    assert ids(memory) == ids(memory.scope("bob")) == ["shared"]
    assert ids(memory.scope("x", read_scopes=["alice"])) == ["hers"]
    assert ids(on_tenant(memory, fresh_tenant())) == []


def test_a_list_of_the_past_has_what_had_happened_and_was_known(memory: Handle) -> None:
    start = datetime.now(UTC)
    memory.episodes.add(episode_id="early", at=MAY)
    with memory.session("late") as session:
        session.add_messages([HELLO])
    assert ids(memory, as_of=MAY) == ["early"]
    assert ids(memory, as_of="2025-05-04") == []
    assert ids(memory, as_of=AsOf(known=start - DAY)) == []
    assert memory.episodes.list(as_of=AsOf(known=datetime.now(UTC))).provisional
    [_, then] = memory.episodes.list(as_of=datetime.now(UTC) + DAY).episodes
    assert then.id == "early"


def test_turns_are_counted_as_of_the_read(memory: Handle) -> None:
    session = memory.session("s")
    session.add_messages([{**HELLO, "at": MAY}])
    memory.episodes.add(episode_id="doc", at=MAY - DAY)
    session.add_messages([{**HELLO, "id": "2", "at": datetime.now(UTC)}])
    [now, _] = memory.episodes.list().episodes
    [then, _] = memory.episodes.list(as_of=now.occurred_at).episodes
    assert (now.turns, then.turns) == (2, 1)


def test_an_erased_episode_is_not_listed(memory: Handle) -> None:
    memory.episodes.add(episode_id="kept")
    memory.episodes.add(episode_id="gone")
    assert memory.forget("episode", "gone", dry_run=False).clean
    assert ids(memory, include_archived=True) == ["kept"]
