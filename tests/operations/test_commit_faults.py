"""What fails half-way: retries, lost acknowledgements, models that fail, writers in between."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import Handle, Message, NewMemory, Outcome
from graphmem.errors import GraphUnavailableError, ModelReplyError, ModelUnavailableError
from graphmem.model import Origin
from tests.plugins.clients import Door, on_tenant
from tests.plugins.examples import sample
from tests.plugins.faults import (
    Between,
    Breaking,
    Embedding,
    Failing,
    LostError,
    Retrying,
    Unacknowledged,
)
from tests.plugins.graph import Look
from tests.plugins.texts import WINDOW, restated, unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)


WRITES: dict[str, Callable[[Handle, str], Any]] = {
    "remember": lambda m, _: m.remember(unlike(1), event_id="e1", at=MAY),
    "exact": lambda m, _: m.remember(WINDOW, event_id="e1", at=MAY),
    "near": lambda m, _: m.remember(restated(6), event_id="e1", at=MAY),
    "back": lambda m, _: m.remember(unlike(0), event_id="e1", at=MAY + timedelta(days=9)),
    "remember_many": lambda m, _: m.remember_many(
        [
            NewMemory(content=text, event_id=f"e{n}")
            for n, text in enumerate([unlike(1), WINDOW, restated(6)])
        ]
    ),
    "supersede": lambda m, target: m.supersede(target, unlike(2), origin=Origin(event_id="e1")),
    "deprecate": lambda m, target: m.memories.deprecate(target, origin=Origin(event_id="e1")),
    "restore": lambda m, target: m.memories.restore(target, origin=Origin(event_id="e1")),
    "add_episode": lambda m, _: m.episodes.add(episode_id="doc", content=unlike(3)),
    "keyed": lambda m, _: m.session("s").add_messages(
        [{"role": "user", "content": unlike(n), "id": str(n)} for n in range(3)]
    ),
    "placed": lambda m, _: m.session("s").add_messages(
        [{"role": "user", "content": unlike(n)} for n in range(3)]
    ),
    "exchange": lambda m, _: m.session("s").add_messages([{"role": "user", "content": unlike(1)}]),
    "ingest": lambda m, _: m.ingest(
        [Message(role="user", content=unlike(n), id=str(n), session="s") for n in range(1, 4)]
    ),
}


def prepared(memory: Handle) -> str:
    """Put something there, some of it hidden, and return the id of a hidden memory."""
    memory.remember(WINDOW, event_id="base1", at=MAY)
    hidden = str(memory.remember(unlike(0), event_id="base2", at=MAY).memory_id)
    memory.memories.deprecate(hidden, at=MAY + timedelta(days=1), origin=Origin(event_id="base3"))
    return hidden


def told(result: Any) -> Any:
    """What a call said, without what two runs of it may say differently."""
    if isinstance(result, list):
        return [told(one) for one in result]
    dumped = result.model_dump() if hasattr(result, "model_dump") else result
    if isinstance(dumped, dict):
        return {k: v for k, v in dumped.items() if k not in ("repeated", "occurred_at")}
    return dumped


def cards(memory: Handle) -> dict[str, Any]:
    """What is there, without when it was."""
    found = memory.memories.list(statuses=["current", "superseded", "deprecated"])  # type: ignore[list-item]
    apart = {"created_at", "recorded_at", "last_seen_at"}
    return {m.id: m.model_dump(exclude=apart) for m in found.memories}


@pytest.mark.parametrize("name", WRITES)
def test_a_retried_transaction_counts_once(
    door: Door, memory: Handle, look: Look, name: str
) -> None:
    straight, retried = (
        memory.scope("a"),
        on_tenant(memory, f"{_tenant(memory)}-retried").scope("a"),
    )
    expected = WRITES[name](straight, prepared(straight))

    inner = retried._state.context.services.graph
    target = prepared(retried)
    done = WRITES[name](door.on(retried, graph=Retrying(inner)), target)

    assert told(done) == told(expected)
    assert look.count(_tenant(retried)) == look.count(_tenant(straight))
    assert cards(retried) == cards(straight)


@pytest.mark.parametrize("nth", sample([1, 2], 2))
@pytest.mark.parametrize("name", WRITES)
def test_a_lost_acknowledgement_and_a_second_try_count_once(
    door: Door, memory: Handle, look: Look, name: str, nth: int
) -> None:
    straight, broken = memory.scope("a"), on_tenant(memory, f"{_tenant(memory)}-broken").scope("a")
    expected = WRITES[name](straight, prepared(straight))
    target = prepared(broken)
    unsure = door.on(broken, graph=Unacknowledged(broken._state.context.services.graph, nth))

    try:
        first = WRITES[name](unsure, target)
    except GraphUnavailableError:
        first = None
    done = WRITES[name](broken, target)

    assert first is None or told(first) == told(expected)
    if name not in ("keyed", "placed", "exchange", "ingest"):
        assert told(done) == told(expected)
    assert look.count(_tenant(broken)) == look.count(_tenant(straight))
    assert cards(broken) == cards(straight)


@pytest.mark.parametrize("name", WRITES)
def test_whatever_query_fails_nothing_is_half_written(
    door: Door, memory: Handle, look: Look, tenant: str, name: str
) -> None:
    target = prepared(memory)
    # What a call may leave behind on purpose: the episode that is opened before its turns.
    memory.session("s").add_messages([])
    before, events = look.count(tenant), look.events(tenant)
    inner = memory._state.context.services.graph
    for nth in range(1, 20):
        try:
            WRITES[name](door.on(memory, graph=Breaking(inner, nth)), target)
        except LostError:
            after = look.count(tenant)
            assert after.get("Turn", 0) in (0, 1 if name == "exchange" else 3)
            # The summary of a conversation follows the commit of its memories.
            committed = 3 if name == "ingest" and after["Memory"] > before["Memory"] else 0
            whole = {label: before[label] + committed for label in ("Memory", "Event")}
            assert {**after, "Turn": 0} == {**before, **whole, "Turn": 0}
            assert events.items() <= look.events(tenant).items()
        else:
            assert nth > 1
            return
    pytest.fail("it never came through")


def _tenant(memory: Handle) -> str:
    return memory._state.context.tenant


@pytest.mark.parametrize(
    "error",
    [ModelUnavailableError("gone"), ModelReplyError("a row is missing")],
    ids=lambda error: error.code,
)
@pytest.mark.parametrize("name", ["remember", "remember_many", "supersede", "keyed", "placed"])
def test_a_model_that_fails_leaves_nothing(
    door: Door, memory: Handle, look: Look, tenant: str, name: str, error: Exception
) -> None:
    target = prepared(memory)
    memory.session("s").add_messages([])
    before = (look.count(tenant), look.events(tenant))
    with pytest.raises(type(error)):
        WRITES[name](door.on(memory, embedder=Failing(error)), target)
    assert (look.count(tenant), look.events(tenant)) == before
    assert WRITES[name](memory, target)


def test_what_is_there_already_needs_no_model(door: Door, memory: Handle) -> None:
    prepared(memory)
    without = door.on(memory, embedder=Failing(ModelUnavailableError("gone")))
    assert without.remember(WINDOW).outcome is Outcome.EXACT_DUPE
    assert without.remember(WINDOW, event_id="base1", at=MAY).repeated
    assert without.remember("?").outcome is Outcome.REJECTED_HYGIENE


@pytest.mark.usefixtures("both_clients")
def test_a_text_that_another_writer_wrote_meanwhile_is_a_duplicate(
    door: Door, memory: Handle, plain: Handle, look: Look, tenant: str
) -> None:
    def other() -> None:
        plain.remember(unlike(1))
        plain.remember(WINDOW)

    memory = door.on(memory, embedder=Embedding(other))
    done = memory.remember_many([unlike(1), restated(6), unlike(2)])
    assert [o.outcome for o in done] == ["EXACT_DUPE", "NEAR_DUPE", "INSERTED_NEW"]
    assert look.count(tenant) == {"Memory": 3, "Event": 5}


def test_an_event_that_another_writer_sent_meanwhile_is_the_same(
    door: Door, memory: Handle, plain: Handle, look: Look, tenant: str
) -> None:
    def other() -> None:
        plain.remember(unlike(1), event_id="e1", at=MAY)

    done = door.on(memory, embedder=Embedding(other)).remember(unlike(1), event_id="e1", at=MAY)
    assert done.repeated
    assert done.outcome is Outcome.INSERTED_NEW
    assert look.count(tenant) == {"Memory": 1, "Event": 1}


def test_a_shared_memory_that_was_hidden_meanwhile_is_embedded_after_all(
    door: Door, memory: Handle, plain: Handle, tenant: str
) -> None:
    shared = str(plain.remember(unlike(1)).memory_id)
    embedder = Embedding(lambda: None)
    inner = memory._state.context.services.graph
    graph = Between(inner, lambda: plain.memories.deprecate(shared))
    alice = door.on(memory.scope("alice"), graph=graph, embedder=embedder)

    done = alice.remember(unlike(1))

    assert done.outcome is Outcome.INSERTED_NEW
    assert embedder.asked == [unlike(1)]
    assert memory.scope("alice").recall(unlike(1)).bites[0].vector_rank == 1


@pytest.mark.parametrize("keyed", ["keyed", "placed"])
def test_messages_that_another_writer_added_meanwhile_are_not_added_again(
    door: Door, memory: Handle, plain: Handle, keyed: str
) -> None:
    said = [
        Message(role="user", content=unlike(n), id=str(n) if keyed == "keyed" else None)
        for n in range(4)
    ]
    memory.session("s").add_messages(said[:1])
    embedder = Embedding(lambda: plain.session("s").add_messages(said[:2]))
    session = door.on(memory, embedder=embedder).session("s")

    done = session.add_messages(said)

    assert done.added == 2
    assert [t.text for t in memory.episodes.turns(session.episode_id).turns] == [
        m.content for m in said
    ]


@pytest.mark.usefixtures("both_clients")
def test_a_conversation_that_moved_on_meanwhile_is_looked_at_again(
    door: Door, memory: Handle, plain: Handle
) -> None:
    """What was planned as a continuation is new, and has to be embedded first."""
    a, b, c = (Message(role="user", content=unlike(n)) for n in range(3))
    memory.session("s").add_messages([a])
    inner = memory._state.context.services.graph
    embedder = Embedding(lambda: None)
    graph = Between(inner, lambda: plain.session("s").add_messages([c]))
    session = door.on(memory, embedder=embedder, graph=graph).session("s")

    done = session.add_messages([a, b])

    assert done.added == 2
    assert embedder.asked == [b.content, a.content]
    texts = [t.text for t in memory.episodes.turns(session.episode_id).turns]
    assert texts == [m.content for m in (a, c, a, b)]
    # A repeated message is one result.
    assert len(memory.recall(a.content, kinds=["turn"]).bites) == 3
