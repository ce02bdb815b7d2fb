"""One item of each kind, and every public method as an attempt to read another tenant's data."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from graphmem import Handle, PrunePolicy, Status
from graphmem.errors import NotFoundError
from graphmem.items import GetItem, ListNamespaces, NamespaceMatch, PutItem, SearchItems
from graphmem.model import Tier
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)

Read = Callable[[Handle, dict[str, str]], Any]


def not_there(ask: Callable[..., Any]) -> Read:
    def read(memory: Handle, known: dict[str, str]) -> None:
        with pytest.raises(NotFoundError):
            ask(memory, known)

    return read


def found_waiting(memory: Handle) -> Any:
    found = memory.consolidation_status()
    return found.episodes or found.last_run_at or found.open_since or found.clusters


def exported(memory: Handle) -> Any:
    with TemporaryDirectory() as folder:
        return memory.admin.export_to(Path(folder) / "all.jsonl").records


def counted(memory: Handle) -> int:
    found = memory.admin.stats()
    by_state = (found.memories, found.beliefs, found.events)
    return sum(sum(one.values()) for one in by_state) + found.episodes + found.turns


NO_ITEMS = dict.fromkeys(Tier, 0)
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
READS: dict[str, Read] = {
    "recall": lambda m, _: m.recall(unlike(1), turns=True, include_hidden=True).bites,
    "context": lambda m, _: m.context(unlike(1), turns=True, include_hidden=True).ids,
    "memories.get": not_there(lambda m, known: m.memories.get(known["memory"])),
    "expand": not_there(lambda m, known: m.expand(known["memory"])),
    "memories.stale": lambda m, _: m.memories.stale(days=1).memories,
    "memories.history": not_there(lambda m, known: m.memories.history(known["memory"])),
    "memories.chain": not_there(lambda m, known: m.memories.chain(known["memory"])),
    "episodes.get": not_there(lambda m, known: m.episodes.get(known["episode"])),
    "episodes.list": lambda m, _: m.episodes.list(include_archived=True).episodes,
    "episodes.turns": lambda m, known: m.episodes.turns(known["episode"]).turns,
    "memories.list": lambda m, _: m.memories.list(statuses=list(Status), limit=1_000).memories,
    "supersede": not_there(lambda m, known: m.supersede(known["memory"], unlike(9))),
    "memories.deprecate": not_there(lambda m, known: m.memories.deprecate(known["memory"])),
    "memories.restore": not_there(lambda m, known: m.memories.restore(known["memory"])),
    "reject": not_there(lambda m, known: m.reject(known["belief"], reason="no")),
    "unreject": not_there(lambda m, known: m.unreject(known["belief"], reason="no")),
    "current": lambda m, _: m.current("alice", "works_on").candidates,
    "beliefs.get": not_there(lambda m, known: m.beliefs.get(known["belief"])),
    "beliefs.list": lambda m, _: (
        m.beliefs.list(
            include_superseded=True, include_archived=True, include_rejected=True, limit=1_000
        ).beliefs
    ),
    "predicates.list": lambda m, _: m.predicates.list(),
    "aliases.list": lambda m, _: m.aliases.list(),
    "aliases.remove": not_there(lambda m, _: m.aliases.remove("Alice Smith")),
    "evidence_for": not_there(lambda m, known: m.evidence_for(known["belief"])),
    "beliefs.what_if": not_there(lambda m, known: m.beliefs.what_if(known["belief"])),
    "why": not_there(lambda m, known: m.why(known["belief"])),
    "history": not_there(lambda m, known: m.history(known["belief"])),
    "beliefs.timeline": not_there(lambda m, known: m.beliefs.timeline(known["belief"])),
    "admin.verify": lambda m, _: m.admin.verify().wrong,
    "admin.stats": lambda m, _: counted(m),
    "admin.scopes": lambda m, _: m.admin.scopes().scopes,
    "admin.is_empty": lambda m, _: not m.admin.is_empty(),
    "consolidation_status": lambda m, _: found_waiting(m),
    "admin.erase_tenant": not_there(lambda m, _: m.admin.erase_tenant()),
    "admin.erase_person": not_there(lambda m, _: m.admin.erase_person("alice")),
    "admin.erasures": lambda m, _: m.admin.erasures().erasures,
    "beliefs.flip_set": not_there(lambda m, known: m.beliefs.flip_set(known["belief"])),
    "beliefs.slots": lambda m, _: m.beliefs.slots().slots,
    "beliefs.chain": not_there(lambda m, known: m.beliefs.chain(known["belief"])),
    "beliefs.history": not_there(lambda m, known: m.beliefs.history(known["belief"])),
    "beliefs.provenance": not_there(lambda m, known: m.beliefs.provenance(known["belief"])),
    "add_evidence": not_there(lambda m, known: m.add_evidence(known["belief"], "supporting", 0.7)),
    "beliefs.revise": not_there(lambda m, known: m.beliefs.revise(known["belief"], unlike(9))),
    "beliefs.split": not_there(
        lambda m, known: m.beliefs.split(known["belief"], [unlike(8), unlike(9)])
    ),
    "beliefs.merge": not_there(
        lambda m, known: m.beliefs.merge([known["belief"], known["other"]], unlike(9))
    ),
    "beliefs.archive": not_there(lambda m, known: m.beliefs.archive(known["belief"])),
    "beliefs.restore": not_there(lambda m, known: m.beliefs.restore(known["belief"])),
    "beliefs.clear_flag": not_there(lambda m, known: m.beliefs.clear_flag(known["belief"])),
    "extract": not_there(lambda m, _: m.extract(session_id="s1", extractor="rules")),
    "proposals.list": lambda m, _: m.proposals.list(status=None).proposals,
    "proposals.accept": not_there(lambda m, known: m.proposals.accept([known["proposal"]])),
    "proposals.dismiss": not_there(lambda m, known: m.proposals.dismiss([known["proposal"]])),
    "beliefs.retract": lambda m, known: m.beliefs.retract(known["event"]).found,
    "episodes.graduate": lambda m, _: m.episodes.graduate("no such file.md", dry_run=True).episodes,
    "episodes.compress": lambda m, _: m.episodes.compress(dry_run=True).episodes,
    "episodes.summarise": not_there(
        lambda m, known: m.episodes.summarise(known["episode"], dry_run=True)
    ),
    "episodes.restore": not_there(lambda m, known: m.episodes.restore(known["document"])),
    "episodes.pin": not_there(lambda m, known: m.episodes.pin(known["document"])),
    "episodes.unpin": not_there(lambda m, known: m.episodes.unpin(known["document"])),
    "admin.export_to": lambda m, _: exported(m),
    "usage.ratings": lambda m, _: m.usage.ratings(),
    "usage.audit": lambda m, _: m.usage.audit().sessions + m.usage.audit().findings,
    "usage.prune": lambda m, _: m.usage.prune(policy=AT_ONCE).items,
    "usage.prune_manifest": lambda m, _: m.usage.prune_manifest(),
    "usage.restore_pruned": not_there(lambda m, known: m.usage.restore_pruned(known["run"])),
    "usage.pack": lambda m, _: m.usage.pack().items,
    "items.batch": lambda m, _: [item for item in m.items.batch(ASK_ITEMS) if item],
    "items.sweep": lambda m, _: m.items.sweep(),
    "forget": not_there(lambda m, known: m.forget("memory", known["memory"])),
    "usage.dashboard": lambda m, _: [
        part for _, part in m.usage.dashboard() if part and part != NO_ITEMS
    ],
}
WRITES = {
    *("remember", "remember_many", "ingest", "episodes.add", "add_messages", "respond"),
    *(
        "predicates.declare",
        "admin.reopen",
        "admin.reopen_person",
        "aliases.add",
        "observe",
        "observe_many",
        "believe",
        "admin.rebuild",
        "admin.seal",
        "admin.verify_export",
        "usage.flush",
        "admin.backfill",
    ),
    *(
        "consolidate",
        "usage.log_access",
        "usage.log_search",
        "usage.rate",
        "usage.roll_up",
        "admin.import_from",
        "admin.import_foreign",
    ),
}
NO_READS = {
    *("open", "reconnect", "close", "health", "tenant", "scope", "session"),
    *("tenants", "run_jobs"),
}
"""Methods that read no data, and those that only the client has since they are of all tenants."""


def write_everything(memory: Handle, mark: str = "") -> dict[str, str]:
    """Write one item of each kind, with ids that any tenant could use."""
    done = memory.remember(unlike(1), event_id=f"e1{mark}", tags=["t"])
    memory.remember_many([unlike(2)])
    memory.supersede(str(memory.remember(unlike(3)).memory_id), unlike(4), event_id=f"s1{mark}")
    memory.memories.deprecate(str(memory.remember(unlike(5)).memory_id), event_id=f"d1{mark}")
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
    memory.aliases.add("Alice Smith", "alice", event_id=f"n1{mark}", at=MAY)
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
    """Create beliefs of every kind, one of them retracted, and return the ids of two."""
    memory.predicates.declare("works_on", cardinality="ONE", event_id=f"p1{mark}", at=MAY)
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
    memory.add_evidence(first, "supporting", 0.7, event_id=f"t1{mark}")
    memory.beliefs.retract(f"m0{mark}", retraction_id=f"r1{mark}")
    memory.beliefs.revise(
        memory.believe(unlike(10), event_id=f"b8{mark}"), unlike(11), event_id=f"v1{mark}"
    )
    memory.beliefs.split(
        memory.believe(unlike(12), event_id=f"b9{mark}"), [unlike(13), unlike(14)], at=MAY
    )
    memory.beliefs.archive(memory.believe(unlike(15), event_id=f"b10{mark}"), event_id=f"h1{mark}")
    memory.beliefs.restore(memory.believe(unlike(16), event_id=f"b11{mark}"), event_id=f"h2{mark}")
    memory.beliefs.clear_flag(
        memory.believe(unlike(17), event_id=f"b12{mark}"), event_id=f"h3{mark}"
    )
    memory.reject(
        memory.believe(unlike(997), event_id=f"b13{mark}"), reason="no", event_id=f"j1{mark}"
    )
    return {"belief": first.belief_id, "other": second.belief_id}
