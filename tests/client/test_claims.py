"""A text and what it asserts: one event keeps the memory and speaks for the beliefs."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from rich.console import Console

from graphmem import Handle, NewMemory, Outcome
from graphmem.cli.views import recall as recall_views
from graphmem.errors import EventConflictError, InvalidInputError
from graphmem.model import AsOf, BeliefReasons, Status, Triple
from graphmem.ports import Graph, Query, Tx
from graphmem.rules.formulas import Evidence
from tests.oracles import projection
from tests.plugins.clients import Door
from tests.plugins.graph import Look
from tests.plugins.texts import WINDOW, restated, unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
DAY = timedelta(days=1)
MICROSECOND = timedelta(microseconds=1)
MADRID, PORTO = ("alice", "lives_in", "Madrid"), ("alice", "lives_in", "Porto")
LIKES = ("Alice", "likes", "sardines")


def tenant_of(memory: Handle) -> str:
    return memory._state.context.tenant


def test_one_event_keeps_the_memory_and_speaks_for_the_beliefs(memory: Handle, look: Look) -> None:
    done = memory.remember(
        "Alice lives in Porto and likes sardines",
        claims=[PORTO, Triple(subject="Alice", predicate="likes", object="sardines"), PORTO],
        confidence=0.7,
        source_type="TOOL",
        at=MAY,
    )
    assert done.outcome is Outcome.INSERTED_NEW
    assert len(done.belief_ids) == 2
    [event] = look.events(tenant_of(memory)).values()
    speaks = [["SUPPORTS", "Belief", belief_id] for belief_id in done.belief_ids]
    assert event["edges"] == [["REINFORCES", "Memory", done.memory_id], *speaks]
    assert (event["type"], event["polarity"]) == ("ADD", 1)
    assert (event["confidence"], event["source_type"]) == (0.7, "TOOL")
    [slot] = [s for s in memory.beliefs.slots().slots if s.predicate == "lives_in"]
    assert slot.leader is not None
    assert slot.leader.object == "Porto"
    assert slot.leader.belief == pytest.approx(0.7)
    assert slot.leader.events == 1
    assert slot.leader.belief_id in done.belief_ids
    [likes] = [s for s in memory.beliefs.slots().slots if s.predicate == "likes"]
    assert likes.leader is not None
    assert likes.leader.positive == pytest.approx(0.7)
    assert done.memory_id is not None
    assert memory.memories.get(done.memory_id).claim_ids == done.belief_ids
    [line] = memory.evidence_for(slot.leader.belief_id).lines
    assert line.event_id == done.event_id


def test_the_edges_say_which_slot_learnt_something_and_when(memory: Handle, look: Look) -> None:
    memory.remember("Alice lives in Porto", claims=[PORTO])
    memory.observe(*PORTO)
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant}) WHERE e.id IS NOT NULL "
        "MATCH (e)-[r:SUPPORTS]->(b) "
        "RETURN properties(r) AS edge, e.recorded_at AS at, b.slot_id AS slot_id",
        tenant=tenant_of(memory),
    )
    assert len(rows) == 2
    for row in rows:
        assert row["edge"] == {
            "tenant": tenant_of(memory),
            "slot_id": row["slot_id"],
            "recorded_at": row["at"],
        }


def test_a_claim_is_known_from_the_moment_on_its_memory_is(memory: Handle, look: Look) -> None:
    done = memory.remember("Alice lives in Porto", claims=[PORTO])
    told = look.events(tenant_of(memory))[done.event_id]["recorded_at"].to_native()
    for known, seen in ((told, True), (told - MICROSECOND, False)):
        as_of = AsOf(known=known)
        assert [bool(slot.candidates) for slot in memory.beliefs.slots(as_of=as_of).slots] == [
            True
        ] * seen
        assert bool(memory.current(*PORTO[:2], as_of=as_of).candidates) is seen
    [belief_id] = done.belief_ids
    assert memory.beliefs.get(belief_id).recorded_at == told


def test_a_memory_asserts_a_belief_from_the_moment_on_it_said_so(
    memory: Handle, look: Look
) -> None:
    seen = memory.observe(*PORTO)
    plain = memory.remember("Alice lives in Porto")
    then = look.events(tenant_of(memory))[plain.event_id]["recorded_at"].to_native()
    said = memory.remember("Alice lives in Porto", claims=[PORTO])
    assert said.memory_id == plain.memory_id
    reasons = memory.why(seen.belief_id)
    assert isinstance(reasons, BeliefReasons)
    assert [basis.memory_id for basis in reasons.memories] == [said.memory_id]
    assert {piece.event_id: piece.memory_id for piece in reasons.pieces} == {
        seen.event_id: None,
        said.event_id: said.memory_id,
    }
    before = memory.why(seen.belief_id, as_of=AsOf(known=then))
    assert isinstance(before, BeliefReasons)
    assert before.memories == ()


def test_new_beliefs_are_worded_and_embedded(memory: Handle, look: Look) -> None:
    memory.predicates.declare("lives_in", template="{subject} dwells in {object}")
    done = memory.remember("Alice lives in Porto", claims=[PORTO])
    [row] = look.rows(
        "MATCH (b:Belief {tenant: $tenant, id: $id}) "
        "RETURN b.statement AS statement, b.unembedded AS lacks, size(b.embedding) > 0 AS has",
        tenant=tenant_of(memory),
        id=done.belief_ids[0],
    )
    assert row == {"statement": "alice dwells in Porto", "lacks": None, "has": True}


def test_duplicates_are_evidence_too(memory: Handle) -> None:
    said = [WINDOW, WINDOW, restated(5)]
    done = [memory.remember(text, claims=[LIKES], at=MAY + n * DAY) for n, text in enumerate(said)]
    assert [d.outcome for d in done] == [
        Outcome.INSERTED_NEW,
        Outcome.EXACT_DUPE,
        Outcome.NEAR_DUPE,
    ]
    assert len({d.memory_id for d in done}) == 1
    [found] = memory.current("alice", "likes").candidates
    assert (found.events, found.supporting_episodes) == (3, 3)


def test_a_duplicate_may_claim_what_the_first_did_not(memory: Handle) -> None:
    first = memory.remember(WINDOW)
    memory.remember(WINDOW, claims=[LIKES], at=MAY)
    second = memory.remember(restated(5), claims=[PORTO])
    assert first.memory_id is not None
    assert memory.memories.get(first.memory_id).claim_ids == tuple(
        sorted(c.belief_id for s in memory.beliefs.slots().slots for c in s.candidates)
    )
    assert second.matched_memory_id == first.memory_id


def test_in_one_session_an_echo_counts_once(memory: Handle) -> None:
    for name in ("monday", "friday"):
        with memory.session(name) as session:
            session.remember(unlike(1), claims=[LIKES])
            session.remember_many([NewMemory(content=unlike(n), claims=(LIKES,)) for n in (1, 2)])
    [found] = memory.current("alice", "likes").candidates
    assert (found.events, found.supporting_episodes) == (6, 2)
    [scene, _] = memory.beliefs.provenance(found.belief_id).episodes
    assert scene.session_id == "monday"


def test_many_with_claims_and_without(memory: Handle) -> None:
    wishes = [
        NewMemory.model_validate(
            {"content": unlike(n), "claims": [LIKES, PORTO][: n % 3], "at": MAY}
        )
        for n in range(5)
    ]
    done = memory.remember_many([*wishes, unlike(9)])
    assert [len(d.belief_ids) for d in done] == [0, 1, 2, 0, 1, 0]
    assert [c.events for c in memory.current("alice", "likes").candidates] == [3]
    assert [c.events for c in memory.current("alice", "lives_in").candidates] == [1]


def test_sent_again_it_is_the_same_event(memory: Handle) -> None:
    asked: dict[str, Any] = {"claims": [PORTO, LIKES], "confidence": 0.6, "event_id": "e1"}
    first = memory.remember("Alice lives in Porto", **asked)
    again = memory.remember("Alice lives in Porto", **asked)
    assert again == first.model_copy(update={"repeated": True})
    assert [c.events for c in memory.current("alice", "lives_in").candidates] == [1]
    for other in (
        {"claims": [PORTO]},
        {"claims": [MADRID, LIKES]},
        {"confidence": 0.5},
        {"source_type": "RULE"},
    ):
        with pytest.raises(EventConflictError):
            memory.remember("Alice lives in Porto", **{**asked, **other})
    with pytest.raises(EventConflictError):
        memory.remember("Alice lives in Porto", event_id="e1")


def test_retracting_takes_the_evidence_back_and_leaves_the_memory(memory: Handle) -> None:
    done = memory.remember("Alice lives in Porto", claims=[PORTO, LIKES], at=MAY)
    assert done.memory_id is not None
    memory.beliefs.retract(done.event_id)
    assert memory.current("alice", "lives_in").candidates == ()
    assert memory.current("alice", "likes").candidates == ()
    kept = memory.memories.get(done.memory_id)
    assert (kept.status, kept.reinforce_count) == (Status.CURRENT, 0)
    assert kept.claim_ids == done.belief_ids


def test_a_retraction_may_come_first(memory: Handle) -> None:
    assert not memory.beliefs.retract("late", missing_ok=True).found
    memory.remember("Alice lives in Porto", claims=[PORTO], event_id="late")
    assert memory.current("alice", "lives_in").candidates == ()


def test_a_refused_text_claims_nothing(memory: Handle) -> None:
    done = memory.remember("!!", claims=[PORTO])
    assert done.outcome is Outcome.REJECTED_HYGIENE
    assert done.belief_ids == ()
    assert memory.beliefs.slots().slots == ()


def test_what_is_claimed_in_private_stays_private(memory: Handle) -> None:
    shared = memory.remember("Alice lives in Porto", claims=[PORTO])
    alice = memory.scope("alice")
    private = alice.remember("Alice lives in Porto", claims=[LIKES])
    assert shared.memory_id is not None
    assert private.memory_id == shared.memory_id
    assert memory.memories.get(shared.memory_id).claim_ids == shared.belief_ids
    both = sorted(shared.belief_ids + private.belief_ids)
    assert alice.memories.get(shared.memory_id).claim_ids == tuple(both)
    as_of = AsOf(valid=datetime.now(UTC))
    assert memory.memories.get(shared.memory_id, as_of=as_of).claim_ids == shared.belief_ids
    assert alice.memories.get(shared.memory_id, as_of=as_of).claim_ids == tuple(both)
    assert memory.current("alice", "likes").candidates == ()


def test_a_memory_whose_claim_lost_says_so(memory: Handle) -> None:
    memory.predicates.declare("lives_in", cardinality="ONE", at=MAY)
    old = memory.remember("Alice lives in Madrid", claims=[MADRID, LIKES], at=MAY)
    new = memory.remember(unlike(3), claims=[PORTO], at=MAY + 2 * DAY)
    assert old.memory_id is not None
    assert new.memory_id is not None
    [madrid] = [c for c in memory.current(*MADRID[:2]).candidates if c.object == "Madrid"]
    assert memory.memories.get(old.memory_id).lost_ids == (madrid.belief_id,)
    assert memory.memories.get(new.memory_id).lost_ids == ()
    assert memory.memories.get(old.memory_id, as_of=AsOf(valid=MAY + DAY)).lost_ids == ()
    memory.beliefs.retract(new.event_id)
    assert memory.memories.get(old.memory_id).lost_ids == ()
    # Nothing speaks for it any more.
    assert memory.memories.get(new.memory_id).lost_ids == new.belief_ids
    assert [m.lost_ids for m in memory.memories.list().memories] == [None, None]


def test_what_is_recalled_says_which_of_its_claims_have_lost(memory: Handle) -> None:
    memory.predicates.declare("lives_in", cardinality="ONE", at=MAY)
    old = memory.remember("Alice lives in Madrid", claims=[MADRID, LIKES], at=MAY)
    memory.remember("Alice lives in Porto", claims=[PORTO], at=MAY + 2 * DAY)
    memory.remember("Alice lives by the sea")
    with memory.session("s") as session:
        session.add_messages([{"role": "user", "content": "Alice lives well"}])
    found = memory.recall("Where does Alice live?", kinds=["memory"])
    lost = {b.memory.content: b.memory.lost_ids for b in found.bites if b.kind == "memory"}
    [madrid] = [c for c in memory.current(*MADRID[:2]).candidates if c.object == "Madrid"]
    assert lost == {
        "Alice lives in Madrid": (madrid.belief_id,),
        "Alice lives in Porto": (),
        "Alice lives by the sea": None,
    }
    assert madrid.belief_id in old.belief_ids
    console = Console(width=200)
    with console.capture() as shown:
        console.print(recall_views.recollection(found))
    assert f"beliefs no longer held: {madrid.belief_id}\n" in shown.get()
    assert shown.get().count("beliefs no longer held") == 1


def test_nothing_is_lost_where_values_coexist_or_are_too_close_to_call(memory: Handle) -> None:
    first = memory.remember("Alice lives in Madrid", claims=[MADRID], at=MAY)
    memory.remember(unlike(3), claims=[PORTO], at=MAY, confidence=0.85)
    assert first.memory_id is not None
    assert memory.memories.get(first.memory_id).lost_ids == ()
    memory.predicates.declare("lives_in", cardinality="ONE", at=MAY, margin=0.1)
    assert memory.memories.get(first.memory_id).lost_ids == ()
    memory.predicates.declare("lives_in", cardinality="ONE", at=MAY + DAY, margin=0.01)
    assert memory.memories.get(first.memory_id).lost_ids == first.belief_ids


def test_a_superseded_claim_is_lost_and_leaves_the_lead(memory: Handle) -> None:
    memory.predicates.declare("lives_in", cardinality="ONE", at=MAY)
    strong = memory.remember("Alice lives in Madrid", claims=[MADRID], at=MAY)
    weak = memory.remember(unlike(3), claims=[PORTO], at=MAY, confidence=0.2)
    assert strong.memory_id is not None
    assert weak.memory_id is not None
    assert memory.memories.get(weak.memory_id).lost_ids == weak.belief_ids
    memory.beliefs.revise(strong.belief_ids[0], "Alice lives nowhere", at=MAY + DAY)
    assert memory.memories.get(strong.memory_id).lost_ids == strong.belief_ids
    assert memory.memories.get(weak.memory_id).lost_ids == ()
    assert memory.memories.get(strong.memory_id, as_of=AsOf(valid=MAY)).lost_ids == ()


def test_claims_as_of_a_time_are_those_made_by_then(memory: Handle) -> None:
    memory.remember(WINDOW, at=MAY)
    late = memory.remember(WINDOW, claims=[LIKES], at=MAY + DAY)
    assert late.memory_id is not None
    assert memory.memories.get(late.memory_id, as_of=AsOf(valid=MAY)).claim_ids == ()
    assert (
        memory.memories.get(late.memory_id, as_of=AsOf(valid=MAY + DAY)).claim_ids
        == late.belief_ids
    )
    [listed] = memory.memories.list(as_of=AsOf(valid=MAY + DAY)).memories
    assert listed.claim_ids == late.belief_ids


@pytest.mark.parametrize("cardinality", ["ONE", "MANY"])
def test_one_text_may_affirm_two_values_of_a_slot(memory: Handle, cardinality: Any) -> None:
    memory.predicates.declare("lives_in", cardinality=cardinality, at=MAY)
    memory.observe("alice", "lives_in", "Lisbon", event_id="e0", at=MAY)
    memory.remember(unlike(1), claims=[MADRID, PORTO], event_id="e1", at=MAY + DAY)
    memory.remember(unlike(2), claims=[PORTO], event_id="e2", at=MAY + 2 * DAY, confidence=0.3)
    told = [
        ("e0", "Lisbon", 0.8),
        ("e1", "Madrid", 0.8),
        ("e1", "Porto", 0.8),
        ("e2", "Porto", 0.3),
    ]
    evidence = [
        Evidence(name, value, 1, confidence, 1.0, None, MAY + int(name[1]) * DAY)
        for name, value, confidence in told
    ]
    slot = memory.current("alice", "lives_in")
    if cardinality == "ONE":
        expected = projection.one(evidence, slot.valid, kappa=3, margin=0.1)
        scores = {c.claim: c.score for c in expected}
    else:
        scores = {
            value: projection.many(
                [e for e in evidence if e.claim == value], slot.valid, combine="log_odds"
            ).belief
            for value in ("Lisbon", "Madrid", "Porto")
        }
    assert {c.object: c.score for c in slot.candidates} == pytest.approx(scores, abs=1e-9)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"claims": [("alice", "lives_in")]}, "subject, a predicate and an object"),
        ({"claims": [("alice", "lives_in", "Porto", "now")]}, "subject, a predicate"),
        ({"claims": [("alice", "lives_in", " ")]}, "claims.0"),
        ({"claims": [("alice", "lives_in", "x" * 1_001)]}, "claims.0"),
        ({"claims": [("alice", "lives_in", 7)]}, "claims.0"),
        ({"claims": "alice lives in Porto"}, "claims"),
        ({"claims": [PORTO] * 65}, "claims"),
        ({"claims": [PORTO], "confidence": 1.1}, "confidence"),
        ({"claims": [PORTO], "confidence": float("nan")}, "confidence"),
        ({"claims": [PORTO], "source_type": "GOSSIP"}, "GOSSIP"),
        ({"confidence": 0.7}, "require claims"),
        ({"source_type": "TOOL"}, "require claims"),
    ],
)
def test_what_does_not_fit_is_refused(
    memory: Handle, look: Look, asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        memory.remember("Alice lives in Porto", **asked)
    assert look.count(tenant_of(memory)) == {}


def test_only_remember_takes_claims(memory: Handle) -> None:
    done = memory.remember("Alice lives in Madrid")
    calls: list[Callable[..., Any]] = [
        lambda **asked: memory.supersede(str(done.memory_id), "Alice lives in Porto", **asked),
        lambda **asked: memory.memories.deprecate(str(done.memory_id), **asked),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="claims"):
            call(claims=[PORTO])
    assert memory.memories.get(str(done.memory_id)).status is Status.CURRENT


@pytest.mark.usefixtures("both_clients")
def test_texts_and_observations_at_once_lose_nothing(memory: Handle, door: Door) -> None:
    calls: list[Callable[[Any], Any]] = []
    for n in range(8):
        calls.append(partial(_remembers, n))
        calls.append(partial(_observes, n))
    done = door.together(memory, calls)
    assert [type(x).__name__ for x in done] == ["CommitOutcome", "list"] * 8
    assert [c.events for c in memory.current("alice", "likes").candidates] == [16]
    assert [c.events for c in memory.current("alice", "lives_in").candidates] == [16]


def _remembers(n: int, memory: Any) -> Any:
    return memory.remember(unlike(n % 4), claims=[LIKES, PORTO], event_id=f"r{n}")


def _observes(n: int, memory: Any) -> Any:
    keys = ("subject", "predicate", "object")
    told = [dict(zip(keys, claim, strict=True)) for claim in (PORTO, LIKES)]
    return memory.observe_many(told)


class BreakingError(Exception):
    """What ends a transaction."""


class Breaking:
    """A graph whose transactions end before one of their queries."""

    def __init__(self, inner: Graph, query: str) -> None:
        self._inner = inner
        self._query = query

    async def read(self, work: Callable[[Tx], Coroutine[Any, Any, Any]]) -> Any:
        return await self._inner.read(work)

    async def write(self, work: Callable[[Tx], Coroutine[Any, Any, Any]]) -> Any:
        async def broken(tx: Tx) -> Any:
            return await work(_Broken(tx, self._query))

        return await self._inner.write(broken)


class _Broken(Tx):
    def __init__(self, tx: Tx, query: str) -> None:
        self._tx = tx
        self._query = query

    async def fetch(self, query: Query[Any], /, **params: object) -> list[Any]:
        if query.name == self._query:
            raise BreakingError
        return await self._tx.fetch(query, **params)


def test_without_its_claims_a_text_is_not_kept(memory: Handle, door: Door, look: Look) -> None:
    broken = door.on(
        memory, graph=Breaking(memory._state.context.services.graph, "belief/link_claims")
    )
    with pytest.raises(BreakingError):
        broken.remember("Alice lives in Porto", claims=[PORTO])
    assert look.count(tenant_of(memory)) == {}
    broken.remember("Alice lives in Porto")


def test_an_interrupted_embedding_is_made_up_for(memory: Handle, door: Door, look: Look) -> None:
    broken = door.on(memory, graph=Breaking(memory._state.context.services.graph, "belief/embed"))
    with pytest.raises(BreakingError):
        broken.remember("Alice lives in Porto", claims=[PORTO], event_id="e1")
    assert memory.remember("Alice lives in Porto", claims=[PORTO], event_id="e1").repeated
    [row] = look.rows(
        "MATCH (b:Belief {tenant: $tenant}) WHERE b.id IS NOT NULL RETURN b.unembedded AS lacks",
        tenant=tenant_of(memory),
    )
    assert row == {"lacks": None}
