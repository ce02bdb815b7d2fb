"""What fails half-way: retries, cut wires, lost acknowledgements, models that fail."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import pytest

from graphmem import GraphMem, Handle, NewMemory
from graphmem.errors import GraphUnavailableError, ModelReplyError, ModelUnavailableError
from graphmem.model import Origin
from graphmem.rules import claims, identity
from graphmem.testing import FrozenClock
from tests.plugins.clients import Door, on
from tests.plugins.cutting import wire_to
from tests.plugins.examples import sample
from tests.plugins.faults import Breaking, Failing, LostError, Retrying, Unacknowledged
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import WINDOW, restated, unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ATLAS = ("alice", "works_on", "Atlas")
HIDDEN = identity.memory_id("a", unlike(0))
Straight = Callable[[str], Any]
MADE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
GONE = ModelUnavailableError("gone")


def id_of(statement: str, scope: str = "a") -> str:
    return claims.statement_claim(scope, statement).id


def pieces(n: int = 3) -> list[dict[str, Any]]:
    return [
        {
            "subject": f"s{i % 2}",
            "predicate": "is",
            "object": "here",
            "event_id": f"m{i}",
            "at": MAY,
        }
        for i in range(n)
    ]


def said(*numbers: int) -> list[dict[str, Any]]:
    return [{"role": "user", "content": unlike(n), "id": str(n), "at": MAY} for n in numbers]


WRITES: dict[str, Callable[[Handle], Any]] = {
    "observe": lambda m: m.observe("bob", "works_on", "Atlas", event_id="e1", at=MAY),
    "observe what is there": lambda m: m.observe(*ATLAS, event_id="e1", at=MAY + HOUR),
    "observe in other words": lambda m: m.observe(
        "ALICE", *ATLAS[1:], event_id="e1", at=MAY - HOUR
    ),
    "observe in an episode": lambda m: m.observe(
        *ATLAS, event_id="e1", at=MAY, episode_id="monday"
    ),
    "observe what was retracted": lambda m: m.observe(*ATLAS, event_id="retracted", at=MAY),
    "observe_many": lambda m: m.observe_many(pieces()),
    "believe": lambda m: m.believe("It is wet", event_id="e1", at=MAY),
    "believe what was superseded": lambda m: m.believe(
        "It rained", event_id="e1", at=MAY + 9 * HOUR
    ),
    "evidence": lambda m: m.add_evidence(id_of("It rains"), "refuting", 0.9, event_id="e1", at=MAY),
    "retract": lambda m: m.beliefs.retract("o1", origin=Origin(event_id="e1"), at=MAY),
    "retract a retraction": lambda m: m.beliefs.retract(
        "r1", origin=Origin(event_id="e1"), at=MAY + 9 * HOUR
    ),
    "retract what is to come": lambda m: m.beliefs.retract(
        "to come", missing_ok=True, origin=Origin(event_id="e1"), at=MAY
    ),
    "revise": lambda m: m.beliefs.revise(
        id_of("It rains"), "It is wet", origin=Origin(event_id="e1"), at=MAY + HOUR
    ),
    "revise back": lambda m: m.beliefs.revise(
        id_of("It rains"), "It rained", origin=Origin(event_id="e1"), at=MAY + 9 * HOUR
    ),
    "split": lambda m: m.beliefs.split(
        id_of("It rains"), ["It is wet", "It is cold"], origin=Origin(event_id="e1"), at=MAY
    ),
    "merge": lambda m: m.beliefs.merge(
        [id_of("It rains"), id_of("It pours")],
        "It is wet",
        origin=Origin(event_id="e1"),
        at=MAY + 2 * HOUR,
    ),
    "predicate": lambda m: m.predicates.declare(
        "works_on", cardinality="ONE", origin=Origin(event_id="e1"), at=MAY
    ),
    "remember": lambda m: m.remember(unlike(1), event_id="e1", at=MAY),
    "exact": lambda m: m.remember(WINDOW, event_id="e1", at=MAY),
    "near": lambda m: m.remember(restated(6), event_id="e1", at=MAY),
    "back": lambda m: m.remember(unlike(0), event_id="e1", at=MAY + 9 * DAY),
    "remember_many": lambda m: m.remember_many(
        [
            NewMemory(content=text, event_id=f"e{n}", at=MAY)
            for n, text in enumerate([unlike(1), WINDOW, restated(6)])
        ]
    ),
    "supersede": lambda m: m.supersede(
        HIDDEN, unlike(2), origin=Origin(event_id="e1"), at=MAY + 9 * DAY
    ),
    "deprecate": lambda m: m.memories.deprecate(
        HIDDEN, origin=Origin(event_id="e1"), at=MAY + 9 * DAY
    ),
    "restore": lambda m: m.memories.restore(HIDDEN, origin=Origin(event_id="e1"), at=MAY + 9 * DAY),
    "add_episode": lambda m: m.episodes.add(episode_id="doc", content=unlike(3), at=MAY),
    "keyed": lambda m: m.session("s").add_messages(said(1, 2, 3)),
    "placed": lambda m: m.session("s").add_messages(
        [{"role": "user", "content": unlike(n)} for n in (4, 5, 6)]
    ),
    "exchange": lambda m: m.session("s").add_messages([{"role": "user", "content": unlike(1)}]),
    "ingest": lambda m: m.ingest([one | {"session": "s"} for one in said(1, 2, 3)]),
}
EMBEDDING = [
    *("observe", "observe in other words", "believe", "revise", "split", "merge"),
    *("remember", "remember_many", "supersede", "keyed", "placed"),
]
"""Those that embed a new text before they write."""
WORDED = [
    *("observe what is there", "observe in an episode", "observe what was retracted", "evidence"),
    *("believe what was superseded", "revise back", "predicate", "exact", "deprecate", "restore"),
    *("retract", "retract a retraction", "retract what is to come"),
]
STEPS = {"observe_many", "keyed", "placed", "exchange", "ingest"}
"""Those of several transactions: the second try goes on after the last one that was committed."""


def prepared(memory: Handle) -> Handle:
    """Put something of each kind there, as it may be when a write comes; return the writer."""
    writer = on(memory, clock=FrozenClock(MAY + 99 * DAY)).scope("a")
    writer.episodes.add(episode_id="monday", at=MAY)
    writer.observe(*ATLAS, event_id="o1", at=MAY)
    writer.observe(*ATLAS, event_id="o2", at=MAY, kind="refuting")
    writer.beliefs.retract("o2", origin=Origin(event_id="r1"), at=MAY)
    writer.beliefs.retract("retracted", missing_ok=True, origin=Origin(event_id="r2"), at=MAY)
    writer.believe("It rains", event_id="b1", at=MAY)
    writer.believe("It rained", event_id="b2", at=MAY)
    writer.beliefs.revise(
        id_of("It rained"), "It pours", origin=Origin(event_id="v1"), at=MAY + HOUR
    )
    writer.remember(WINDOW, event_id="base1", at=MAY)
    writer.remember(unlike(0), event_id="base2", at=MAY)
    writer.memories.deprecate(HIDDEN, at=MAY + DAY, origin=Origin(event_id="base3"))
    writer.session("s").add_messages(said(7))
    return writer


def told(result: Any) -> Any:
    """Return what a call answered, without what two runs of it may answer differently."""
    if isinstance(result, list):
        return [told(one) for one in result]
    apart = {"repeated", "recorded_at", "found", "occurred_at"}
    return result.model_dump(exclude=apart) if hasattr(result, "model_dump") else result


def kept(look: Look, memory: Handle) -> Any:
    """Return all that is in the graph of a tenant, without the ids that are made at random."""
    found = look.graph(memory._state.context.tenant)
    return {kind: sorted(MADE.sub("made", one) for one in some) for kind, some in found.items()}


@pytest.fixture(scope="module")
def straight(client: GraphMem, look: Look) -> Straight:
    """Make a call where nothing goes wrong, once; return its answer, and what is there."""

    @cache
    def made(name: str) -> Any:
        writer = prepared(client.tenant(fresh_tenant()))
        return told(WRITES[name](writer)), kept(look, writer)

    return made


@pytest.mark.parametrize("name", WRITES)
def test_a_retried_transaction_counts_once(
    door: Door, memory: Handle, look: Look, straight: Straight, name: str
) -> None:
    answer, graph = straight(name)
    writer = prepared(memory)
    inner = writer._state.context.services.graph

    done = WRITES[name](door.on(writer, graph=Retrying(inner)))

    assert told(done) == answer
    assert kept(look, writer) == graph
    assert writer.admin.verify().wrong == ()


@pytest.mark.parametrize("nth", sample([1, 2], 2))
@pytest.mark.parametrize("name", WRITES)
def test_a_lost_acknowledgement_and_a_second_try_count_once(
    door: Door, memory: Handle, look: Look, straight: Straight, name: str, nth: int
) -> None:
    answer, graph = straight(name)
    writer = prepared(memory)
    inner = writer._state.context.services.graph

    first = None
    with suppress(GraphUnavailableError):
        first = WRITES[name](door.on(writer, graph=Unacknowledged(inner, nth)))
    done = WRITES[name](writer)

    assert first is None or told(first) == answer
    assert name in STEPS or told(done) == answer
    assert kept(look, writer) == graph


@pytest.mark.parametrize("name", WRITES)
def test_whatever_query_fails_nothing_is_half_written(
    door: Door, memory: Handle, look: Look, straight: Straight, name: str
) -> None:
    _, graph = straight(name)
    writer = prepared(memory)
    before, events = kept(look, writer), look.events(writer._state.context.tenant)
    inner = writer._state.context.services.graph
    for nth in range(1, 20):
        try:
            WRITES[name](door.on(writer, graph=Breaking(inner, nth)))
        except LostError:
            if name not in STEPS:
                assert kept(look, writer) == before
                continue
            after = look.events(writer._state.context.tenant)
            turns = look.count(writer._state.context.tenant).get("Turn", 0)
            assert turns - 1 in (0, 1 if name == "exchange" else 3)
            assert len(after) - len(events) in (0, 3)
            assert events.items() <= after.items()
        else:
            assert nth > 1
            assert kept(look, writer) == graph
            return
    pytest.fail("it never came through")


@pytest.mark.system
@pytest.mark.parametrize("early", [True, False], ids=["before it is heard", "before it is told"])
@pytest.mark.parametrize("name", WRITES)
def test_a_wire_that_is_cut_at_a_commit_loses_and_doubles_nothing(
    door: Door, memory: Handle, look: Look, straight: Straight, name: str, *, early: bool
) -> None:
    answer, graph = straight(name)
    prepared(memory)
    server = urlsplit(str(door.settings.uri))
    with wire_to(str(server.hostname), server.port or 7687) as wire:
        through = door.settings.model_copy(
            update={"uri": f"bolt://127.0.0.1:{wire.port}", "max_retry_time_s": 0.0}
        )
        with door.open(through) as client:
            tenant = client.tenant(memory._state.context.tenant)
            writer = on(tenant, clock=FrozenClock(MAY + 99 * DAY)).scope("a")
            for nth in range(1, 9):
                wire.cut_at(nth, early=early)
                try:
                    done = WRITES[name](writer)
                except GraphUnavailableError:
                    continue
                else:
                    break
            else:
                pytest.fail("it never came through")
    # At each transaction once: what a write looks at beforehand, and the write.
    assert wire.cuts == nth - 1 >= 1
    assert name in STEPS or told(done) == answer
    assert kept(look, memory) == graph


@pytest.mark.parametrize("name", EMBEDDING)
def test_a_model_that_fails_leaves_nothing(
    door: Door, memory: Handle, look: Look, name: str
) -> None:
    writer = prepared(memory)
    before = kept(look, writer)
    for error in (GONE, ModelReplyError("a row is missing")):
        with pytest.raises(type(error)):
            WRITES[name](door.on(writer, embedder=Failing(error)))
        assert kept(look, writer) == before
    assert WRITES[name](writer)


@pytest.mark.parametrize("name", WORDED)
def test_what_is_worded_already_needs_no_model(door: Door, memory: Handle, name: str) -> None:
    assert WRITES[name](door.on(prepared(memory), embedder=Failing(GONE)))
