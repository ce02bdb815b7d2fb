"""One item of each kind, and every public method as an attempt to read another tenant's data."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from graphmem import (
    GetItem,
    GraphMem,
    ListNamespaces,
    NamespaceMatch,
    PrunePolicy,
    PutItem,
    SearchItems,
    Status,
    Tier,
)
from graphmem.errors import NotFoundError
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)

Read = Callable[[GraphMem, dict[str, str]], Any]


def not_there(ask: Callable[..., Any]) -> Read:
    def read(memory: GraphMem, known: dict[str, str]) -> None:
        with pytest.raises(NotFoundError):
            ask(memory, known)

    return read


def exported(memory: GraphMem) -> Any:
    with TemporaryDirectory() as folder:
        return memory.export_to(Path(folder) / "all.jsonl").records


NO_ITEMS = dict.fromkeys(Tier, 0)
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
    ListNamespaces(fits=(NamespaceMatch(end="suffix", path=("b",)),)),
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
    "batch_items": lambda m, _: [item for item in m.batch_items(ASK_ITEMS) if item],
    "sweep_items": lambda m, _: m.sweep_items(),
    "forget": not_there(lambda m, known: m.forget("memory", known["memory"])),
    "attention": lambda m, _: [part for _, part in m.attention() if part and part != NO_ITEMS],
}
WRITES = {
    *("remember", "remember_many", "ingest", "add_episode", "add_messages"),
    *("predicate", "same_as", "observe", "observe_many", "believe", "rebuild", "flush", "backfill"),
    *("consolidate", "touch", "log_search", "rate", "roll_up_log", "import_from", "adopt"),
}
NO_READS = {"open", "reconnect", "close", "tenant", "scope", "session"}


def write_everything(memory: GraphMem, mark: str = "") -> dict[str, str]:
    """Write one item of each kind, with ids that any tenant could use."""
    done = memory.remember(unlike(1), id=f"e1{mark}", tags=["t"])
    memory.remember_many([unlike(2)])
    memory.supersede(str(memory.remember(unlike(3)).memory_id), unlike(4), id=f"s1{mark}")
    memory.deprecate(str(memory.remember(unlike(5)).memory_id), id=f"d1{mark}")
    memory.add_episode(id=f"doc{mark}", content=unlike(6))
    compressed = memory.add_episode(
        id=f"long{mark}", content=unlike(8) * 9, summary=unlike(8), at=MAY
    )
    memory.compress()
    # An episode to compress and an episode to graduate.
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
        later.log_search("where?", tool="grep", results=found)  # type: ignore[arg-type]
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
    """Create beliefs of every kind, one of them retracted, and return the ids of two."""
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
