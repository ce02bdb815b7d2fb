"""What stays apart: scopes inside a tenant, and tenants altogether."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from graphmem import (
    AsyncGraphMem,
    AsyncSession,
    Fit,
    GetItem,
    GraphMem,
    ListNamespaces,
    Outcome,
    PrunePolicy,
    PutItem,
    SearchItems,
    Status,
    Tier,
)
from graphmem.client.handle import AsyncHandle
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.model import CommitOutcome
from graphmem.testing import FrozenClock
from tests.clients.test_consolidating import FEW, SWIMS, tell
from tests.plugins.clients import Door
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import WINDOW, restated, unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)


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


# Every public read, each as a look for what another tenant wrote.

Read = Callable[[GraphMem, dict[str, str]], Any]


def not_there(ask: Callable[..., Any]) -> Read:
    def read(memory: GraphMem, known: dict[str, str]) -> None:
        with pytest.raises(NotFoundError):
            ask(memory, known)

    return read


def exported(memory: GraphMem) -> Any:
    with TemporaryDirectory() as folder:
        return memory.export_to(Path(folder) / "all.jsonl").records


NOBODY = dict.fromkeys(Tier, 0)
AT_ONCE = PrunePolicy(archive_days=0, compress_days=0, compressed_days=0)
PUT_ITEMS = (
    PutItem(namespace=("a", "b"), key="k", value={"n": 1}, texts={"$": unlike(1)}),
    PutItem(namespace=("a",), key="gone", value={"n": 2}, ttl_minutes=1e-6),
)
ASK_ITEMS = (
    GetItem(namespace=("a", "b"), key="k"),
    SearchItems(),
    SearchItems(query=unlike(1), filter={"n": 1}),
    ListNamespaces(),
    ListNamespaces(fits=(Fit(end="suffix", path=("b",)),)),
)
READS: dict[str, Read] = {
    "recall": lambda m, _: m.recall(unlike(1), turns=True, hidden=True).bites,
    "context": lambda m, _: m.context(unlike(1), turns=True, hidden=True).ids,
    "get": not_there(lambda m, known: m.get(known["memory"])),
    "expand": not_there(lambda m, known: m.expand(known["memory"])),
    "stale": lambda m, _: m.stale(days=1).memories,
    "history": not_there(lambda m, known: m.history(known["memory"])),
    "chain": not_there(lambda m, known: m.chain(known["memory"])),
    "episode": not_there(lambda m, known: m.episode(known["episode"])),
    "turns": lambda m, known: m.turns(known["episode"]),
    "list": lambda m, _: m.list(statuses=list(Status), limit=1_000).memories,
    "supersede": not_there(lambda m, known: m.supersede(known["memory"], unlike(9))),
    "deprecate": not_there(lambda m, known: m.deprecate(known["memory"])),
    "restore": not_there(lambda m, known: m.restore(known["memory"])),
    "current": lambda m, _: m.current("alice", "works_on").candidates,
    "belief": not_there(lambda m, known: m.belief(known["belief"])),
    "beliefs": lambda m, _: m.beliefs(superseded=True, archived=True, limit=1_000).beliefs,
    "predicates": lambda m, _: m.predicates(),
    "names": lambda m, _: m.names(),
    "apart": not_there(lambda m, _: m.apart("Alice Smith")),
    "evidence_for": not_there(lambda m, known: m.evidence_for(known["belief"])),
    "what_if": not_there(lambda m, known: m.what_if(known["belief"])),
    "why": not_there(lambda m, known: m.why(known["belief"])),
    "timeline": not_there(lambda m, known: m.timeline(known["belief"])),
    "verify": lambda m, _: m.verify().wrong,
    "flip_set": not_there(lambda m, known: m.flip_set(known["belief"])),
    "slots": lambda m, _: m.slots().slots,
    "belief_chain": not_there(lambda m, known: m.belief_chain(known["belief"])),
    "belief_history": not_there(lambda m, known: m.belief_history(known["belief"])),
    "provenance": not_there(lambda m, known: m.provenance(known["belief"])),
    "evidence": not_there(lambda m, known: m.evidence(known["belief"], "supporting", 0.7)),
    "revise": not_there(lambda m, known: m.revise(known["belief"], unlike(9))),
    "split": not_there(lambda m, known: m.split(known["belief"], [unlike(8), unlike(9)])),
    "merge": not_there(lambda m, known: m.merge([known["belief"], known["other"]], unlike(9))),
    "archive": not_there(lambda m, known: m.archive(known["belief"])),
    "restore_belief": not_there(lambda m, known: m.restore_belief(known["belief"])),
    "resolve": not_there(lambda m, known: m.resolve(known["belief"])),
    "extract": not_there(lambda m, _: m.extract(session="s1", extractor="rules")),
    "proposals": lambda m, _: m.proposals(status=None).proposals,
    "accept": not_there(lambda m, known: m.accept([known["proposal"]])),
    "reject": not_there(lambda m, known: m.reject([known["proposal"]])),
    "retract": lambda m, known: m.retract(known["event"]).found,
    "graduate": lambda m, _: m.graduate("no such file.md", dry_run=True).episodes,
    "compress": lambda m, _: m.compress(dry_run=True).episodes,
    "restore_episode": not_there(lambda m, known: m.restore_episode(known["document"])),
    "export_to": lambda m, _: exported(m),
    "ratings": lambda m, _: m.ratings(),
    "audit": lambda m, _: m.audit().sessions + m.audit().findings,
    "prune": lambda m, _: m.prune(policy=AT_ONCE).items,
    "pruned": lambda m, _: m.pruned(),
    "restore_pruned": not_there(lambda m, known: m.restore_pruned(known["run"])),
    "pack": lambda m, _: m.pack().items,
    "batch_items": lambda m, _: [one for one in m.batch_items(ASK_ITEMS) if one],
    "sweep_items": lambda m, _: m.sweep_items(),
    "forget": not_there(lambda m, known: m.forget("memory", known["memory"])),
    "attention": lambda m, _: [part for _, part in m.attention() if part and part != NOBODY],
}
WRITES = {
    *("remember", "remember_many", "ingest", "add_episode", "add_messages"),
    *("predicate", "same_as", "observe", "observe_many", "believe", "rebuild", "flush", "backfill"),
    *("consolidate", "touch", "log_search", "rate", "roll_up_log", "import_from", "adopt"),
}
NO_READS = {"open", "reconnect", "close", "tenant", "scope", "session"}


def write_everything(memory: GraphMem, mark: str = "") -> dict[str, str]:
    """Make one of everything, with ids that any tenant would give it."""
    done = memory.remember(unlike(1), id=f"e1{mark}", tags=["t"])
    memory.remember_many([unlike(2)])
    memory.supersede(str(memory.remember(unlike(3)).memory_id), unlike(4), id=f"s1{mark}")
    memory.deprecate(str(memory.remember(unlike(5)).memory_id), id=f"d1{mark}")
    memory.add_episode(id=f"doc{mark}", content=unlike(6))
    compressed = memory.add_episode(
        id=f"long{mark}", content=unlike(8) * 9, summary=unlike(8), at=MAY
    )
    memory.compress()
    # One that would be compressed and one that would graduate.
    memory.add_episode(id=f"old{mark}", content=unlike(6) * 9, at=MAY)
    memory.add_episode(id=f"dear{mark}", content=unlike(7), at=MAY, importance=0.9)
    with memory.session("s1") as session:
        session.add_messages([{"role": "user", "content": unlike(1), "id": "1"}])
        session.observe("alice", "works_on", "Atlas", id=f"o1{mark}", at=MAY)
    memory.same_as("Alice Smith", "alice", id=f"n1{mark}", at=MAY)
    with memory.session("s2") as later:
        later.touch("file", "notes.md")
        unused = [str(memory.remember(unlike(18)).memory_id), memory.believe(unlike(19)).belief_id]
        found = [str(done.memory_id), ("file", "a.py"), *unused]
        later.log_search("where?", tool="grep", results=found)
        later.expand(str(done.memory_id))
    waits = memory.session("s3")
    waits.add_messages([{"role": "user", "content": "I moved to Lisbon.", "id": "3"}])
    [proposal] = waits.extract(extractor="rules", review=True).proposals
    memory.batch_items(PUT_ITEMS)
    memory.forget("memory", str(memory.remember(unlike(999)).memory_id), apply=True)
    memory.rate()
    pruned = memory.prune(apply=True, policy=AT_ONCE, kinds=["Memory"])
    return {
        "run": str(pruned.run_id),
        "proposal": proposal.event_id,
        "memory": str(done.memory_id),
        "episode": session.episode_id,
        "document": compressed,
        "event": f"o1{mark}",
        **believe_everything(memory, mark),
    }


def believe_everything(memory: GraphMem, mark: str) -> dict[str, str]:
    """Make beliefs of every kind, one of them retracted, and return two of them."""
    memory.predicate("works_on", cardinality="ONE", id=f"p1{mark}", at=MAY)
    memory.observe_many(
        [
            {"subject": "alice", "predicate": "works_on", "object": f"o{n}", "id": f"m{n}{mark}"}
            for n in range(3)
        ]
    )
    memory.remember(unlike(2), claims=[("alice", "works_on", "Atlas")], id=f"c1{mark}", at=MAY)
    first, second = (memory.believe(unlike(n), id=f"b{n}{mark}", at=MAY) for n in (6, 7))
    memory.evidence(first, "supporting", 0.7, id=f"t1{mark}")
    memory.retract(f"m0{mark}", id=f"r1{mark}")
    memory.revise(memory.believe(unlike(10), id=f"b8{mark}"), unlike(11), id=f"v1{mark}")
    memory.split(memory.believe(unlike(12), id=f"b9{mark}"), [unlike(13), unlike(14)], at=MAY)
    memory.archive(memory.believe(unlike(15), id=f"b10{mark}"), id=f"h1{mark}")
    memory.restore_belief(memory.believe(unlike(16), id=f"b11{mark}"), id=f"h2{mark}")
    memory.resolve(memory.believe(unlike(17), id=f"b12{mark}"), id=f"h3{mark}")
    return {"belief": first.belief_id, "other": second.belief_id}


def test_every_public_method_is_looked_at() -> None:
    named = {
        name
        for owner in (AsyncHandle, AsyncGraphMem, AsyncSession)
        for name, member in inspect.getmembers(owner)
        if not name.startswith("_") and (inspect.isfunction(member) or inspect.ismethod(member))
    }
    assert named == READS.keys() | WRITES | NO_READS


@pytest.fixture(scope="module")
def known(_client: GraphMem) -> dict[str, str]:
    """Ids of another tenant, which wrote one of everything in each of two scopes."""
    other = _client.tenant(fresh_tenant())
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
        "MATCH (a {tenant: $tenant})--(b) WHERE b.tenant <> $tenant RETURN count(*) AS n",
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
