"""What stays apart: scopes inside a tenant, and tenants altogether."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graphmem import Handle, Outcome, Status
from graphmem.errors import NotFoundError
from graphmem.model import CommitOutcome, Origin
from tests.plugins.clients import on_tenant
from tests.plugins.everything import MAY
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import WINDOW, restated, unlike


def contents(memory: Handle) -> set[str]:
    return {m.content for m in memory.memories.list(limit=1_000).memories}


def test_what_alice_writes_bob_does_not_see(memory: Handle) -> None:
    alice, bob = memory.scope("user:alice"), memory.scope("user:bob")
    alice.remember(unlike(1))

    assert contents(alice) == {unlike(1)}
    assert contents(bob) == contents(memory) == set()
    assert bob.recall(unlike(1), include_hidden=True).bites == ()
    assert memory.recall(unlike(1)).bites == ()


def test_what_is_global_both_see(memory: Handle) -> None:
    shared = str(memory.remember(unlike(1)).memory_id)
    for name in ("user:alice", "user:bob"):
        handle = memory.scope(name)
        assert handle.memories.get(shared).scope == "global"
        assert contents(handle) == {unlike(1)}
        assert len(handle.recall(unlike(1)).bites) == 1


def test_a_handle_sees_what_it_names(memory: Handle) -> None:
    for n, name in enumerate(("global", "a", "b", "c")):
        memory.scope(name).remember(unlike(n))
    assert contents(memory.scope("a", read_scopes=["a", "b"])) == {unlike(1), unlike(2)}
    assert contents(memory.scope("a", read_scopes=("c",))) == {unlike(3)}
    assert contents(memory.scope("a")) == {unlike(0), unlike(1)}
    assert contents(on_tenant(memory.scope("a", read_scopes=["b"]), fresh_tenant())) == set()


def test_the_same_text_in_two_private_scopes_is_two_memories(
    memory: Handle, look: Look, tenant: str
) -> None:
    done = [memory.scope(name).remember(WINDOW) for name in ("alice", "bob")]
    near = memory.scope("carol").remember(restated(5))
    assert [o.outcome for o in (*done, near)] == [Outcome.INSERTED_NEW] * 3
    assert len({o.memory_id for o in (*done, near)}) == 3
    assert look.count(tenant) == {"Memory": 3, "Event": 3}


@pytest.mark.parametrize("again", [WINDOW, restated(5)], ids=["exact", "near"])
def test_a_private_restatement_of_a_shared_memory_only_counts(
    memory: Handle, look: Look, tenant: str, again: str
) -> None:
    shared = str(memory.remember(WINDOW, tags=["deploy"], at=MAY).memory_id)
    alice, bob = memory.scope("alice"), memory.scope("bob")

    done = alice.remember(again, tags=["mine"], at=MAY - timedelta(days=9), source="diary")

    assert done.memory_id == shared
    assert done.matched_memory_id == shared
    for reader in (memory, bob):
        seen = reader.memories.get(shared)
        assert (seen.tags, seen.created_at, seen.last_seen_at) == (("deploy",), MAY, MAY)
        assert seen.reinforce_count == 0
        assert len(reader.memories.history(shared)) == 1
        assert reader.memories.list(source="diary").memories == ()
    assert alice.memories.get(shared).reinforce_count == 1
    assert len(alice.memories.history(shared)) == 2
    assert look.count(tenant) == {"Memory": 1, "Event": 2}


def test_a_private_restatement_restores_no_shared_memory(memory: Handle) -> None:
    shared = str(memory.remember(unlike(1), at=MAY).memory_id)
    memory.scope("alice").remember(unlike(1))
    memory.memories.deprecate(shared, at=MAY + timedelta(days=1))

    done = memory.scope("alice").remember(unlike(1))

    assert done.outcome is Outcome.INSERTED_NEW
    assert done.memory_id != shared
    assert memory.memories.get(shared).status is Status.DEPRECATED
    assert memory.scope("alice").memories.get(str(done.memory_id)).scope == "alice"


def test_the_own_scope_comes_before_the_shared_one(memory: Handle) -> None:
    alice = memory.scope("alice")
    hers = alice.remember(unlike(1)).memory_id
    shared = memory.remember(unlike(1)).memory_id
    assert hers != shared
    assert alice.remember(unlike(1)).memory_id == hers
    assert memory.scope("bob").remember(unlike(1)).memory_id == shared


def test_what_was_said_about_a_memory_opens_no_way_to_it(memory: Handle) -> None:
    """An event in a scope that a reader sees does not show the memory of one that it does not."""
    theirs = str(memory.scope("b").remember(unlike(1)).memory_id)
    assert memory.scope("a", read_scopes=["a", "b"]).remember(unlike(1)).memory_id == theirs
    for ask in (
        memory.scope("a").memories.get,
        memory.scope("a").memories.history,
        memory.scope("a").memories.chain,
    ):
        with pytest.raises(NotFoundError):
            ask(theirs)


HOSTILE = [
    '"}) DETACH DELETE n //',
    'a" +scope_key:b^9 (c',
    "{}[]()^~?:\\/!&|+-",
    "\u202enoitcejni",
    "a\x00b",
    "тенант 漢字 🙂",
    " ",
    "x" * 200,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_full_of_syntax_is_only_a_name(memory: Handle, look: Look, name: str) -> None:
    own = f"{fresh_tenant()}{name}"[:200]
    victim = memory.remember(unlike(1))
    there = on_tenant(memory, own).scope(name)
    done: CommitOutcome = there.remember(unlike(1), tags=[name], source=name, actor=name)
    there.predicates.declare(
        name if name.strip() else "p", cardinality="ONE", origin=Origin(event_id=name)
    )
    fact = name.replace("\0", "")  # a fact has no control characters
    seen = there.observe(f"{fact}.", "is", f"{fact}!", source=name, actor=name, note=fact)
    with there.session(name) as session:
        session.add_messages([{"role": name, "name": name, "content": unlike(2), "id": name}])

    assert done.outcome is Outcome.INSERTED_NEW
    assert contents(there) == {unlike(1)}
    assert contents(on_tenant(memory, own)) == set()
    found = there.recall(f"{unlike(1)} {unlike(2)}").bites
    assert sorted(bite.kind for bite in found) == ["belief", "memory", "turn"]
    assert there.memories.list(tags=[name], source=name).memories[0].id == done.memory_id
    assert session.episodes.turns(session.episode_id).turns[0].name == name
    assert memory.memories.get(str(victim.memory_id)).reinforce_count == 0
    assert contents(memory) == {unlike(1)}
    assert there.beliefs.get(seen).subject == f"{fact}.".strip()
    assert memory.beliefs.list().beliefs == ()
    assert memory.predicates.list() == []
    assert len(look.events(own)) == 3
