"""What another writer did meanwhile, and batches whose model failed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import Handle, Message, NewMemory, Outcome
from graphmem.errors import EventConflictError, ModelUnavailableError, SupersededBeliefError
from graphmem.model import EvidenceReceipt
from graphmem.operations.commit import MIN_AHEAD
from graphmem.rules import claims
from tests.operations.test_commit_faults import pieces
from tests.plugins.clients import Door, on, on_tenant
from tests.plugins.faults import Between, Embedding, Failing, Listing
from tests.plugins.graph import Look
from tests.plugins.texts import WINDOW, restated, unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)
ATLAS = ("alice", "works_on", "Atlas")
GONE = ModelUnavailableError("gone")


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


@pytest.mark.parametrize(
    ("before", "after"), [(None, "stays"), ("sits", "stays"), ("sits", None)], ids=str
)
def test_a_batch_is_worded_by_the_template_that_was_declared_meanwhile(
    door: Door, memory: Handle, plain: Handle, look: Look, before: str | None, after: str | None
) -> None:
    def declare(verb: str | None) -> None:
        plain.predicates.declare("is", template=verb and f"{{subject}} {verb} {{object}}")

    declare(before)
    embedder = Embedding(lambda: declare(after))
    door.on(memory, embedder=embedder).observe_many(pieces(2))
    stated = {f"s{n} {after or 'is'} here" for n in range(2)}
    shown = look.beliefs(memory._state.context.tenant).values()
    assert {one["statement"] for one in shown} == stated == {*embedder.asked[-2:]}
    assert all(one.get("unembedded") is None for one in shown)


def test_a_batch_of_observations_is_embedded_in_its_transaction_as_it_is_shown(
    door: Door, memory: Handle, plain: Handle, look: Look, tenant: str
) -> None:
    """Beliefs that it words twice, too; then nothing is left to be embedded afterwards."""
    words = [("s0", MAY), ("S0", MAY - HOUR), ("S1", MAY - HOUR), ("s1", MAY), ("s2", MAY)]
    batch = [{"subject": s, "predicate": "is", "object": "here", "at": at} for s, at in words]
    graph = Listing(memory._state.context.services.graph)
    door.on(memory, graph=graph).observe_many(batch)
    assert graph.transactions == [["belief/known_claims"], ["belief/append"]]
    alone = on_tenant(plain, f"{tenant}-alone")
    for shown in look.beliefs(tenant).values():
        again = alone.observe(shown["subject"], "is", "here")
        alike = look.beliefs(f"{tenant}-alone")[again.belief_id]
        assert (shown["embedding"], shown.get("unembedded")) == (alike["embedding"], None)
    assert sorted(b["subject"] for b in look.beliefs(tenant).values()) == ["S0", "S1", "s2"]


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


def test_a_text_that_is_there_needs_no_model(door: Door, memory: Handle) -> None:
    memory.remember(WINDOW, event_id="base1", at=MAY)
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


@pytest.mark.usefixtures("both_clients")
def test_a_large_batch_finds_what_another_writer_wrote_after_its_search(
    door: Door, memory: Handle, plain: Handle, look: Look, tenant: str
) -> None:
    """It searches before it locks the tenant, then again if another writer held the lock."""
    others = [unlike(n) for n in range(MIN_AHEAD)]
    plain.remember("The tenant exists, and so does its lock")
    graph = Between(memory._state.context.services.graph, lambda: plain.remember(WINDOW), nth=2)

    done = door.on(memory, graph=graph).remember_many([*others, restated(5)])

    assert graph.left <= 0
    assert done[-1].outcome is Outcome.NEAR_DUPE
    assert {o.outcome for o in done[:-1]} == {Outcome.INSERTED_NEW}
    assert look.count(tenant)["Memory"] == MIN_AHEAD + 2


def test_a_large_batch_meets_an_id_that_was_used_after_its_search(
    door: Door, memory: Handle, plain: Handle, look: Look, tenant: str
) -> None:
    """An observation takes no lock of the tenant."""
    plain.remember("The tenant exists, and so does its lock")
    graph = Between(
        memory._state.context.services.graph,
        lambda: plain.observe(*ATLAS, event_id="e1", at=MAY),
        nth=2,
    )
    texts = [NewMemory(content=unlike(n), event_id=f"e{n}") for n in range(MIN_AHEAD)]
    with pytest.raises(EventConflictError, match="used for something else"):
        door.on(memory, graph=graph).remember_many(texts)
    assert graph.left <= 0
    assert look.count(tenant)["Memory"] == 1


def test_a_memory_that_another_writer_sent_meanwhile_is_the_same(
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
