"""The log of what was looked at: written behind, once, and nothing rests on it."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import GraphMem, Handle, Status
from graphmem.client import log_queue
from graphmem.client.log_queue import FULL_LOG, MAX_LOG, AccessLog
from graphmem.errors import GraphUnavailableError, NotFoundError
from graphmem.model.recall import AnyBite
from graphmem.settings import Settings
from graphmem.testing import FrozenClock
from graphmem.usage import access_log
from graphmem.usage.access_log import AccessEntry
from tests.plugins import children
from tests.plugins.clients import Door, on_tenant
from tests.plugins.faults import Retrying, Through, Unacknowledged
from tests.plugins.graph import Look, fresh_tenant, unfaded
from tests.plugins.texts import unlike

in_both_clients = pytest.mark.usefixtures("both_clients")

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)


@pytest.fixture
def memory(memory: Handle) -> Handle:
    """A memory of whose client nothing waits."""
    memory.usage.flush()
    return memory


FEW = 10


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the log when it has this many entries, instead of a hundred."""
    monkeypatch.setattr(log_queue, "FULL_LOG", FEW)


class Counting(Through):
    """A graph that counts its writing transactions and may refuse them."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.writes = 0
        self.refuses = False
        self.is_closed = False

    async def write(self, work: Any) -> Any:
        self.writes += 1
        if self.refuses:
            raise GraphUnavailableError
        return await self.inner.write(work)

    async def close(self) -> None:
        self.is_closed = True
        await self.inner.close()


@contextmanager
def counting(door: Door) -> Iterator[tuple[Handle, Counting, str]]:
    """Yield a client of its own on a graph that counts, and the one memory of its tenant."""
    with door.opened() as made:
        memory_id = str(made.remember(unlike(1)).memory_id)
        graph = Counting(made._state.context.services.graph)
        yield door.on(made, graph=graph), graph, memory_id


def accesses(look: Look, memory: Handle) -> list[dict[str, Any]]:
    """Every ACCESS event of a tenant, oldest first."""
    events = look.events(memory._state.context.tenant).values()
    found = [event for event in events if event["type"] == "ACCESS"]
    return sorted(found, key=lambda event: (event["occurred_at"], event["id"]))


def test_a_look_is_an_event_once_it_is_flushed(door: Door, memory: Handle, look: Look) -> None:
    clock = FrozenClock(MAY)
    alice = door.on(memory.scope("alice"), clock=clock)
    session = alice.session("s1")
    turn = session.add_messages([{"role": "user", "content": unlike(1), "at": MAY}]).turn_ids[0]
    memory_id = alice.remember(unlike(2), at=MAY).memory_id
    belief = alice.believe("It rains", at=MAY).belief_id
    looked: list[tuple[Any, str, Any]] = [
        (alice, "Memory", memory_id),
        (session, "Turn", turn),
        (alice, "Belief", belief),
        (session, "Episode", session.episode_id),
    ]
    for handle, _, item_id in looked:
        clock.advance(timedelta(minutes=1))
        handle.expand(item_id)
    assert accesses(look, memory) == []
    clock.advance(timedelta(days=1))

    assert memory.usage.flush() == 4

    written = accesses(look, memory)
    assert [[edge for edge in e["edges"] if edge[0] == "ACCESSED"] for e in written] == [
        [["ACCESSED", label, item_id]] for _, label, item_id in looked
    ]
    assert [e["occurred_at"].to_native() for e in written] == [
        MAY + timedelta(minutes=n) for n in (1, 2, 3, 4)
    ]
    assert [e.get("actor") for e in written] == [None, "s1", None, "s1"]
    assert {e["scope"] for e in written} == {"alice"}
    card = alice.expand(str(memory_id))
    assert (card.accesses, card.last_access_at) == (1, MAY + timedelta(minutes=1))


def test_only_expand_and_why_are_a_look(memory: Handle, look: Look) -> None:
    done = memory.remember(unlike(1), claims=[("alice", "likes", "tea")])
    memory_id, belief = str(done.memory_id), done.belief_ids[0]
    memory.memories.get(memory_id)
    memory.memories.list()
    memory.recall(unlike(1))
    memory.memories.stale()
    memory.evidence_for(belief)
    memory.beliefs.get(belief)
    with pytest.raises(NotFoundError):
        memory.expand("m_nope")
    # What was recalled is a search and no look.
    assert memory.usage.flush() == 1
    assert accesses(look, memory) == []
    memory.why(memory_id)
    assert (memory.usage.flush(), len(accesses(look, memory))) == (1, 1)


@pytest.mark.usefixtures("few")
def test_a_full_log_is_one_transaction(door: Door, look: Look) -> None:
    with counting(door) as (memory, graph, memory_id):
        for _ in range(FEW - 1):
            memory.expand(memory_id)
        assert (graph.writes, accesses(look, memory)) == (0, [])
        memory.expand(memory_id)
        assert (graph.writes, len(accesses(look, memory))) == (1, FEW)
        assert memory.expand(memory_id).accesses == FEW
        assert (graph.writes, memory.usage.flush(), graph.writes) == (1, 1, 2)
        assert (memory.usage.flush(), graph.writes) == (0, 2)


@in_both_clients
def test_what_waits_is_written_when_the_client_is_left(door: Door, look: Look) -> None:
    with door.opened() as memory:
        memory_id = str(memory.remember(unlike(1)).memory_id)
        memory.expand(memory_id)
        memory.scope("alice").expand(memory_id)
        assert accesses(look, memory) == []
    assert {e["scope"] for e in accesses(look, memory)} == {"global", "alice"}
    closed = door.open()
    handle = on_tenant(closed, memory._state.context.tenant)
    handle.expand(memory_id)
    closed.close()
    assert len(accesses(look, memory)) == 3


@in_both_clients
def test_what_waits_is_written_when_a_session_is_left(memory: Handle, look: Look) -> None:
    memory_id = str(memory.remember(unlike(1)).memory_id)
    with memory.session("s1") as session:
        session.expand(memory_id)
        assert accesses(look, memory) == []
    assert [e["actor"] for e in accesses(look, memory)] == ["s1"]


def test_tenants_are_flushed_together_and_kept_apart(
    door: Door, memory: Handle, look: Look
) -> None:
    names = sorted(fresh_tenant() for _ in range(3))
    handles = [on_tenant(memory, name) for name in names]
    for n, handle in enumerate(handles):
        memory_id = str(handle.remember(unlike(1)).memory_id)
        for _ in range(n + 1):
            handle.expand(memory_id)
    graph = Counting(memory._state.context.services.graph)
    assert door.on(memory, graph=graph).usage.flush() == 6
    assert graph.writes == 1
    assert [len(accesses(look, handle)) for handle in handles] == [1, 2, 3]


def test_looks_are_counted_as_far_as_their_scopes_are_seen(memory: Handle) -> None:
    memory_id = str(memory.remember(unlike(1)).memory_id)
    alice, bob = memory.scope("alice"), memory.scope("bob")
    for handle, times in ((memory, 1), (alice, 2), (bob, 4)):
        for _ in range(times):
            handle.expand(memory_id)
    memory.usage.flush()
    both = memory.scope("x", read_scopes=["alice", "bob", "global"])
    seen = [handle.expand(memory_id) for handle in (memory, alice, bob, both)]
    assert [card.accesses for card in seen] == [1, 3, 5, 7]
    assert all(card.last_access_at is not None for card in seen)
    hers = memory.scope("x", read_scopes=["global"]).expand(memory_id)
    assert hers.last_access_at == seen[0].last_access_at


@pytest.mark.usefixtures("few")
def test_a_write_that_fails_is_raised_by_flush_alone_and_made_again(
    door: Door, look: Look, caplog: pytest.LogCaptureFixture
) -> None:
    with counting(door) as (memory, graph, memory_id):
        graph.refuses = True
        for _ in range(2 * FEW + 5):
            memory.expand(memory_id)
        assert graph.writes == 2
        assert caplog.messages == [
            f"{n} log entries are still to be written: graph_unavailable" for n in (FEW, 2 * FEW)
        ]
        for _ in range(2):
            with pytest.raises(GraphUnavailableError):
                memory.usage.flush()
        graph.refuses = False
        assert memory.usage.flush() == 2 * FEW + 5
        assert len(accesses(look, memory)) == 2 * FEW + 5


@pytest.fixture
def own(door: Door, memory: Handle) -> Iterator[tuple[GraphMem, Counting]]:
    """A client of its own that has something to write, and its graph."""
    memory_id = str(memory.remember(unlike(1)).memory_id)
    client = door.open(tenant=memory._state.context.tenant)
    graph = Counting(client._state.context.services.graph)
    client = door.on(client, graph=graph)
    client.expand(memory_id)
    yield client, graph
    door.run(graph.close())


@in_both_clients
def test_closing_warns_of_what_could_not_be_written(
    own: tuple[GraphMem, Counting], caplog: pytest.LogCaptureFixture
) -> None:
    client, graph = own
    graph.refuses = True
    client.close()
    assert graph.is_closed
    assert "log entries are still to be written" in caplog.text


@in_both_clients
def test_leaving_says_what_could_not_be_written(own: tuple[GraphMem, Counting]) -> None:
    client, graph = own
    with pytest.raises(GraphUnavailableError), client.session("s1"):
        graph.refuses = True
    assert not graph.is_closed
    with client:
        pass
    assert graph.is_closed


@in_both_clients
def test_what_went_wrong_inside_comes_first(own: tuple[GraphMem, Counting]) -> None:
    client, graph = own
    for block in (client.session("s1"), client):
        with pytest.raises(ZeroDivisionError), block:
            broken(graph)
    assert graph.is_closed


def broken(graph: Counting) -> None:
    graph.refuses = True
    raise ZeroDivisionError


@pytest.mark.parametrize("fault", ["retried", "unacknowledged"])
def test_a_write_made_twice_counts_once(door: Door, memory: Handle, look: Look, fault: str) -> None:
    memory_id = str(memory.remember(unlike(1)).memory_id)
    for _ in range(3):
        memory.expand(memory_id)
    inner = memory._state.context.services.graph
    if fault == "retried":
        assert door.on(memory, graph=Retrying(inner)).usage.flush() == 3
    else:
        with pytest.raises(GraphUnavailableError):
            door.on(memory, graph=Unacknowledged(inner, 1)).usage.flush()
        assert len(accesses(look, memory)) == 3
        assert memory.usage.flush() == 0
    assert len(accesses(look, memory)) == 3
    assert memory.expand(memory_id).accesses == 3


@in_both_clients
def test_many_at_once_are_each_written_once(door: Door, memory: Handle, look: Look) -> None:
    ids = [str(memory.remember(unlike(n)).memory_id) for n in range(4)]

    def call(n: int) -> Callable[[Any], Any]:
        return lambda m: m.usage.flush() if n % 20 == 19 else m.expand(ids[n % 4])

    calls = [call(n) for n in range(60)]
    done = door.together(memory, calls)
    assert [one for one in done if isinstance(one, Exception)] == []
    memory.usage.flush()
    assert len(accesses(look, memory)) == 57


def test_what_is_no_longer_there_is_passed_over(door: Door, memory: Handle, look: Look) -> None:
    kept = str(memory.remember(unlike(1)).memory_id)
    context = memory._state.context
    looks = [
        access_log.access(context, label, item_id, None)
        for label, item_id in (("Memory", "m_gone"), ("Belief", kept), ("Memory", kept))
    ]
    assert door.run(access_log.write(context.services, looks)) == 1
    [event] = accesses(look, memory)
    assert event["edges"] == [["ACCESSED", "Memory", kept]]


def hit_of(bite: AnyBite) -> tuple[str, dict[str, float] | None]:
    """What a look could change of a hit; its score also rests on what other tenants write."""
    found = bite.model_dump()
    parts = found["parts"] and {name: found["parts"][name] for name in ("recency", "access")}
    return found[bite.kind]["id"], parts


def test_nothing_but_retrieval_rests_on_a_look(door: Door, memory: Handle) -> None:
    memory = door.on(memory, clock=FrozenClock(datetime.now(UTC)))
    memory.predicates.declare("works_on", cardinality="ONE")
    with memory.session("s1") as session:
        turn = session.add_messages([{"role": "user", "content": unlike(1)}]).turn_ids[0]
    done = memory.remember(unlike(1), claims=[("alice", "works_on", "Atlas")], at=MAY)
    memory_id, belief = str(done.memory_id), done.belief_ids[0]
    newer = memory.supersede(memory_id, unlike(2)).newer_id

    def told() -> list[Any]:
        return [
            sorted(map(hit_of, memory.recall(unlike(1), include_hidden=True).bites), key=str),
            memory.memories.list(statuses=list(Status)),
            *(read(x) for x in (memory_id, newer) for read in (memory.memories.get, memory.why)),
            *(memory.memories.history(x) for x in (memory_id, newer)),
            memory.beliefs.get(belief),
            memory.why(belief),
            memory.beliefs.history(belief),
            memory.beliefs.provenance(belief),
            memory.current("alice", "works_on"),
            memory.episodes.get(session.episode_id),
            memory.memories.stale(days=1),
            memory.admin.verify(),
        ]

    before = unfaded(told())
    life = memory.beliefs.get(belief).vitality
    for item_id in (memory_id, newer, belief, turn, session.episode_id):
        for _ in range(3):
            memory.expand(item_id)
    # With the reasons of two memories and a belief, and the search.
    assert memory.usage.flush() == 15 + 3 + 1
    assert memory.expand(belief).accesses == 4
    assert unfaded(told()) == before
    alive = memory.beliefs.get(belief).vitality
    assert life is not None
    assert alive is not None
    assert (alive.storage, alive.mean) == (life.storage, life.mean)
    assert alive.last_access_at is not None
    assert alive.retrieval > life.retrieval
    assert memory.admin.rebuild().wrong == ()


CHILD = """
import sys
from graphmem import GraphMem
from graphmem.testing import HashEmbedder
memory = GraphMem.open(embedder=HashEmbedder())
for _ in range(3):
    memory.expand(sys.argv[1])
memory.usage.flush()
for _ in range(5):
    memory.expand(sys.argv[1])
print("waiting", flush=True)
sys.stdin.read()
"""


@pytest.mark.system
def test_a_killed_process_loses_what_waited_and_nothing_else(
    plain: Handle, look: Look, migrated: Settings, tenant: str
) -> None:
    memory_id = str(plain.remember(unlike(1)).memory_id)
    with children.running(CHILD, memory_id, settings=migrated, tenant=tenant) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "waiting\n"
        child.send_signal(signal.SIGKILL)
    assert len(accesses(look, plain)) == 3
    assert plain.expand(memory_id).accesses == 3


LEFT = """
import sys
from graphmem import GraphMem
from graphmem.testing import HashEmbedder
session = GraphMem.open(embedder=HashEmbedder()).session("s")
for _ in range(5):
    session.expand(sys.argv[1])
"""
LEFT_AWAITED = """
import asyncio, sys
from graphmem import AsyncGraphMem
from graphmem.testing import HashEmbedder
async def main():
    global memory
    memory = await AsyncGraphMem.open(embedder=HashEmbedder())
    for _ in range(5):
        await memory.expand(sys.argv[1])
    await memory._state.context.services.graph.close()
asyncio.run(main())
"""


def test_what_waits_is_written_when_the_process_ends(
    plain: Handle, look: Look, migrated: Settings, tenant: str
) -> None:
    memory_id = str(plain.remember(unlike(1)).memory_id)
    with children.running(LEFT, memory_id, settings=migrated, tenant=tenant) as child:
        pass
    assert child.returncode == 0
    assert len(accesses(look, plain)) == 5
    [[ended]] = [
        row.values()
        for row in look.rows(
            "MATCH (e:Event {tenant: $tenant, type: 'SESSION_END'}) RETURN e.payload", tenant=tenant
        )
    ]
    assert json.loads(ended)["logged"] == 5


def test_an_awaited_client_says_what_it_lost(
    plain: Handle, look: Look, migrated: Settings, tenant: str
) -> None:
    memory_id = str(plain.remember(unlike(1)).memory_id)
    with children.running(LEFT_AWAITED, memory_id, settings=migrated, tenant=tenant) as child:
        assert child.stderr is not None
        assert "5 log entries were lost: the client was not closed." in child.stderr.read()
    assert accesses(look, plain) == []


def made(n: int) -> AccessEntry:
    return AccessEntry("t", f"e{n}", "global", "Memory", "m", MAY, None)


def test_the_newest_are_kept_while_they_cannot_be_written() -> None:
    log = AccessLog()
    due = [n for n in range(1, MAX_LOG + 251) if log.add(made(n))]
    assert due == list(range(FULL_LOG, MAX_LOG + 250, FULL_LOG))
    waiting = log.waiting()
    assert [waiting[0], waiting[-1], len(waiting)] == [made(251), made(MAX_LOG + 250), MAX_LOG]
    log.written(waiting[:-30])
    assert log.waiting() == waiting[-30:]
    # What is left counts towards the next hundred.
    assert [log.add(made(n)) for n in range(FULL_LOG - 30)] == [False] * (FULL_LOG - 31) + [True]
