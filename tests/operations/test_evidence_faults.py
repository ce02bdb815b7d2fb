"""What fails half-way while evidence is written: retries, cut wires, models that fail."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import pytest

from graphmem import AsOf, GraphMem, Handle
from graphmem.errors import (
    GraphUnavailableError,
    ModelReplyError,
    ModelUnavailableError,
    SupersededBeliefError,
)
from graphmem.model import EvidenceReceipt, Origin
from graphmem.rules import claims
from tests.plugins.clients import Door, on, on_tenant
from tests.plugins.cutting import wire_to
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
from tests.plugins.graph import Look, fresh_tenant

MAY = datetime(2025, 5, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)
ATLAS = ("alice", "works_on", "Atlas")
Straight = Callable[[str], Any]
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
}
EMBEDDING = ["observe", "observe in other words", "believe", "revise", "split", "merge"]
"""Those that embed a new statement before they write."""


def prepared(memory: Handle) -> Handle:
    """Put something of each kind there, as it may be when a write comes; return the writer."""
    writer = memory.scope("a")
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
    return writer


def told(result: Any) -> Any:
    """What a call said, without what two runs of it may say differently."""
    if isinstance(result, list):
        return [told(one) for one in result]
    apart = {"repeated", "recorded_at", "found"}
    return result.model_dump(exclude=apart)


def cards(memory: Handle) -> dict[str, Any]:
    """Every belief and every slot at one instant, without when they were recorded."""
    then = AsOf(valid=datetime(2030, 1, 1, tzinfo=UTC))
    beliefs = memory.beliefs.list(include_superseded=True, limit=1_000, as_of=then).beliefs
    slots = [memory.current(*of, as_of=then) for of in (("alice", "works_on"), ("s0", "is"))]
    return {b.id: b.model_dump(exclude={"recorded_at"}) for b in beliefs} | {
        slot.subject: slot.model_dump(exclude={"valid"}) for slot in slots
    }


def tenant_of(memory: Handle) -> str:
    return memory._state.context.tenant


def kept(look: Look, memory: Handle) -> Any:
    """All that is in the graph of a tenant, its edges too, without the clock of the server."""
    events = {
        name: {k: v for k, v in event.items() if k not in ("recorded_at", "tenant")}
        for name, event in look.events(tenant_of(memory)).items()
    }
    apart = {"recorded_at", "locked_at", "tenant", "tenant_key", "scope_key", "value_key"}
    beliefs = {
        name: {k: v for k, v in belief.items() if k not in apart}
        for name, belief in look.beliefs(tenant_of(memory)).items()
    }
    edges = set(look.edges(tenant_of(memory)))
    return events, beliefs, edges, look.count(tenant_of(memory))


@pytest.fixture(scope="module")
def straight(client: GraphMem, look: Look) -> Straight:
    """Make a call where nothing goes wrong, once; return what it said, and what is there."""

    @cache
    def made(name: str) -> Any:
        writer = prepared(client.tenant(fresh_tenant()))
        said = told(WRITES[name](writer))
        return said, kept(look, writer), cards(writer)

    return made


@pytest.mark.parametrize("name", WRITES)
def test_a_retried_transaction_counts_once(
    door: Door, memory: Handle, look: Look, straight: Straight, name: str
) -> None:
    said, *expected = straight(name)
    writer = prepared(memory)
    inner = writer._state.context.services.graph

    done = WRITES[name](door.on(writer, graph=Retrying(inner)))

    assert told(done) == said
    assert [kept(look, writer), cards(writer)] == expected
    assert writer.admin.verify().wrong == ()


@pytest.mark.parametrize("nth", sample([1, 2], 2))
@pytest.mark.parametrize("name", WRITES)
def test_a_lost_acknowledgement_and_a_second_try_count_once(
    door: Door, memory: Handle, look: Look, straight: Straight, name: str, nth: int
) -> None:
    said, *expected = straight(name)
    writer = prepared(memory)
    inner = writer._state.context.services.graph

    first = None
    try:
        first = WRITES[name](door.on(writer, graph=Unacknowledged(inner, nth)))
    except GraphUnavailableError:
        assert nth <= 2
    done = WRITES[name](writer)

    for one in (first, done):
        assert one is None or told(one) == said
    assert [kept(look, writer), cards(writer)] == expected


@pytest.mark.parametrize("name", WRITES)
def test_whatever_query_fails_nothing_is_half_written(
    door: Door, memory: Handle, look: Look, name: str
) -> None:
    writer = prepared(memory)
    before = kept(look, writer)
    inner = writer._state.context.services.graph
    for nth in range(1, 20):
        try:
            WRITES[name](door.on(writer, graph=Breaking(inner, nth)))
        except LostError:
            if name == "observe_many" and look.events(tenant_of(writer)).keys() > before[0].keys():
                # Its events are kept, whatever becomes of the embeddings.
                assert look.count(tenant_of(writer))["Event"] == before[3]["Event"] + 3
                continue
            assert kept(look, writer) == before
        else:
            assert nth > 2
            assert kept(look, writer) != before
            return
    pytest.fail("it never came through")


@pytest.mark.system
@pytest.mark.parametrize("early", [True, False], ids=["before it is heard", "before it is told"])
@pytest.mark.parametrize("name", WRITES)
def test_a_wire_that_is_cut_at_a_commit_loses_and_doubles_nothing(
    door: Door, memory: Handle, look: Look, straight: Straight, name: str, *, early: bool
) -> None:
    said, *expected = straight(name)
    prepared(memory)
    server = urlsplit(str(door.settings.uri))
    with wire_to(str(server.hostname), server.port or 7687) as wire:
        through = door.settings.model_copy(
            update={"uri": f"bolt://127.0.0.1:{wire.port}", "max_retry_time_s": 0.0}
        )
        with door.open(through) as client:
            writer = client.tenant(tenant_of(memory)).scope("a")
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
    assert wire.cuts == nth - 1 >= (1 if name.startswith("retract") else 2)
    assert told(done) == said
    assert [kept(look, writer), cards(memory.scope("a"))] == expected


@pytest.mark.parametrize(
    "error", [GONE, ModelReplyError("a row is missing")], ids=lambda error: error.code
)
@pytest.mark.parametrize("name", EMBEDDING)
def test_a_model_that_fails_leaves_nothing(
    door: Door, memory: Handle, look: Look, name: str, error: Exception
) -> None:
    writer = prepared(memory)
    before = kept(look, writer)
    with pytest.raises(type(error)):
        WRITES[name](door.on(writer, embedder=Failing(error)))
    assert kept(look, writer) == before
    assert WRITES[name](writer)


@pytest.mark.parametrize("name", [name for name in WRITES if name not in EMBEDDING])
def test_what_is_worded_already_needs_no_model(door: Door, memory: Handle, name: str) -> None:
    writer = door.on(prepared(memory), embedder=Failing(GONE))
    if name == "observe_many":
        with pytest.raises(ModelUnavailableError):
            WRITES[name](writer)
    else:
        assert WRITES[name](writer)


def test_a_batch_is_kept_when_the_model_fails_and_embedded_when_it_is_sent_again(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    seen: list[EvidenceReceipt] = []
    with pytest.raises(ModelUnavailableError):
        door.on(memory, embedder=Failing(GONE)).observe_many(pieces(600), seen.extend)
    assert len(seen) == 600
    assert look.count(tenant) == {"Belief": 2, "Event": 600}
    assert all("embedding" not in b for b in look.beliefs(tenant).values())

    again = memory.observe_many(pieces(600))

    assert all(r.repeated for r in again)
    assert all(len(b["embedding"]) > 1 for b in look.beliefs(tenant).values())
    assert all("unembedded" not in b for b in look.beliefs(tenant).values())


def test_a_belief_that_another_writer_worded_meanwhile_is_embedded_as_it_is_shown(
    door: Door, memory: Handle, plain: Handle, look: Look, tenant: str
) -> None:
    """Whoever comes first, and whichever words are the earlier ones."""
    alone = on_tenant(plain, f"{tenant}-alone")
    for n, (mine, theirs) in enumerate(((1, 2), (2, 1))):
        parts = (f"subject {n}", "is", "here")
        loud = (parts[0].upper(), "is", "here")

        def other(loud: Any = loud, theirs: int = theirs) -> None:
            plain.observe(*loud, at=MAY + theirs * HOUR)

        done = door.on(memory, embedder=Embedding(other)).observe(*parts, at=MAY + mine * HOUR)
        shown = look.beliefs(tenant)[done.belief_id]
        assert shown["subject"] == (parts if mine < theirs else loud)[0]
        again = alone.observe(shown["subject"], "is", "here")
        alike = look.beliefs(f"{tenant}-alone")[again.belief_id]
        assert (shown["embedding"], shown.get("unembedded")) == (alike["embedding"], None)


def test_statements_that_are_worded_otherwise_meanwhile_are_embedded_again(
    door: Door, memory: Handle, plain: Handle, look: Look, tenant: str
) -> None:
    """Between the look at what has no embedding and the embedding, the words change."""
    earlier = {"subject": "S0", "predicate": "is", "object": "here", "at": MAY - HOUR}
    unembedding = on(plain, embedder=Failing(GONE))

    def other() -> None:
        with pytest.raises(ModelUnavailableError):
            unembedding.observe_many([earlier])

    embedder = Embedding(other)
    door.on(memory, embedder=embedder).observe_many(pieces(2))
    assert sorted(embedder.asked) == ["S0 is here", "s0 is here", "s1 is here"]
    assert embedder.asked[-1] == "S0 is here"
    shown = look.beliefs(tenant)[claims.triple_claim("global", "s0", "is", "here").id]
    alone = on_tenant(plain, f"{tenant}-alone").observe("S0", "is", "here")
    alike = look.beliefs(f"{tenant}-alone")[alone.belief_id]
    assert (shown["statement"], shown["embedding"]) == ("S0 is here", alike["embedding"])


def test_an_event_that_another_writer_sent_meanwhile_is_the_same(
    door: Door, memory: Handle, plain: Handle, look: Look, tenant: str
) -> None:
    inner = memory._state.context.services.graph
    graph = Between(inner, lambda: plain.observe(*ATLAS, event_id="e1", at=MAY))
    done = door.on(memory, graph=graph).observe(*ATLAS, event_id="e1", at=MAY)
    assert done.repeated
    assert look.count(tenant) == {"Belief": 1, "Event": 1}


def test_a_belief_that_was_revised_meanwhile_is_not_revised_again(
    door: Door, memory: Handle, plain: Handle, look: Look, tenant: str
) -> None:
    old = memory.believe("It rains")
    embedder = Embedding(lambda: plain.beliefs.revise(old, "It pours"))
    with pytest.raises(SupersededBeliefError):
        door.on(memory, embedder=embedder).beliefs.revise(old, "It is wet")
    assert look.count(tenant) == {"Belief": 2, "Event": 3}
