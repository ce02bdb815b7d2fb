"""One item of each kind, written to a tenant."""

from __future__ import annotations

from datetime import UTC, datetime

from graphmem import Handle, PrunePolicy
from graphmem.items import GetItem, ListNamespaces, NamespaceMatch, PutItem, SearchItems
from graphmem.model import Origin
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)

AT_ONCE = PrunePolicy(archive_days=0, compress_days=0, low_archive_days=0)
PUT_ITEMS = (
    PutItem(namespace=("a", "b"), key="k", value={"n": 1}, texts={"$": unlike(1)}),
    PutItem(namespace=("a",), key="gone", value={"n": 2}, ttl_minutes=1e-6),
)
ASK_ITEMS = (
    GetItem(namespace=("a", "b"), key="k"),
    SearchItems(),
    SearchItems(query=unlike(1), filter={"n": 1}),
    ListNamespaces(),
    ListNamespaces(fits=(NamespaceMatch(end="suffix", path=("b",)),)),
)


def write_everything(memory: Handle, mark: str = "") -> dict[str, str]:
    """Write one item of each kind, with ids that any tenant could use."""
    done = memory.remember(unlike(1), event_id=f"e1{mark}", tags=["t"])
    memory.remember_many([unlike(2)])
    memory.supersede(
        str(memory.remember(unlike(3)).memory_id), unlike(4), origin=Origin(event_id=f"s1{mark}")
    )
    memory.memories.deprecate(
        str(memory.remember(unlike(5)).memory_id), origin=Origin(event_id=f"d1{mark}")
    )
    memory.episodes.add(episode_id=f"doc{mark}", content=unlike(6))
    compressed = memory.episodes.add(
        episode_id=f"long{mark}", content=unlike(8) * 9, summary=unlike(8), at=MAY
    )
    memory.episodes.compress()
    # An episode to compress and an episode to graduate.
    memory.episodes.add(episode_id=f"old{mark}", content=unlike(6) * 9, at=MAY)
    memory.episodes.add(episode_id=f"dear{mark}", content=unlike(7), at=MAY, importance=0.9)
    with memory.session("s1") as session:
        session.add_messages([{"role": "user", "content": unlike(1), "id": "1"}])
        session.observe("alice", "works_on", "Atlas", event_id=f"o1{mark}", at=MAY)
    memory.aliases.add("Alice Smith", "alice", origin=Origin(event_id=f"n1{mark}"), at=MAY)
    with memory.session("s2") as later:
        later.usage.log_access("file", "notes.md")
        unused = [
            memory.episodes.add(episode_id=f"unused {n}{mark}", content=unlike(18 + n), at=MAY)
            for n in range(2)
        ]
        found = [str(done.memory_id), ("file", "a.py"), *unused]
        later.usage.log_search("where?", tool="grep", results=found)  # type: ignore[arg-type]
        later.expand(str(done.memory_id))
    waits = memory.session("s3")
    waits.add_messages([{"role": "user", "content": "I moved to Lisbon.", "id": "3"}])
    [proposal] = waits.extract(extractor="rules", review=True).proposals
    memory.items.batch(PUT_ITEMS)
    memory.forget("memory", str(memory.remember(unlike(999)).memory_id), dry_run=False)
    memory.usage.rate()
    # One stays to be pruned.
    memory.episodes.pin(unused[1])
    pruned = memory.usage.prune(dry_run=False, policy=AT_ONCE)
    memory.episodes.unpin(unused[1])
    return {
        "run": str(pruned.run_id),
        "proposal": proposal.event_id,
        "memory": str(done.memory_id),
        "episode": session.episode_id,
        "document": compressed,
        "event": f"o1{mark}",
        **believe_everything(memory, mark),
    }


def believe_everything(memory: Handle, mark: str) -> dict[str, str]:
    """Create beliefs of every kind, one of them retracted, and return some ids."""
    memory.predicates.declare(
        "works_on", cardinality="ONE", origin=Origin(event_id=f"p1{mark}"), at=MAY
    )
    memory.observe_many(
        [
            {
                "subject": "alice",
                "predicate": "works_on",
                "object": f"o{n}",
                "event_id": f"m{n}{mark}",
            }
            for n in range(3)
        ]
    )
    memory.remember(
        unlike(2), claims=[("alice", "works_on", "Atlas")], event_id=f"c1{mark}", at=MAY
    )
    first, second = (memory.believe(unlike(n), event_id=f"b{n}{mark}", at=MAY) for n in (6, 7))
    memory.add_evidence(first, "supporting", 0.7, event_id=f"trial_1{mark}")
    memory.beliefs.retract(f"m0{mark}", origin=Origin(event_id=f"r1{mark}"))
    memory.beliefs.revise(
        memory.believe(unlike(10), event_id=f"b8{mark}"),
        unlike(11),
        origin=Origin(event_id=f"v1{mark}"),
    )
    memory.beliefs.split(
        memory.believe(unlike(12), event_id=f"b9{mark}"), [unlike(13), unlike(14)], at=MAY
    )
    memory.beliefs.archive(
        memory.believe(unlike(15), event_id=f"b10{mark}"), origin=Origin(event_id=f"h1{mark}")
    )
    memory.beliefs.restore(
        memory.believe(unlike(16), event_id=f"b11{mark}"), origin=Origin(event_id=f"h2{mark}")
    )
    memory.beliefs.clear_flag(
        memory.believe(unlike(17), event_id=f"b12{mark}"), origin=Origin(event_id=f"h3{mark}")
    )
    memory.reject(
        memory.believe(unlike(997), event_id=f"b13{mark}"),
        reason="no",
        origin=Origin(event_id=f"j1{mark}"),
    )
    return {"belief": first.belief_id, "other": second.belief_id, "evidence": f"trial_1{mark}"}
