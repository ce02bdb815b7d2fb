"""Law 1: whatever is done, no event that was there changes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from graphmem import (
    AsyncGraphMem,
    AsyncSession,
    GraphMem,
    Message,
    NewMemory,
    PrunePolicy,
    PutItem,
)
from graphmem.client.handle import AsyncHandle
from graphmem.model import BeliefChangeKind
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.graph import Look
from tests.plugins.texts import WINDOW, restated, unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
READS = {
    *("recall", "get", "history", "chain", "episode", "turns", "list"),
    *("current", "belief", "beliefs", "predicates", "names", "evidence_for", "what_if"),
    *("why", "timeline", "verify", "expand", "stale", "context"),
    *("flip_set", "slots", "belief_chain", "belief_history", "provenance"),
    *("ratings", "attention", "audit", "pruned", "pack", "proposals", "export_to"),
}
AT_ONCE = PrunePolicy(archive_days=0, compress_days=0, compressed_days=0)
NO_WRITES = {"open", "reconnect", "close", "tenant", "scope", "session"}
MEM0 = {"id": "5f3c", "memory": unlike(43), "created_at": "2025-05-05T00:00:00Z", "user_id": "al"}
REMOVES = {"roll_up_log", "forget"}
"""Searches of the log, whole: see tests/clients/test_rolling_up.py. What is erased: see
tests/clients/test_forgetting.py."""


def deprecated(memory: GraphMem) -> str:
    first = memory.list().memories[-1].id
    memory.deprecate(first, reason="wrong")
    return first


def believed(memory: GraphMem, n: int) -> str:
    return memory.believe(f"{unlike(n)} {len(memory.beliefs().beliefs)}", at=MAY).belief_id


def replaced(call: Callable[..., Any]) -> list[Callable[[GraphMem], Any]]:
    """The call on new beliefs, alone and with evidence, and once more under its id."""

    def twice(memory: GraphMem) -> None:
        ids = believed(memory, 30), believed(memory, 31)
        memory.evidence(ids[0], "refuting", 0.85, at=MAY)
        for _ in range(2):
            call(memory, *ids, id=f"{ids[0]} again")

    return [lambda m: call(m, believed(m, 32), believed(m, 33)), twice]


def marked(call: Callable[..., Any]) -> list[Callable[[GraphMem], Any]]:
    """The call on a belief, as new and as archived, and once more under its id."""

    def again(memory: GraphMem) -> None:
        belief = believed(memory, 36)
        memory.archive(belief)
        for _ in range(2):
            call(memory, belief, id=f"{belief} marked", at=MAY)

    return [lambda m: call(m, believed(m, 37)), again]


def brought_back(memory: GraphMem) -> None:
    belief = memory.believe(unlike(34))
    memory.revise(belief, unlike(35))
    memory.believe(unlike(34))


def consolidated(memory: GraphMem) -> None:
    memory.believe("I drink coffee after four", confidence=0.95, at=MAY)
    tell(memory, [*SWIMS, "I never drink coffee after four."])
    done = memory.consolidate(policy=FEW)
    assert {one.step for one in done.changes} == {
        BeliefChangeKind.CREATE,
        BeliefChangeKind.CONTRADICT,
        BeliefChangeKind.FLAG,
    }


def searched(memory: GraphMem) -> None:
    with memory.session("s3") as session:
        bites = session.recall(WINDOW).bites
        session.expand(bites[0].id)
    assert len(bites) > 1


def spoken(memory: GraphMem) -> None:
    texts = ("I moved to Lisbon.", "I like tea.", "I work at Acme.")
    for name, review in (("said", False), ("waits", True)):
        session = memory.session(name)
        session.add_messages([{"role": "user", "content": text} for text in texts])
        assert len(session.extract(extractor="rules", review=review).proposals) == 3


def transferred(memory: GraphMem) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "all.jsonl"
        memory.export_to(file)
        assert memory.import_from(file).written == 0


def graduated(memory: GraphMem) -> None:
    with TemporaryDirectory() as folder:
        memory.graduate(Path(folder) / "MEMORY.md")


WRITES: dict[str, list[Callable[[GraphMem], Any]]] = {
    "remember": [
        lambda m: m.remember(WINDOW, id="e1", at=MAY, tags=["a"], source="hook"),
        lambda m: m.remember(WINDOW, tags=["b"], at=MAY - timedelta(days=9)),
        lambda m: m.remember(restated(5)),
        lambda m: m.remember(WINDOW, id="e1", at=MAY, tags=["a"], source="hook"),
        lambda m: m.scope("alice").remember(WINDOW),
        lambda m: m.remember(WINDOW, id="c1", at=MAY, claims=[("alice", "works_on", "Atlas")]),
        lambda m: m.remember(WINDOW, id="c1", at=MAY, claims=[("alice", "works_on", "Atlas")]),
        lambda m: m.remember(restated(5), claims=[("Alice", "works_on", "ATLAS")]),
    ],
    "remember_many": [
        lambda m: m.remember_many([unlike(1), unlike(1), NewMemory(content=unlike(2), id="e2")]),
    ],
    "supersede": [
        lambda m: m.supersede(m.list().memories[0].id, unlike(3), id="s1"),
        lambda m: m.supersede(m.list().memories[0].id, unlike(4)),
    ],
    "deprecate": [deprecated],
    "restore": [lambda m: m.restore(deprecated(m)), lambda m: m.remember(WINDOW)],
    "add_episode": [lambda m: m.add_episode(id="doc", content=unlike(5))],
    "ingest": [
        lambda m: m.ingest([Message(role="user", content=unlike(n), id=str(n)) for n in (6, 7)]),
        lambda m: m.ingest([Message(role="user", content=unlike(n), id=str(n)) for n in (6, 8)]),
    ],
    "add_messages": [
        lambda m: m.session("s").add_messages([{"role": "user", "content": unlike(9)}]),
        lambda m: m.session("s").remember(unlike(10)),
    ],
    "predicate": [
        lambda m: m.predicate("works_on", cardinality="ONE", id="p1", at=MAY),
        lambda m: m.predicate("works_on", template="{subject} toils on {object}"),
        lambda m: m.predicate("works_on", cardinality="ONE", id="p1", at=MAY),
        lambda m: m.predicate("works_on", kappa=1, at=MAY - timedelta(days=9)),
    ],
    "observe": [
        lambda m: m.observe("alice", "works_on", "Atlas", id="o1", at=MAY),
        lambda m: m.observe("ALICE", "works_on", "ATLAS", at=MAY - timedelta(days=9)),
        lambda m: m.observe("alice", "works_on", "Atlas", kind="refuting"),
        lambda m: m.observe("alice", "works_on", "Atlas", id="o1", at=MAY),
    ],
    "same_as": [
        lambda m: m.same_as("Alice Smith", "alice", id="n1", at=MAY),
        lambda m: m.same_as("Al", "alice"),
        lambda m: m.same_as("Alice Smith", "alice", id="n1", at=MAY),
    ],
    "apart": [lambda m: m.apart("Alice Smith", id="n2", at=MAY), lambda m: m.apart("Al")],
    "observe_many": [
        lambda m: m.observe_many(
            [{"subject": "s", "predicate": "p", "object": f"o{n}", "id": f"m{n}"} for n in (1, 2)]
        ),
        lambda m: m.observe_many([{"subject": "S", "predicate": "p", "object": "o1"}] * 300),
    ],
    "believe": [
        lambda m: m.believe(unlike(11), id="b1", at=MAY),
        lambda m: m.believe(unlike(11), at=MAY - timedelta(days=9), confidence=0.9),
        lambda m: m.believe(unlike(11), id="b1", at=MAY),
        brought_back,
    ],
    "evidence": [
        lambda m: m.evidence(m.believe(unlike(11)), "supporting", 0.7, id="t1", at=MAY),
        lambda m: m.evidence(m.believe(unlike(11)), "refuting", -3),
    ],
    "retract": [
        lambda m: m.retract("o1", id="r1"),
        lambda m: m.retract("r1"),
        lambda m: m.retract("o1", id="r1"),
        lambda m: m.retract("to come", id="r2"),
        lambda m: m.retract("r3"),
        lambda m: m.observe("alice", "works_on", "Atlas", id="to come"),
        lambda m: m.retract("to come", id="r3"),
    ],
    "revise": replaced(lambda m, a, _, **x: m.revise(a, f"{a} revised", **x)),
    "split": replaced(lambda m, a, _, **x: m.split(a, [f"{a} left", f"{a} right"], **x)),
    "merge": replaced(lambda m, a, b, **x: m.merge([a, b], f"{a} merged", **x)),
    "archive": marked(lambda m, a, **x: m.archive(a, **x)),
    "restore_belief": marked(lambda m, a, **x: m.restore_belief(a, **x)),
    "resolve": marked(lambda m, a, **x: m.resolve(a, **x)),
    "consolidate": [consolidated, lambda m: m.consolidate(policy=FEW)],
    "graduate": [
        lambda m: m.add_episode(id="dear", summary=unlike(40), importance=0.9, at=MAY),
        graduated,
        graduated,
    ],
    "compress": [
        lambda m: m.add_episode(id="long", content=unlike(41) * 9, at=MAY),
        lambda m: m.compress(),
        lambda m: m.compress(),
    ],
    "restore_episode": [lambda m: m.restore_episode("long")] * 2,
    "rebuild": [lambda m: m.rebuild()],
    "backfill": [lambda m: m.backfill()],
    "flush": [lambda m: (m.expand(m.list().memories[0].id), m.flush())],
    "touch": [lambda m: (m.touch("file", "notes.md"), m.flush())],
    "log_search": [
        lambda m: (m.log_search("where?", tool="grep", results=[("file", "a.py")]), m.flush())
    ],
    "extract": [spoken, lambda m: m.extract(session="said", extractor="rules")],
    "accept": [
        lambda m: m.accept([m.proposals().proposals[0].id]),
        lambda m: m.accept([m.proposals(status="accepted").proposals[0].id]),
    ],
    "reject": [
        lambda m: m.reject([m.proposals().proposals[0].id]),
        lambda m: m.reject([m.proposals(status="rejected").proposals[0].id]),
        lambda m: m.accept([m.proposals(status="rejected").proposals[0].id]),
    ],
    "rate": [searched, lambda m: m.rate(), lambda m: m.rate(again=True)],
    "prune": [lambda m: m.prune(apply=True, policy=AT_ONCE)],
    "batch_items": [
        lambda m: m.batch_items([PutItem(namespace=("a",), key="k", value={}, ttl_minutes=1e-6)])
    ],
    "sweep_items": [lambda m: m.sweep_items()],
    "import_from": [transferred],
    "adopt": [lambda m: m.adopt([MEM0], "mem0"), lambda m: m.adopt([MEM0], "mem0")],
    "restore_pruned": [lambda m: m.restore_pruned(m.pruned()[-1].run_id)] * 2,
}


def test_every_public_write_is_tried() -> None:
    named = {
        name
        for owner in (AsyncHandle, AsyncGraphMem, AsyncSession)
        for name, member in inspect.getmembers(owner)
        if not name.startswith("_") and (inspect.isfunction(member) or inspect.ismethod(member))
    }
    assert named == WRITES.keys() | READS | NO_WRITES | REMOVES


def gained(before: dict[str, Any], after: dict[str, Any]) -> list[list[str]]:
    """The edges that an event has more than before; none may be lost."""
    assert all(edge in after["edges"] for edge in before["edges"])
    return [edge for edge in after["edges"] if edge not in before["edges"]]


def test_no_write_changes_an_event(plain: GraphMem, look: Look, tenant: str) -> None:
    before = look.events(tenant)
    for name, calls in WRITES.items():
        for n, call in enumerate(calls):
            call(plain)
            after = look.events(tenant)
            # What was retracted beforehand is linked to its retraction when it comes.
            links = [gained(before[k], after[k]) for k in before if k in after]
            assert {k: {**after[k], "edges": before[k]["edges"]} for k in before} == before, name
            assert {kind for link in links for kind, _, _ in link} <= {
                "RETRACTS",
                "WITHIN",
                "RATED",
            }, f"{name} {n}"
            before = after
    assert plain.verify().wrong == ()
    assert {event["type"] for event in before.values()} == {
        "BELIEVE",
        "EVIDENCE",
        "MERGE",
        "POLICY",
        "SAME_AS",
        "RETRACT",
        "REVISE",
        "SPLIT",
        "ARCHIVE",
        "RESOLVE",
        "FLAG",
        "ADD",
        "REINFORCE_EXACT",
        "REINFORCE_NEAR",
        "SUPERSEDE",
        "DEPRECATE",
        "RESTORE",
        "ACCESS",
        "GRADUATE",
        "COMPRESS",
        "SEARCH",
        "SESSION_START",
        "SESSION_END",
        "PROPOSE",
        "ACCEPT",
        "REJECT",
    }


def test_events_carry_the_clock_of_the_server_and_never_nothing(
    plain: GraphMem, look: Look, tenant: str
) -> None:
    for calls in WRITES.values():
        for call in calls:
            call(plain)
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant}) RETURN e.recorded_at AS at, e.id AS id, "
        "  e.scope AS scope, e.occurred_at AS occurred_at, e.request_hash AS asked, "
        "  duration.between(e.recorded_at, datetime.realtime()).seconds AS age, "
        "  e.recorded_at.nanosecond % 1000 AS below_microseconds",
        tenant=tenant,
    )
    assert rows
    for row in rows:
        assert None not in row.values()
        assert 0 <= row["age"] < 300
        assert row["below_microseconds"] == 0
