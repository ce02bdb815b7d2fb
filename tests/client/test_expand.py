"""The full card of anything that recall can return, as a caller of either client sees it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from graphmem import Card, Episode, Handle, Memory, NewMemory, Outcome
from graphmem.errors import NotFoundError
from graphmem.model import Belief, BeliefEvent, EvidenceKind
from graphmem.testing import FrozenClock
from tests.plugins.clients import Door, on_tenant
from tests.plugins.graph import fresh_tenant
from tests.plugins.texts import WINDOW, unlike

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)


def day(n: float) -> datetime:
    return MAY + timedelta(days=n)


def talked(memory: Handle, name: str, count: int) -> tuple[str, list[str]]:
    """Keep a conversation of so many turns; return its episode and their ids."""
    session = memory.session(name)
    said = [
        {"role": "user", "content": unlike(n, about=name), "id": str(n), "at": day(n)}
        for n in range(count)
    ]
    added = session.add_messages(said)
    return added.episode_id, list(added.turn_ids)


def quoting(memory: Handle, text: str, episode: str, turn: str, at: datetime) -> str:
    """Remember words of a turn; return the memory."""
    wish = NewMemory(
        content=text, at=at, episode_id=episode, turn_id=turn, source="hook", actor="bob"
    )
    [done] = memory.remember_many([wish])
    return str(done.memory_id)


def test_a_memory_comes_with_what_said_it_and_the_words_it_quotes(memory: Handle) -> None:
    first, turns = talked(memory, "s1", 3)
    second, others = talked(memory, "s2", 2)
    quoting(memory, WINDOW, second, others[0], day(2))
    memory_id = quoting(memory, WINDOW, first, turns[1], day(1))
    memory.memories.deprecate(memory_id, at=day(3), reason="moved")

    card = memory.expand(memory_id)

    assert card.item == memory.memories.get(memory_id)
    assert card.events == tuple(memory.memories.history(memory_id))
    assert [e.type for e in card.events] == ["REINFORCE_EXACT", "ADD", "DEPRECATE"]
    assert card.events[0].turn_id == turns[1]
    assert [t.id for t in card.turns] == [others[0], turns[1]]
    assert card.turns == (
        memory.episodes.turns(second).turns[0],
        memory.episodes.turns(first).turns[1],
    )
    assert [(e.id, e.session_id) for e in card.episodes] == [(first, "s1"), (second, "s2")]
    assert (card.supersedes, card.superseded_by, card.claims) == ((), (), ())
    assert (card.accesses, card.last_access_at) == (0, None)


def test_only_the_newest_events_are_shown(memory: Handle) -> None:
    texts = [NewMemory(content=WINDOW, at=day(n), event_id=f"{n:02}") for n in range(25)]
    [*_, last] = memory.remember_many(texts)
    shown = [e.id for e in memory.expand(str(last.memory_id)).events]
    assert shown == [f"{n:02}" for n in range(5, 25)]


def test_a_memory_comes_with_its_neighbours_in_the_chain(memory: Handle) -> None:
    old = str(memory.remember(unlike(1), at=day(0)).memory_id)
    done = memory.supersede(old, unlike(2), at=day(1))
    newest = memory.supersede(done.newer_id, unlike(3), at=day(2))

    card = memory.expand(done.newer_id)

    [older], [newer] = card.supersedes, card.superseded_by
    assert (older.id, older.text, older.status) == (old, unlike(1), "superseded")
    assert (older.event_id, older.occurred_at, older.in_force) == (done.event_id, day(1), True)
    assert (newer.id, newer.text, newer.status) == (newest.newer_id, unlike(3), "current")
    assert newer.event_id == newest.event_id
    assert memory.expand(old).supersedes == ()
    # The value comes back.
    memory.remember(unlike(1), at=day(3))
    [gone] = memory.expand(old).superseded_by
    assert (gone.id, gone.in_force) == (done.newer_id, False)


def test_a_memory_comes_with_what_it_asserts_and_what_of_it_has_lost(memory: Handle) -> None:
    memory.predicates.declare("works_on", cardinality="ONE", at=day(0))
    claims = [("alice", "works_on", "Borealis"), ("alice", "likes", "tea")]
    done = memory.remember(unlike(1), claims=claims, at=day(0))
    memory.observe("alice", "works_on", "Atlas", at=day(1))
    card = memory.expand(str(done.memory_id))
    assert isinstance(card.item, Memory)
    assert {b.id for b in card.claims} == set(done.belief_ids)
    assert {b.object: b.id for b in card.claims}["Borealis"] in (card.item.lost_ids or ())
    assert len(card.item.lost_ids or ()) == 1
    for belief in card.claims:
        assert still(belief) == still(memory.beliefs.get(belief.id))


def still(item: object) -> Belief:
    """A belief without how alive it is, which is another thing a moment later."""
    assert isinstance(item, Belief)
    assert item.vitality is not None
    return item.model_copy(update={"vitality": None})


def test_a_belief_comes_with_its_evidence_and_the_words_it_quotes(memory: Handle) -> None:
    episode, turns = talked(memory, "s1", 4)
    belief = memory.believe("It rains in Porto", at=day(0), note="looked out").belief_id
    wrong = memory.add_evidence(belief, "supporting", 0.8, at=day(1), turn_id=turns[0])
    memory.add_evidence(
        belief, "refuting", 0.7, at=day(3), turn_id=turns[2], episode_id=episode, note="dry"
    )
    memory.add_evidence(belief, "supporting", 0.9, at=day(2), turn_id=turns[1])
    memory.beliefs.retract(wrong.event_id)

    card = memory.expand(belief)

    assert still(card.item) == still(memory.beliefs.get(belief))
    assert [e.type for e in card.events] == ["BELIEVE", "EVIDENCE", "EVIDENCE"]
    said = [e for e in card.events if isinstance(e, BeliefEvent)]
    assert [e.kind for e in said] == [None, EvidenceKind.SUPPORTING, EvidenceKind.REFUTING]
    assert [e.strength for e in said] == [None, 0.9, 0.7]
    assert said[2].payload["note"] == "dry"
    assert not any(e.retracted for e in said)
    assert [t.id for t in card.turns] == [turns[1], turns[2]]
    assert [e.id for e in card.episodes] == [episode]


def test_a_belief_comes_with_what_took_its_place(memory: Handle) -> None:
    old = memory.believe("The pool should have 4 threads", at=day(0)).belief_id
    [newer] = memory.beliefs.revise(old, "The pool should have 8 threads", at=day(1)).newer_ids
    [after] = memory.expand(old).superseded_by
    assert (after.id, after.text) == (newer, "The pool should have 8 threads")
    [before] = memory.expand(newer).supersedes
    assert (before.id, before.status, before.in_force) == (old, "superseded", True)


@pytest.mark.parametrize(
    ("place", "around"), [(0, [1, 2, 3]), (5, [2, 3, 4, 6, 7, 8]), (9, [6, 7, 8])]
)
def test_a_turn_comes_with_its_neighbours(memory: Handle, place: int, around: list[int]) -> None:
    episode, turns = talked(memory, "s1", 10)
    talked(memory, "s2", 10)
    card = memory.expand(turns[place])
    assert card.item == memory.episodes.turns(episode).turns[place]
    assert [t.id for t in card.turns] == [turns[n] for n in around]
    assert [e.id for e in card.episodes] == [episode]
    assert card.events == ()


def test_an_episode_comes_with_its_first_turns(memory: Handle) -> None:
    episode, turns = talked(memory, "s1", 103)
    card = memory.expand(episode)
    assert card.item == memory.episodes.get(episode)
    assert isinstance(card.item, Episode)
    assert card.item.turns == 103
    assert [t.id for t in card.turns] == turns[:100]
    document = memory.episodes.add(episode_id="doc", content=unlike(1), summary="short")
    assert memory.expand(document).item == memory.episodes.get("doc")
    assert memory.expand(document).turns == ()


def test_an_id_of_two_kinds_is_that_of_the_memory(memory: Handle) -> None:
    memory_id = str(memory.remember(unlike(1)).memory_id)
    memory.episodes.add(episode_id=memory_id, content=unlike(2))
    assert isinstance(memory.expand(memory_id).item, Memory)
    memory.usage.flush()
    assert memory.expand(memory_id).accesses == 1


def test_it_is_read_at_the_present_of_the_clock(door: Door, memory: Handle) -> None:
    memory.predicates.declare("likes", decay_per_day=0.1, at=MAY)
    seen = memory.observe("alice", "likes", "tea", confidence=0.9, at=MAY)
    later = door.on(memory, clock=FrozenClock(day(30)))
    assert later.expand(seen.belief_id).item == later.beliefs.get(seen.belief_id)
    assert later.expand(seen.belief_id).item != memory.expand(seen.belief_id).item
    with pytest.raises(NotFoundError):
        door.on(memory, clock=FrozenClock(day(-1))).expand(seen.belief_id)


class Noting:
    """A graph that notes which queries pass in which transaction."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.read_in: list[list[str]] = []

    async def read(self, work: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
        self.read_in.append([])
        return await self._inner.read(lambda tx: work(_Tx(tx, self.read_in[-1])))


class _Tx:
    def __init__(self, tx: Any, queries: list[str]) -> None:
        self._tx, self._queries = tx, queries

    async def fetch(self, query: Any, /, **params: object) -> Any:
        self._queries.append(query.name)
        return await self._tx.fetch(query, **params)


def test_it_is_one_read_and_no_write(door: Door, memory: Handle) -> None:
    _, turns = talked(memory, "s1", 2)
    plain = memory.remember(unlike(1))
    done = memory.remember(unlike(2), claims=[("alice", "likes", "tea")])
    graph = Noting(memory._state.context.services.graph)
    handle = door.on(memory, graph=graph)
    for item_id in (turns[0], plain.memory_id, done.belief_ids[0], done.memory_id):
        handle.expand(str(item_id))
    assert graph.read_in == [
        ["usage/expand"],
        ["usage/expand"],
        ["usage/expand", "belief/states"],
        ["usage/expand", "belief/find_lost", "belief/states"],
    ]


def test_what_a_reader_does_not_see_is_not_on_the_card(memory: Handle) -> None:
    alice, bob = memory.scope("alice"), memory.scope("bob")
    episode, turns = talked(alice, "s1", 2)
    both = memory.scope("global", read_scopes=["global", "alice"])
    memory_id = quoting(both, WINDOW, episode, turns[0], day(1))
    belief = both.observe("alice", "likes", "tea", turn_id=turns[1], episode_id=episode).belief_id
    alice.remember(WINDOW)
    for item_id, turn in ((memory_id, turns[0]), (belief, turns[1])):
        hers = alice.expand(item_id)
        assert [t.id for t in hers.turns] == [turn]
        assert [e.id for e in hers.episodes] == [episode]
        for reader in (bob, memory):
            card = reader.expand(item_id)
            assert (card.turns, card.episodes) == ((), ())
            assert len(card.events) == 1
    assert len(alice.expand(memory_id).events) == 2


def test_what_is_not_there_or_not_mine_is_not_found(memory: Handle) -> None:
    alice = memory.scope("alice")
    episode, turns = talked(alice, "s1", 1)
    done = alice.remember(unlike(1), claims=[("alice", "likes", "tea")])
    for item_id in (episode, turns[0], str(done.memory_id), done.belief_ids[0]):
        assert isinstance(alice.expand(item_id), Card)
        for reader in (
            memory,
            memory.scope("bob"),
            on_tenant(memory, fresh_tenant()).scope("alice"),
        ):
            with pytest.raises(NotFoundError, match="No item"):
                reader.expand(item_id)
    for unknown in ("", "m_nope", "x" * 200, "'; MATCH (n) DETACH DELETE n; //"):
        with pytest.raises(NotFoundError):
            memory.expand(unknown)
    event = memory.remember(unlike(2)).event_id
    with pytest.raises(NotFoundError):
        memory.expand(event)


def test_a_card_cannot_change(plain: Handle) -> None:
    card = plain.expand(str(plain.remember(unlike(1)).memory_id))
    with pytest.raises(ValidationError):
        card.accesses = 5  # type: ignore[misc]
    assert Card.model_validate_json(card.model_dump_json()) == card


def test_what_a_card_showed_is_no_news_in_its_session(memory: Handle) -> None:
    _, turns = talked(memory, "s0", 2)
    old = str(memory.remember(unlike(1)).memory_id)
    newer = memory.supersede(old, unlike(2)).newer_id
    belief = memory.believe("It rains in Porto").belief_id
    document = memory.episodes.add(episode_id="doc", content=unlike(3), summary=unlike(4))
    shown = {
        newer: [unlike(1), unlike(2)],
        belief: ["It rains in Porto"],
        turns[0]: [unlike(0, about="s0"), unlike(1, about="s0")],
        document: [unlike(3), unlike(4)],
    }
    for item_id, texts in shown.items():
        with memory.session(item_id) as session:
            session.expand(item_id)
            done = session.remember_many(texts)
        assert {o.outcome for o in done} == {Outcome.REJECTED_HYGIENE}, item_id
