"""Every public method, called with what its caller may know of somebody else's memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from graphmem import (
    ConsolidationPolicy,
    GetItem,
    GraphMem,
    ListNamespaces,
    PrunePolicy,
    PutItem,
    SearchItems,
    Status,
)
from tests.isolation.victims import NAMESPACE
from tests.plugins.texts import unlike

Known = dict[str, str]
Call = Callable[[GraphMem, Known], Any]


def exported(memory: GraphMem) -> str:
    """Return what stands in an export, but for when it was made; its own tenant takes it in again.

    The first line says when, and the digest of each line rests on the lines before it.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "all.jsonl"
        memory.export_to(file)
        memory.import_from(file)
        lines = file.read_text("utf-8").splitlines()[1:]
        return "\n".join(line[: line.rindex(',"check"')] for line in lines)


AT_ONCE = PrunePolicy(archive_days=0, compress_days=0, compressed_days=0)
AT_FIRST = ConsolidationPolicy(start=1)
NO_FILE = "no such folder/MEMORY.md"

READS: dict[str, Call] = {
    "recall": lambda m, _: m.recall(unlike(1), limit=100, turns=True, hidden=True),
    "context": lambda m, _: m.context(unlike(1), tokens=8_000, turns=True, hidden=True),
    "get": lambda m, known: m.get(known["memory"]),
    "expand": lambda m, known: m.expand(known["memory"]),
    "stale": lambda m, known: m.stale(days=1, cursor=known.get("stale cursor")),
    "history": lambda m, known: m.history(known["memory"]),
    "chain": lambda m, known: m.chain(known["memory"]),
    "episode": lambda m, known: m.episode(known["document"]),
    "turns": lambda m, known: m.turns(known["episode"]),
    "list": lambda m, known: m.list(
        statuses=list(Status), limit=1_000, cursor=known.get("list cursor")
    ),
    "current": lambda m, _: m.current("alice", "works_on"),
    "belief": lambda m, known: m.belief(known["belief"]),
    "beliefs": lambda m, known: m.beliefs(
        superseded=True, archived=True, limit=1_000, cursor=known.get("beliefs cursor")
    ),
    "predicates": lambda m, _: m.predicates(),
    "names": lambda m, _: m.names(),
    "evidence_for": lambda m, known: m.evidence_for(known["belief"]),
    "what_if": lambda m, known: m.what_if(known["belief"], without=[known["event"]]),
    "why": lambda m, known: m.why(known["belief"]),
    "timeline": lambda m, known: m.timeline(known["belief"]),
    "verify": lambda m, _: m.verify(),
    "flip_set": lambda m, known: m.flip_set(known["belief"]),
    "slots": lambda m, known: m.slots(limit=1_000, cursor=known.get("slots cursor")),
    "belief_chain": lambda m, known: m.belief_chain(known["belief"]),
    "belief_history": lambda m, known: m.belief_history(known["belief"]),
    "provenance": lambda m, known: m.provenance(known["belief"]),
    "proposals": lambda m, known: m.proposals(status=None, cursor=known.get("proposals cursor")),
    "ratings": lambda m, _: m.ratings(),
    "audit": lambda m, _: m.audit(),
    "pruned": lambda m, known: m.pruned(known["run"]),
    "pack": lambda m, _: m.pack(10_000),
    "attention": lambda m, _: m.attention(),
    "export_to": lambda m, _: exported(m),
}
WRITES: dict[str, Call] = {
    "import_from": lambda m, _: exported(m),
    "adopt": lambda m, known: m.adopt(
        [{"id": known["memory"], "memory": unlike(1), "user_id": "alice"}], "mem0"
    ),
    "forget": lambda m, known: m.forget("memory", known["memory"], apply=True),
    "remember": lambda m, known: m.remember(
        unlike(1), id=known["event"], tags=["t"], claims=[("alice", "works_on", "Atlas")]
    ),
    "remember_many": lambda m, _: m.remember_many([unlike(n) for n in range(4)]),
    "ingest": lambda m, known: m.ingest(
        [{"role": "user", "content": unlike(2), "id": known["turn"], "session": "s1"}]
    ),
    "add_episode": lambda m, known: m.add_episode(id=known["document"], content=unlike(6)),
    "add_messages": lambda m, _: m.session("s1").add_messages(
        [{"role": "user", "content": unlike(1), "id": "1"}]
    ),
    "supersede": lambda m, known: m.supersede(known["memory"], unlike(9), id=known["said"]),
    "deprecate": lambda m, known: m.deprecate(known["memory"]),
    "restore": lambda m, known: m.restore(known["memory"]),
    "predicate": lambda m, known: m.predicate("works_on", cardinality="ONE", id=known["said"]),
    "same_as": lambda m, _: m.same_as("Alice Smith", "alice"),
    "apart": lambda m, _: m.apart("Alice Smith"),
    "observe": lambda m, known: m.observe(
        "alice", "works_on", "Atlas", episode=known["episode"], turn=known["turn"]
    ),
    "observe_many": lambda m, known: m.observe_many(
        [
            {"subject": "alice", "predicate": "works_on", "object": f"o{n}", "id": known["said"]}
            for n in range(2)
        ]
    ),
    "believe": lambda m, known: m.believe(unlike(6), id=known["event"]),
    "evidence": lambda m, known: m.evidence(known["belief"], "refuting", 0.9, turn=known["turn"]),
    "revise": lambda m, known: m.revise(known["belief"], unlike(9)),
    "split": lambda m, known: m.split(known["belief"], [unlike(8), unlike(9)]),
    "merge": lambda m, known: m.merge([known["belief"], known["other"]], unlike(9)),
    "archive": lambda m, known: m.archive(known["belief"]),
    "restore_belief": lambda m, known: m.restore_belief(known["belief"]),
    "resolve": lambda m, known: m.resolve(known["belief"]),
    "retract": lambda m, known: m.retract(known["event"]),
    "extract": lambda m, _: m.extract(session="s1", extractor="rules", review=True),
    "accept": lambda m, known: m.accept([known["proposal"]]),
    "reject": lambda m, known: m.reject([known["proposal"]]),
    "graduate": lambda m, _: m.graduate(NO_FILE, dry_run=True),
    "compress": lambda m, _: m.compress(),
    "restore_episode": lambda m, known: m.restore_episode(known["document"]),
    "prune": lambda m, _: m.prune(apply=True, policy=AT_ONCE),
    "restore_pruned": lambda m, known: m.restore_pruned(known["run"], ids=[known["memory"]]),
    "rebuild": lambda m, _: m.rebuild(),
    "backfill": lambda m, _: m.backfill(),
    "flush": lambda m, _: m.flush(),
    "consolidate": lambda m, _: m.consolidate(policy=AT_FIRST),
    "touch": lambda m, _: m.session("s1").touch("file", "notes.md"),
    "log_search": lambda m, known: m.session("s1").log_search(
        "where?", tool="grep", results=[known["memory"], known["belief"], known["turn"]]
    ),
    "rate": lambda m, _: m.rate(again=True),
    "roll_up_log": lambda m, _: m.roll_up_log(days=0, apply=True),
    "sweep_items": lambda m, _: m.sweep_items(),
    "batch_items": lambda m, known: m.batch_items(
        [
            PutItem(namespace=NAMESPACE, key=known["turn"], value={"n": 2}, texts={"$": unlike(1)}),
            GetItem(namespace=NAMESPACE, key="k"),
            SearchItems(limit=100),
            SearchItems(query=unlike(1), filter={"n": 1}),
            ListNamespaces(),
            PutItem(namespace=NAMESPACE, key="k", value=None),
        ]
    ),
}
CALLS = READS | WRITES
