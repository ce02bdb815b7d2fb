"""Every public method, called with what its caller may know of somebody else's memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from graphmem import Handle, Status
from graphmem.items import GetItem, ListNamespaces, PutItem, SearchItems
from graphmem.model import Origin
from tests.isolation.victims import NAMESPACE
from tests.plugins.episodes import FEW
from tests.plugins.everything import AT_ONCE
from tests.plugins.texts import unlike

Known = dict[str, str]
Call = Callable[[Handle, Known], Any]


def exported(memory: Handle) -> str:
    """Return what stands in an export, but for when it was made; its own tenant takes it in again.

    The first line says when, and the digest of each line rests on the lines before it.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "all.jsonl"
        memory.admin.export_to(file)
        memory.admin.verify_export(file)
        memory.admin.import_from(file)
        lines = file.read_text("utf-8").splitlines()[1:]
        return "\n".join(line[: line.rindex(',"check"')] for line in lines)


NO_FILE = "no such folder/MEMORY.md"

READS: dict[str, Call] = {
    "recall": lambda m, _: m.recall(unlike(1), limit=100, include_hidden=True),
    "context": lambda m, _: m.context(unlike(1), tokens=8_000, include_hidden=True),
    "memories.get": lambda m, known: m.memories.get(known["memory"]),
    "expand": lambda m, known: m.expand(known["memory"]),
    "memories.stale": lambda m, known: m.memories.stale(days=1, cursor=known.get("stale cursor")),
    "memories.history": lambda m, known: m.memories.history(known["memory"]),
    "memories.chain": lambda m, known: m.memories.chain(known["memory"]),
    "episodes.get": lambda m, known: m.episodes.get(known["document"]),
    "episodes.list": lambda m, known: m.episodes.list(
        limit=1_000, include_archived=True, cursor=known.get("episodes cursor")
    ),
    "episodes.turns": lambda m, known: m.episodes.turns(known["episode"]).turns,
    "memories.list": lambda m, known: m.memories.list(
        statuses=list(Status), limit=1_000, cursor=known.get("list cursor")
    ),
    "current": lambda m, _: m.current("alice", "works_on"),
    "beliefs.get": lambda m, known: m.beliefs.get(known["belief"]),
    "beliefs.list": lambda m, known: m.beliefs.list(
        include_superseded=True,
        include_archived=True,
        limit=1_000,
        cursor=known.get("beliefs cursor"),
    ),
    "predicates.list": lambda m, _: m.predicates.list(),
    "aliases.list": lambda m, _: m.aliases.list(),
    "evidence_for": lambda m, known: m.evidence_for(known["belief"]),
    "beliefs.what_if": lambda m, known: m.beliefs.what_if(
        known["belief"], without=[known["evidence"]]
    ),
    "why": lambda m, known: m.why(known["belief"]),
    "history": lambda m, known: m.history(known["memory"]),
    "beliefs.timeline": lambda m, known: m.beliefs.timeline(known["belief"]),
    "admin.verify": lambda m, _: m.admin.verify(),
    "admin.stats": lambda m, _: m.admin.stats(),
    "admin.scopes": lambda m, known: m.admin.scopes(cursor=known.get("scopes cursor")),
    "admin.is_empty": lambda m, _: m.admin.is_empty(),
    "admin.erasures": lambda m, _: m.admin.erasures(),
    "consolidation_status": lambda m, _: m.consolidation_status(),
    "beliefs.flip_set": lambda m, known: m.beliefs.flip_set(known["belief"]),
    "beliefs.slots": lambda m, known: m.beliefs.slots(
        limit=1_000, cursor=known.get("slots cursor")
    ),
    "beliefs.chain": lambda m, known: m.beliefs.chain(known["belief"]),
    "beliefs.history": lambda m, known: m.beliefs.history(known["belief"]),
    "beliefs.provenance": lambda m, known: m.beliefs.provenance(known["belief"]),
    "proposals.list": lambda m, known: m.proposals.list(
        status=None, cursor=known.get("proposals cursor")
    ),
    "usage.ratings": lambda m, _: m.usage.ratings(),
    "usage.goals": lambda m, _: m.usage.goals(),
    "usage.audit": lambda m, _: m.usage.audit(),
    "usage.prune_manifest": lambda m, known: m.usage.prune_manifest(known["run"]),
    "usage.pack": lambda m, _: m.usage.pack(10_000),
    "usage.dashboard": lambda m, _: m.usage.dashboard(),
    "admin.export_to": lambda m, _: exported(m),
    "admin.verify_export": lambda m, _: exported(m),
}
WRITES: dict[str, Call] = {
    "admin.import_from": lambda m, _: exported(m),
    "admin.import_foreign": lambda m, known: m.admin.import_foreign(
        [{"id": known["memory"], "memory": unlike(1), "user_id": "alice"}], "mem0"
    ),
    "admin.move_to": lambda m, _: m.admin.move_to(m),
    "forget": lambda m, known: m.forget("memory", known["memory"], dry_run=False),
    # A closed tenant could attack no more; a test of its own erases tenants.
    "admin.erase_tenant": lambda m, _: m.admin.erase_tenant(),
    "admin.erase_person": lambda m, _: m.admin.erase_person("alice", dry_run=False),
    "admin.reopen_person": lambda m, _: m.admin.reopen_person("alice"),
    "admin.reopen": lambda m, known: m.admin.reopen("alice", origin=Origin(event_id=known["said"])),
    "remember": lambda m, known: m.remember(
        unlike(1), event_id=known["event"], tags=["t"], claims=[("alice", "works_on", "Atlas")]
    ),
    "remember_many": lambda m, _: m.remember_many([unlike(n) for n in range(4)]),
    "ingest": lambda m, known: m.ingest(
        [{"role": "user", "content": unlike(2), "id": known["turn"], "session": "s1"}]
    ),
    "episodes.add": lambda m, known: m.episodes.add(
        episode_id=known["document"], content=unlike(6)
    ),
    "add_messages": lambda m, _: m.session("s1").add_messages(
        [{"role": "user", "content": unlike(1), "id": "1"}]
    ),
    "respond": lambda m, _: m.session("s1").respond(
        [{"role": "user", "content": unlike(1), "id": "1"}], lambda messages: str(list(messages))
    ),
    "supersede": lambda m, known: m.supersede(
        known["memory"], unlike(9), origin=Origin(event_id=known["said"])
    ),
    "memories.deprecate": lambda m, known: m.memories.deprecate(known["memory"]),
    "memories.restore": lambda m, known: m.memories.restore(known["memory"]),
    "reject": lambda m, _: m.reject(("alice", "works_on", "Atlas"), reason="no"),
    "unreject": lambda m, known: m.unreject(known["belief"], reason="yes"),
    "predicates.declare": lambda m, known: m.predicates.declare(
        "works_on", cardinality="ONE", origin=Origin(event_id=known["said"])
    ),
    "aliases.add": lambda m, _: m.aliases.add("Alice Smith", "alice"),
    "aliases.remove": lambda m, _: m.aliases.remove("Alice Smith"),
    "observe": lambda m, known: m.observe(
        "alice", "works_on", "Atlas", episode_id=known["episode"], turn_id=known["turn"]
    ),
    "observe_many": lambda m, known: m.observe_many(
        [
            {
                "subject": "alice",
                "predicate": "works_on",
                "object": f"o{n}",
                "event_id": known["said"],
            }
            for n in range(2)
        ]
    ),
    "believe": lambda m, known: m.believe(unlike(6), event_id=known["event"]),
    "add_evidence": lambda m, known: m.add_evidence(
        known["belief"], "refuting", 0.9, turn_id=known["turn"]
    ),
    "beliefs.revise": lambda m, known: m.beliefs.revise(known["belief"], unlike(9)),
    "beliefs.split": lambda m, known: m.beliefs.split(known["belief"], [unlike(8), unlike(9)]),
    "beliefs.merge": lambda m, known: m.beliefs.merge([known["belief"], known["other"]], unlike(9)),
    "beliefs.archive": lambda m, known: m.beliefs.archive(known["belief"]),
    "beliefs.restore": lambda m, known: m.beliefs.restore(known["belief"]),
    "beliefs.clear_flag": lambda m, known: m.beliefs.clear_flag(known["belief"]),
    "beliefs.retract": lambda m, known: m.beliefs.retract(known["event"]),
    "extract": lambda m, _: m.extract(session_id="s1", extractor="rules", review=True),
    "proposals.accept": lambda m, known: m.proposals.accept([known["proposal"]]),
    "proposals.dismiss": lambda m, known: m.proposals.dismiss([known["proposal"]]),
    "episodes.graduate": lambda m, _: m.episodes.graduate(NO_FILE, dry_run=True),
    "episodes.compress": lambda m, _: m.episodes.compress(),
    "episodes.summarise": lambda m, known: m.episodes.summarise(known["episode"]),
    "episodes.restore": lambda m, known: m.episodes.restore(known["document"]),
    "episodes.pin": lambda m, known: m.episodes.pin(known["document"]),
    "episodes.unpin": lambda m, known: m.episodes.unpin(known["document"]),
    "usage.prune": lambda m, _: m.usage.prune(dry_run=False, policy=AT_ONCE),
    "usage.restore_pruned": lambda m, known: m.usage.restore_pruned(
        known["run"], item_ids=[known["memory"]]
    ),
    "admin.rebuild": lambda m, _: m.admin.rebuild(),
    "admin.seal": lambda m, _: m.admin.seal(),
    "admin.backfill": lambda m, _: m.admin.backfill(),
    "usage.flush": lambda m, _: m.usage.flush(),
    "consolidate": lambda m, _: m.consolidate(policy=FEW),
    "usage.log_access": lambda m, _: m.session("s1").usage.log_access("file", "notes.md"),
    "usage.log_search": lambda m, known: m.session("s1").usage.log_search(
        "where?", tool="grep", results=[known["memory"], known["belief"], known["turn"]]
    ),
    "usage.rate": lambda m, _: m.usage.rate(from_scratch=True),
    "usage.roll_up": lambda m, _: m.usage.roll_up(days=0, dry_run=False),
    "items.sweep": lambda m, _: m.items.sweep(),
    "items.batch": lambda m, known: m.items.batch(
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
BY_ID = sorted(name for name, call in CALLS.items() if call.__code__.co_varnames[1] != "_")
"""Methods that are asked for something by an id or a cursor."""
