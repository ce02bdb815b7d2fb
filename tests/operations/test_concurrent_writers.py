"""Many writers at once, by threads and on one loop."""

from __future__ import annotations

from typing import Any

import pytest

from graphmem import Handle, Message, Outcome, Status
from graphmem.model import Origin
from graphmem.ports import Role, run_now
from graphmem.rules import identity, scoring
from graphmem.testing import HashEmbedder
from tests.plugins.clients import Door
from tests.plugins.examples import examples
from tests.plugins.graph import Look, has_cycle
from tests.plugins.texts import restated, unlike

WRITERS = examples(8, 16, 16)
ROUNDS = examples(2, 5, 5)
TRIALS = examples(20, 100, 100)


def raised(results: list[Any]) -> list[Exception]:
    return [result for result in results if isinstance(result, Exception)]


def test_the_same_texts_at_once_are_one_memory_each(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    texts = [unlike(n) for n in range(200)]

    results = door.together(memory, [lambda m: m.remember_many(texts)] * WRITERS)

    assert raised(results) == []
    assert look.count(tenant) == {"Memory": 200, "Event": 200 * WRITERS}
    assert look.rows(
        "MATCH (:Event {tenant: $tenant})-[r:REINFORCES]->(:Memory) RETURN count(r) AS n",
        tenant=tenant,
    ) == [{"n": 200 * WRITERS}]
    outcomes = [outcome.outcome for done in results for outcome in done]
    assert outcomes.count(Outcome.INSERTED_NEW) == 200
    assert outcomes.count(Outcome.EXACT_DUPE) == 200 * (WRITERS - 1)
    memories = memory.memories.list(limit=1_000).memories
    assert {m.reinforce_count for m in memories} == {WRITERS - 1}


@pytest.mark.usefixtures("both_clients")
def test_the_same_texts_one_by_one_at_once(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    def one_by_one(start: int) -> Any:
        order = [unlike((start + n) % 10) for n in range(10)]
        if door.name == "blocking":
            return lambda m: [m.remember(text) for text in order]

        async def awaited(m: Any) -> list[Any]:
            return [await m.remember(text) for text in order]

        return awaited

    results = door.together(memory, [one_by_one(start) for start in range(WRITERS)])

    assert raised(results) == []
    assert look.count(tenant) == {"Memory": 10, "Event": 10 * WRITERS}


def test_restated_texts_lie_near_enough(memory: Handle) -> None:
    """What the next test stands on."""
    mu = memory._state.context.model.mu_document
    ways = [restated(n) for n in range(WRITERS)]
    vectors = run_now(HashEmbedder().embed(ways, Role.DOCUMENT))
    assert len(set(ways)) == WRITERS
    lowest = min(
        scoring.calibrate(cosine, mu) for row in (vectors @ vectors.T).tolist() for cosine in row
    )
    assert lowest >= 0.92


@pytest.mark.usefixtures("both_clients")
def test_near_texts_at_once_are_one_memory(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    for round_ in range(ROUNDS):
        calls = [_remember(restated(n)) for n in range(WRITERS)]
        handle = memory.scope(f"s{round_}", read_scopes=[f"s{round_}"])

        results = door.together(handle, calls)

        assert raised(results) == []
        assert len({outcome.memory_id for outcome in results}) == 1
        outcomes = [outcome.outcome for outcome in results]
        assert outcomes.count(Outcome.INSERTED_NEW) == 1
        assert set(outcomes) <= {Outcome.INSERTED_NEW, Outcome.NEAR_DUPE, Outcome.EXACT_DUPE}
    assert look.count(tenant) == {"Memory": ROUNDS, "Event": ROUNDS * WRITERS}


def _remember(text: str) -> Any:
    return lambda m: m.remember(text)


def _supersede(older: str, text: str) -> Any:
    return lambda m: m.supersede(older, text)


@pytest.mark.parametrize(
    "sizes",
    [pytest.param((2,), id="mutual"), pytest.param((3, 4, 5), id="ring", marks=pytest.mark.system)],
)
def test_supersession_in_a_ring_at_once_leaves_no_cycle(
    door: Door, memory: Handle, look: Look, tenant: str, sizes: tuple[int, ...]
) -> None:
    """Each is superseded by the next, all at once, in many rings."""
    rings = [
        [unlike(n, about=f"ring {trial}") for n in range(sizes[trial % len(sizes)])]
        for trial in range(TRIALS)
    ]
    done = memory.remember_many(text for ring in rings for text in ring)
    ids = {outcome.content_hash: str(outcome.memory_id) for outcome in done}
    assert len(ids) == sum(map(len, rings))

    for some in range(0, TRIALS, 5):
        calls = [
            _supersede(ids[identity.content_hash(text)], ring[(n + 1) % len(ring)])
            for ring in rings[some : some + 5]
            for n, text in enumerate(ring)
        ]
        assert raised(door.together(memory, calls)) == []

    edges = look.edges(tenant)
    assert len(edges) == len(ids)
    assert not has_cycle(edges)
    status = {m.content: m.status for m in _all(memory)}
    for ring in rings:
        assert Status.CURRENT in {status[text] for text in ring}


def test_chains_joined_both_ways_at_once_leave_no_cycle(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    """The head of each of two chains is superseded by the tail of the other."""
    trials = TRIALS // 2
    pairs = [[unlike(n, about=f"chain {trial}") for n in range(4)] for trial in range(trials)]
    done = memory.remember_many(text for a, _, b, _ in pairs for text in (a, b))
    tails = [str(outcome.memory_id) for outcome in done]
    heads = [
        memory.supersede(tail, pairs[n // 2][1 + n % 2 * 2]).newer_id
        for n, tail in enumerate(tails)
    ]

    for some in range(0, trials, 8):
        calls = [
            call
            for n, (a, _, b, _) in list(enumerate(pairs))[some : some + 8]
            for call in (_supersede(heads[2 * n], b), _supersede(heads[2 * n + 1], a))
        ]
        assert raised(door.together(memory, calls)) == []

    edges = look.edges(tenant)
    assert len(edges) == 4 * trials
    assert not has_cycle(edges)


def _all(memory: Handle) -> list[Any]:
    found: list[Any] = []
    cursor = None
    while True:
        page = memory.memories.list(statuses=list(Status), limit=1_000, cursor=cursor)
        found += page.memories
        cursor = page.next_cursor
        if cursor is None:
            return found


def test_one_id_sent_by_many_at_once_is_written_once(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    target = str(memory.remember(unlike(0), event_id="base").memory_id)
    calls = {
        "remember": lambda m: m.remember(unlike(1), event_id="e"),
        "supersede": lambda m: m.supersede(target, unlike(2), origin=Origin(event_id="s")),
        "deprecate": lambda m: m.memories.deprecate(target, origin=Origin(event_id="d")),
        "episode": lambda m: m.episodes.add(episode_id="doc", content=unlike(3)),
    }
    for call in calls.values():
        results = door.together(memory, [call] * WRITERS)
        assert raised(results) == []
    # One event each, and the ADD of the memory that superseded.
    assert look.count(tenant) == {"Memory": 3, "Event": 5, "Episode": 1}


def test_one_conversation_sent_by_many_at_once_is_kept_once(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    unkeyed = [Message(role="user", content=unlike(n)) for n in range(30)]
    keyed = [Message(role="user", content=unlike(n), id=str(n)) for n in range(30)]

    def add(name: str, messages: list[Message]) -> Any:
        return lambda m: m.session(name).add_messages(messages)

    results = door.together(memory, [add("unkeyed", unkeyed)] * 6 + [add("keyed", keyed)] * 6)

    assert raised(results) == []
    assert look.count(tenant) == {"Episode": 2, "Turn": 60}
    for name in ("unkeyed", "keyed"):
        turns = memory.episodes.turns(memory.session(name).episode_id).turns
        assert [t.text for t in turns] == [m.content for m in unkeyed]
        assert [t.position for t in turns] == list(range(30))
    assert sum(done.added for done in results) == 60


def test_the_same_file_ingested_twice_at_once_is_kept_once(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    said = [
        Message(role="user", content=unlike(n), id=str(n), session=f"s{n % 3}") for n in range(60)
    ]
    results = door.together(memory, [lambda m: m.ingest(said)] * 4)
    assert raised(results) == []
    assert look.count(tenant) == {"Episode": 3, "Turn": 60}
