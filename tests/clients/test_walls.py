"""What stays apart: scopes inside a tenant, and tenants altogether."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import (
    AsyncGraphMem,
    AsyncSession,
    GraphMem,
    Outcome,
    Status,
)
from graphmem.client.handle import AsyncHandle
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.model import CommitOutcome
from graphmem.testing import FrozenClock
from tests.plugins.clients import Door
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.everything import (
    MAY,
    NO_READS,
    READS,
    WRITES,
    write_everything,
)
from tests.plugins.graph import NODES, Look, fresh_tenant
from tests.plugins.texts import WINDOW, restated, unlike


def contents(memory: GraphMem) -> set[str]:
    return {m.content for m in memory.list(limit=1_000).memories}


def test_what_alice_writes_bob_does_not_see(memory: GraphMem) -> None:
    alice, bob = memory.scope("user:alice"), memory.scope("user:bob")
    hers = str(alice.remember(unlike(1)).memory_id)

    assert contents(alice) == {unlike(1)}
    assert contents(bob) == contents(memory) == set()
    assert bob.recall(unlike(1), hidden=True).bites == ()
    assert memory.recall(unlike(1)).bites == ()
    for ask in (bob.get, bob.history, bob.chain, memory.get):
        with pytest.raises(NotFoundError):
            ask(hers)


def test_what_is_global_both_see(memory: GraphMem) -> None:
    shared = str(memory.remember(unlike(1)).memory_id)
    for name in ("user:alice", "user:bob"):
        handle = memory.scope(name)
        assert handle.get(shared).scope == "global"
        assert contents(handle) == {unlike(1)}
        assert len(handle.recall(unlike(1)).bites) == 1


def test_a_handle_sees_what_it_names(memory: GraphMem) -> None:
    for n, name in enumerate(("global", "a", "b", "c")):
        memory.scope(name).remember(unlike(n))
    assert contents(memory.scope("a", see=["a", "b"])) == {unlike(1), unlike(2)}
    assert contents(memory.scope("a", see=("c",))) == {unlike(3)}
    assert contents(memory.scope("a")) == {unlike(0), unlike(1)}
    assert contents(memory.scope("a", see=["b"]).tenant(fresh_tenant())) == set()


@pytest.mark.parametrize("see", [[], "b", [""], ["x" * 10_000], [5], ["\ud800"], 5, ["a"] * 300])
def test_what_a_handle_sees_must_be_names(memory: GraphMem, see: Any) -> None:
    with pytest.raises(InvalidInputError):
        memory.scope("a", see=see)


def test_the_same_text_in_two_private_scopes_is_two_memories(
    memory: GraphMem, look: Look, tenant: str
) -> None:
    done = [memory.scope(name).remember(WINDOW) for name in ("alice", "bob")]
    near = memory.scope("carol").remember(restated(5))
    assert [o.outcome for o in (*done, near)] == [Outcome.INSERTED_NEW] * 3
    assert len({o.memory_id for o in (*done, near)}) == 3
    assert look.count(tenant) == {"Memory": 3, "Event": 3}


@pytest.mark.parametrize("again", [WINDOW, restated(5)], ids=["exact", "near"])
def test_a_private_restatement_of_a_shared_memory_only_counts(
    memory: GraphMem, look: Look, tenant: str, again: str
) -> None:
    shared = str(memory.remember(WINDOW, tags=["deploy"], at=MAY).memory_id)
    alice, bob = memory.scope("alice"), memory.scope("bob")

    done = alice.remember(again, tags=["mine"], at=MAY - timedelta(days=9), source="diary")

    assert done.memory_id == shared
    assert done.matched_memory_id == shared
    for reader in (memory, bob):
        seen = reader.get(shared)
        assert (seen.tags, seen.created_at, seen.last_seen_at) == (("deploy",), MAY, MAY)
        assert seen.reinforce_count == 0
        assert len(reader.history(shared)) == 1
        assert reader.list(source="diary").memories == ()
    assert alice.get(shared).reinforce_count == 1
    assert len(alice.history(shared)) == 2
    assert look.count(tenant) == {"Memory": 1, "Event": 2}


def test_a_private_restatement_restores_no_shared_memory(memory: GraphMem) -> None:
    shared = str(memory.remember(unlike(1), at=MAY).memory_id)
    memory.scope("alice").remember(unlike(1))
    memory.deprecate(shared, at=MAY + timedelta(days=1))

    done = memory.scope("alice").remember(unlike(1))

    assert done.outcome is Outcome.INSERTED_NEW
    assert done.memory_id != shared
    assert memory.get(shared).status is Status.DEPRECATED
    assert memory.scope("alice").get(str(done.memory_id)).scope == "alice"


def test_the_own_scope_comes_before_the_shared_one(memory: GraphMem) -> None:
    alice = memory.scope("alice")
    hers = alice.remember(unlike(1)).memory_id
    shared = memory.remember(unlike(1)).memory_id
    assert hers != shared
    assert alice.remember(unlike(1)).memory_id == hers
    assert memory.scope("bob").remember(unlike(1)).memory_id == shared


def test_a_chain_shows_only_what_its_reader_sees(memory: GraphMem) -> None:
    alice = memory.scope("alice")
    hers = str(alice.remember(unlike(1)).memory_id)
    newer = alice.supersede(hers, unlike(2)).newer_id
    assert len(alice.chain(newer).memories) == 2
    with pytest.raises(NotFoundError):
        memory.scope("bob").chain(newer)


def test_what_was_said_about_a_memory_opens_no_way_to_it(memory: GraphMem) -> None:
    """An event in a scope that a reader sees does not show the memory of one that it does not."""
    theirs = str(memory.scope("b").remember(unlike(1)).memory_id)
    assert memory.scope("a", see=["a", "b"]).remember(unlike(1)).memory_id == theirs
    for ask in (memory.scope("a").get, memory.scope("a").history, memory.scope("a").chain):
        with pytest.raises(NotFoundError):
            ask(theirs)


def test_every_public_method_is_looked_at() -> None:
    named = {
        name
        for owner in (AsyncHandle, AsyncGraphMem, AsyncSession)
        for name, member in inspect.getmembers(owner)
        if not name.startswith("_") and (inspect.isfunction(member) or inspect.ismethod(member))
    }
    assert named == READS.keys() | WRITES | NO_READS


@pytest.fixture(scope="module")
def known(door: Door, _clients: Callable[[Door], GraphMem]) -> dict[str, str]:
    """Ids of another tenant, which wrote one of everything in each of two scopes."""
    other = _clients(door).tenant(fresh_tenant())
    found = write_everything(other)
    write_everything(other.scope("alice"), mark="a")
    return found


@pytest.mark.parametrize("name", READS)
def test_a_tenant_sees_nothing_of_another(
    memory: GraphMem, known: dict[str, str], name: str
) -> None:
    for handle in (memory, memory.scope("alice"), memory.scope("x", see=["alice", "global"])):
        assert not READS[name](handle, known)


def test_two_tenants_with_the_same_ids_live_apart(
    door: Door, memory: GraphMem, look: Look, tenant: str
) -> None:
    other_name = fresh_tenant()
    other = memory.tenant(other_name)
    known = write_everything(memory)
    mine = (look.events(tenant), memory.list(statuses=list(Status)))
    memory = door.on(memory, clock=FrozenClock(datetime.now(UTC)))
    believed = (memory.current("alice", "works_on"), memory.beliefs())

    theirs = write_everything(other)

    # A run of pruning has a name of its own.
    assert theirs | {"run": known["run"]} == known
    assert look.count(other_name) == look.count(tenant)
    other.deprecate(known["memory"])
    other.remember(unlike(1), tags=["theirs"], id="e9")
    other.session("s1").add_messages([{"role": "user", "content": "more", "id": "2"}])
    other.predicate("works_on", cardinality="MANY")
    other.observe("alice", "works_on", "Atlas", kind="refuting")
    other.evidence(known["belief"], "refuting", 0.9)
    other.archive(known["other"])
    other.accept([known["proposal"]])
    tell(other, SWIMS)
    assert other.consolidate(policy=FEW).changes
    other.resolve(known["belief"])
    other.merge([known["belief"], known["other"]], unlike(9))
    other.retract(known["event"])
    assert (look.events(tenant), memory.list(statuses=list(Status))) == mine
    assert (memory.current("alice", "works_on"), memory.beliefs()) == believed
    assert memory.get(known["memory"]).tags == ("t",)
    assert len(memory.turns(known["episode"])) == 1
    found = memory.recall(unlike(1), turns=True, hidden=True, limit=100).bites
    assert sum(bite.kind != "belief" for bite in found) == 8
    seen = {belief.id for belief in memory.beliefs(superseded=True, archived=True).beliefs}
    assert {bite.id for bite in found if bite.kind == "belief"} == seen
    crossing = look.rows(
        NODES + "MATCH (n)--(b) WHERE b.tenant <> $tenant RETURN count(*) AS n",
        tenant=tenant,
    )
    assert crossing == [{"n": 0}]


HOSTILE = [
    "'; MATCH (n) DETACH DELETE n; //",
    '"}) DETACH DELETE n //',
    "`global`",
    "$tenant",
    "*:* OR tenant_key:*",
    'a" +scope_key:b^9 (c',
    "{}[]()^~?:\\/!&|+-",
    "\u202enoitcejni",
    "a\x00b",
    "тенант 漢字 🙂",
    " ",
    "x" * 200,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_full_of_syntax_is_only_a_name(memory: GraphMem, look: Look, name: str) -> None:
    own = f"{fresh_tenant()}{name}"[:200]
    victim = memory.remember(unlike(1))
    there = memory.tenant(own).scope(name)
    done: CommitOutcome = there.remember(unlike(1), tags=[name], source=name, actor=name)
    there.predicate(name if name.strip() else "p", cardinality="ONE", id=name)
    seen = there.observe(f"{name}.", "is", f"{name}!", source=name, actor=name, note=name)
    with there.session(name) as session:
        session.add_messages([{"role": name, "name": name, "content": unlike(2), "id": name}])

    assert done.outcome is Outcome.INSERTED_NEW
    assert contents(there) == {unlike(1)}
    assert contents(memory.tenant(own)) == set()
    found = there.recall(f"{unlike(1)} {unlike(2)}", turns=True).bites
    assert sorted(bite.kind for bite in found) == ["belief", "memory", "turn"]
    assert there.list(tags=[name], source=name).memories[0].id == done.memory_id
    assert session.turns(session.episode_id)[0].name == name
    assert memory.get(str(victim.memory_id)).reinforce_count == 0
    assert contents(memory) == {unlike(1)}
    assert there.belief(seen).subject == f"{name}.".strip()
    assert memory.beliefs().beliefs == ()
    assert memory.predicates() == []
    assert len(look.events(own)) == 3
