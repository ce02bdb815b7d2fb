"""Erasure: what goes, what stays, what is refused, and that nothing is left."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem import GraphMem, Outcome, Status
from graphmem.errors import ErasedError, ForeignScopeError, InvalidInputError, NotFoundError
from tests.plugins.clients import Door
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.everything import write_everything
from tests.plugins.graph import NODES, Look, fresh_tenant
from tests.plugins.texts import WINDOW, restated, unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
DAY = timedelta(days=1)
MARK = "Xanthippe"
"""A word that stands in everything that is forgotten, and nowhere else."""
LIMIT = "The limit of the upload queue in the payments service is {} and is checked every night"


def holding(look: Look, tenant: str, text: str) -> list[str]:
    """Every property of a node or an edge of the tenant that holds a text, as label.property."""
    rows = look.rows(
        NODES + "UNWIND keys(n) AS k WITH n, k "
        "WHERE CASE WHEN n[k] IS :: LIST<ANY> THEN any(x IN n[k] WHERE toStringOrNull(x) "
        "  CONTAINS $text) ELSE toStringOrNull(n[k]) CONTAINS $text END "
        "RETURN labels(n)[0] + '.' + k AS found "
        "UNION ALL " + NODES + "MATCH (n)-[r]->() UNWIND keys(r) AS k "
        "WITH r, k WHERE toStringOrNull(r[k]) CONTAINS $text RETURN type(r) + '.' + k AS found",
        tenant=tenant,
        text=text,
    )
    return sorted({row["found"] for row in rows})


def test_a_memory_goes_with_all_that_tells_of_it(memory: GraphMem, look: Look, tenant: str) -> None:
    text = f"{MARK} opens the payments service every Friday at noon"
    done = memory.remember(text, id="first", tags=["t"], claims=[("service", "owned_by", MARK)])
    known = str(done.memory_id)
    memory.remember(text, id="again")
    assert memory.remember(text.upper()).outcome is Outcome.NEAR_DUPE
    with memory.session("s") as session:
        session.expand(session.recall(text).bites[0].id)
    memory.rate()
    memory.deprecate(known, reason=f"{MARK} said so")
    other = memory.remember(unlike(1))
    before = memory.get(str(other.memory_id))
    assert {"Memory.content", "Event.payload", "Belief.object"} <= set(holding(look, tenant, MARK))

    plan = memory.forget("memory", known)
    assert not plan.applied
    assert plan.left is None
    assert memory.get(known).content == text
    found = memory.forget("memory", known, apply=True)

    assert found.applied
    assert found.counts == plan.counts
    assert found.counts["Memory"] == found.counts["Belief"] == found.counts["Rating"] / 2 == 1
    assert found.clean
    assert found.elsewhere == ()
    assert holding(look, tenant, known) == []
    assert holding(look, tenant, MARK) == []
    assert {bite.id for bite in memory.recall(text, hidden=True).bites} == {other.memory_id}
    with pytest.raises(NotFoundError):
        memory.get(known)
    assert memory.get(str(other.memory_id)) == before
    assert memory.verify().wrong == ()


def test_an_export_of_before_brings_nothing_back(
    memory: GraphMem, look: Look, tenant: str, tmp_path: Path
) -> None:
    text = f"{MARK} opens the payments service every Friday at noon"
    known = str(memory.remember(text, claims=[("service", "owned_by", MARK)]).memory_id)
    memory.export_to(tmp_path / "before.jsonl")
    memory.forget("memory", known, apply=True)
    with pytest.raises(ErasedError):
        memory.import_from(tmp_path / "before.jsonl")
    assert holding(look, tenant, MARK) == []
    memory.export_to(tmp_path / "after.jsonl")
    assert MARK not in (tmp_path / "after.jsonl").read_text("utf-8")
    assert memory.import_from(tmp_path / "after.jsonl").written == 0


def test_what_stays_names_a_memory_no_more(memory: GraphMem, look: Look, tenant: str) -> None:
    known = str(memory.remember(LIMIT.format(100)).memory_id)
    update = memory.remember(LIMIT.format(200), id="update")
    assert update.possible_update_of == known

    assert memory.forget("memory", known).unmentioned == 1
    assert memory.forget("memory", known, apply=True).unmentioned == 1

    assert holding(look, tenant, known) == []
    assert memory.get(str(update.memory_id)).content == LIMIT.format(200)
    assert memory.remember(LIMIT.format(200), id="update").possible_update_of == "erased"


def test_a_chain_closes_over_what_is_forgotten(memory: GraphMem) -> None:
    first = str(memory.remember(unlike(1), at=MAY).memory_id)
    second = memory.supersede(first, unlike(2), at=MAY + DAY, reason="two").newer_id
    third = memory.supersede(second, unlike(3), at=MAY + 2 * DAY, reason="three").newer_id

    assert memory.forget("memory", second, apply=True).clean

    chain = memory.chain(first)
    assert [one.id for one in chain.memories] == [first, third]
    assert chain.head_ids == (third,)
    assert memory.get(first).status is Status.SUPERSEDED
    # Without its head the chain reads as if that had never been.
    assert memory.forget("memory", third, apply=True).clean
    assert memory.get(first).status is Status.CURRENT
    assert memory.verify().wrong == ()


REDELIVERED: dict[str, Callable[[GraphMem, str], Any]] = {
    "observe": lambda m, _: m.observe("alice", "works_on", MARK),
    "observe_many": lambda m, _: m.observe_many(
        [{"subject": "alice", "predicate": "works_on", "object": MARK}]
    ),
    "same event": lambda m, _: m.observe("bob", "works_on", "Atlas", id="o1"),
    "evidence": lambda m, b: m.evidence(b, "supporting", 0.7),
}


def test_a_belief_goes_and_is_refused(memory: GraphMem, look: Look, tenant: str) -> None:
    belief = memory.observe("alice", "works_on", MARK, id="o1", note=f"{MARK}!").belief_id
    memory.observe("alice", "works_on", "Atlas", at=MAY)
    memory.evidence(belief, "refuting", 0.8)
    memory.retract("o1", id="r1", note=f"not {MARK}")
    kept = memory.current("alice", "works_on").candidates

    plan = memory.forget("belief", belief)
    done = memory.forget("belief", belief, apply=True)

    assert done.counts == plan.counts
    assert done.counts == {"Belief": 1, "Event": 3}
    assert done.clean
    assert holding(look, tenant, MARK) == holding(look, tenant, belief) == []
    assert [c.object for c in memory.current("alice", "works_on").candidates] == ["Atlas"]
    assert {c.object for c in kept} == {"Atlas", MARK}
    events = look.events(tenant)
    for name, send in REDELIVERED.items():
        with pytest.raises((ErasedError, NotFoundError)) as refused:
            send(memory, belief)
        assert isinstance(refused.value, ErasedError) or name == "evidence"
    assert look.events(tenant) == events
    assert holding(look, tenant, MARK) == []


def test_a_memory_that_claims_a_forgotten_belief_stays(memory: GraphMem) -> None:
    done = memory.remember(WINDOW, claims=[("window", "opens", "noon")])
    [belief] = done.belief_ids

    found = memory.forget("belief", belief, apply=True)

    assert found.clean
    assert found.counts == {"Belief": 1}
    assert found.unmentioned == 1
    assert memory.get(str(done.memory_id)).content == WINDOW
    assert memory.verify().wrong == ()


def test_a_text_that_was_forgotten_is_refused_and_its_batch_goes_on(memory: GraphMem) -> None:
    known = str(memory.remember(unlike(1), id="e1").memory_id)
    memory.forget("memory", known, apply=True)

    done = memory.remember_many([unlike(2), unlike(1), unlike(3)])

    assert [one.outcome for one in done] == [
        Outcome.INSERTED_NEW,
        Outcome.REJECTED_HYGIENE,
        Outcome.INSERTED_NEW,
    ]
    assert done[1].hygiene_reasons == ("erased",)
    assert done[1].memory_id is None
    again = memory.remember(unlike(4), id="e1")
    assert again.hygiene_reasons == ("erased",)
    # In another scope it is another memory.
    assert memory.scope("alice").remember(unlike(1)).outcome is Outcome.INSERTED_NEW


def test_forgetting_twice_is_told(memory: GraphMem) -> None:
    known = str(memory.remember(unlike(1)).memory_id)
    memory.forget("memory", known, apply=True)
    for apply in (False, True):
        again = memory.forget("memory", known, apply=apply)
        assert again.repeated
        assert again.counts == {}
        assert again.left == 0


def test_what_is_not_there_or_not_ones_own_is_not_forgotten(memory: GraphMem) -> None:
    shared = str(memory.remember(unlike(1)).memory_id)
    alice = memory.scope("alice")
    with pytest.raises(ForeignScopeError):
        alice.forget("memory", shared, apply=True)
    for what, name in (
        ("memory", "m_none"),
        ("belief", shared),
        ("episode", shared),
    ):
        with pytest.raises(NotFoundError):
            memory.forget(what, name, apply=True)
    nobody = memory.tenant(fresh_tenant())
    with pytest.raises(NotFoundError):
        nobody.forget("memory", shared, apply=True)
    for what, name in (("scope", "nobody"), ("tenant", "another")):
        with pytest.raises(ForeignScopeError):
            memory.forget(what, name, apply=True)
    with pytest.raises(NotFoundError):
        memory.scope("nobody").forget("scope", "nobody", apply=True)
    for kind, given in (("turn", "t"), ("memory", ""), ("", "m")):
        with pytest.raises(InvalidInputError):
            memory.forget(kind, given)
    assert memory.get(shared).content == unlike(1)


def test_an_episode_goes_with_what_only_it_said(
    memory: GraphMem, look: Look, tenant: str, tmp_path: Path
) -> None:
    memory.observe("alice", "works_on", "Atlas", at=MAY)
    kept = memory.remember(unlike(1), at=MAY)
    with memory.session("secret") as session:
        session.add_messages([{"role": "user", "content": f"I live in {MARK}.", "id": "1"}])
        session.remember(f"{MARK} is where {unlike(2)}")
        session.remember(unlike(1))
        session.observe("alice", "works_on", "Atlas")
        session.observe("alice", "works_on", MARK)
        session.believe(f"{MARK} is warm")
        session.extract(extractor="rules")
    episode = session.episode_id
    told = memory.add_episode(id="dear", summary=f"{MARK} is dear", importance=0.9, at=MAY)
    file = tmp_path / "MEMORY.md"
    file.write_text("mine\n", encoding="utf-8")
    memory.graduate(file)
    assert MARK in file.read_text("utf-8")

    plan = memory.forget("episode", episode)
    done = memory.forget("episode", episode, apply=True)
    dear = memory.forget("episode", told, apply=True, digests=[file])

    assert done.counts == plan.counts
    assert (done.counts["Turn"], done.counts["Memory"], done.counts["Episode"]) == (1, 1, 1)
    assert done.counts["Belief"] == 3
    assert done.clean
    assert dear.clean
    assert dear.digest_lines == 1
    assert MARK not in file.read_text("utf-8")
    assert file.read_text("utf-8").startswith("mine\n")
    assert holding(look, tenant, MARK) == holding(look, tenant, episode) == []
    [left] = memory.current("alice", "works_on").candidates
    assert (left.object, left.events) == ("Atlas", 1)
    assert memory.get(str(kept.memory_id)).reinforce_count == 0
    assert memory.verify().wrong == ()
    for late in (session, memory.session("secret")):
        with pytest.raises(ErasedError):
            late.add_messages([{"role": "user", "content": "again", "id": "2"}])
    assert holding(look, tenant, episode) == []


def test_what_was_consolidated_from_an_episode_goes_and_may_come_anew(
    memory: GraphMem, look: Look, tenant: str
) -> None:
    tell(memory, SWIMS)
    memory.consolidate(policy=FEW, extractive=True)
    [belief] = memory.beliefs().beliefs
    quoted = memory.why(belief.id)
    assert quoted is not None
    episode = look.rows(
        "MATCH (p:Episode {tenant: $tenant}) WHERE p.id IS NOT NULL RETURN p.id AS id LIMIT 1",
        tenant=tenant,
    )[0]["id"]

    done = memory.forget("episode", episode, apply=True)

    assert done.clean
    assert memory.beliefs().beliefs == ()
    assert look.rows("MATCH (r:Reply {tenant: $tenant}) RETURN r.id", tenant=tenant) == []
    assert memory.verify().wrong == ()
    tell(memory, SWIMS[:1], first=9)
    memory.consolidate(policy=FEW, extractive=True)
    assert len(memory.beliefs().beliefs) == 1


def test_a_belief_that_was_forgotten_is_not_consolidated_again(memory: GraphMem) -> None:
    tell(memory, SWIMS)
    memory.consolidate(policy=FEW, extractive=True)
    [belief] = memory.beliefs().beliefs

    assert memory.forget("belief", belief.id, apply=True).clean
    tell(memory, SWIMS)
    memory.consolidate(policy=FEW, extractive=True)

    assert belief.id not in {one.id for one in memory.beliefs().beliefs}
    assert memory.verify().wrong == ()


def test_a_fact_that_was_forgotten_is_not_extracted_again(
    memory: GraphMem, look: Look, tenant: str
) -> None:
    session = memory.session("s")
    session.add_messages([{"role": "user", "content": "I moved to Lisbon.", "id": "1"}])
    [found] = session.extract(extractor="rules", review=True).proposals
    memory.accept([found.event_id])
    [belief] = memory.beliefs().beliefs

    assert memory.forget("belief", belief.id, apply=True).clean
    assert holding(look, tenant, belief.id) == []
    assert memory.proposals(status=None).proposals == ()
    again = memory.session("other")
    again.add_messages([{"role": "user", "content": "I moved to Lisbon.", "id": "1"}])
    again.extract(extractor="rules")

    assert memory.beliefs().beliefs == ()
    assert holding(look, tenant, belief.id) == []


def test_a_scope_goes_whole_and_is_closed(memory: GraphMem, look: Look, tenant: str) -> None:
    alice = memory.scope("alice")
    shared = str(memory.remember(WINDOW, at=MAY).memory_id)
    before = memory.get(shared)
    write_everything(alice, mark="a")
    alice.remember(restated(5))
    kept = look.count(tenant)

    plan = alice.forget("scope", "alice")
    done = alice.forget("scope", "alice", apply=True)

    assert kept != look.count(tenant)
    assert done.counts == plan.counts
    assert done.clean
    rows = look.rows(NODES + "WITH n WHERE n.scope = 'alice' RETURN labels(n)", tenant=tenant)
    assert rows == []
    # Of an episode, its archive and a belief; of a proposal, a turn and a reply.
    assert holding(look, tenant, unlike(6)) == holding(look, tenant, "Lisbon") == []
    assert memory.get(shared) == before
    assert memory.verify().wrong == ()
    for write in (
        lambda: alice.observe("alice", "works_on", "Atlas"),
        lambda: alice.remember(unlike(1)),
        lambda: alice.add_episode(id="new", content=unlike(2)),
        lambda: alice.session("s").add_messages([{"role": "user", "content": "x"}]),
    ):
        with pytest.raises(ErasedError):
            write()
    assert memory.remember(unlike(1)).outcome is Outcome.INSERTED_NEW


def test_a_tenant_goes_whole_and_is_closed(memory: GraphMem, look: Look, tenant: str) -> None:
    write_everything(memory)
    write_everything(memory.scope("alice"), mark="a")
    other = memory.tenant(fresh_tenant())
    theirs = other.remember(unlike(1))

    plan = memory.forget("tenant", tenant)
    assert memory.forget("tenant", tenant, apply=True).counts == plan.counts

    again = memory.forget("tenant", tenant, apply=True)
    assert again.repeated
    rows = look.rows(
        NODES + "RETURN labels(n) AS l, properties(n) AS p",
        tenant=tenant,
    )
    assert rows == []
    with pytest.raises(ErasedError):
        memory.remember(unlike(1))
    with pytest.raises(ErasedError):
        memory.scope("bob").observe("alice", "works_on", "Atlas")
    assert other.get(str(theirs.memory_id)).content == unlike(1)


def test_what_waits_to_be_logged_of_a_forgotten_scope_holds_nobody_up(
    door: Door, memory: GraphMem, look: Look, tenant: str
) -> None:
    gone = memory.scope("gone")
    known = str(gone.remember(unlike(1)).memory_id)
    kept = str(memory.remember(unlike(2)).memory_id)
    with door.open() as client:
        late = client.tenant(tenant)
        late.scope("gone").expand(known)
        late.expand(kept)
        gone.forget("scope", "gone", apply=True)
        late.flush()
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant, type: 'ACCESS'})-[:ACCESSED]->(n) "
        "RETURN n.id AS id, e.scope AS scope",
        tenant=tenant,
    )
    assert rows == [{"id": kept, "scope": "global"}]
