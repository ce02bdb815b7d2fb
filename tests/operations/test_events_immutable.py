"""Law 1: whatever is done, no event that was there changes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from graphmem import GraphMem, Handle, Message, NewMemory, PrunePolicy, Session
from graphmem.consolidation import BeliefChangeKind
from graphmem.items import PutItem
from graphmem.model import Origin
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.graph import Look
from tests.plugins.origins import with_origin
from tests.plugins.texts import WINDOW, restated, unlike
from tests.plugins.twins import methods, public

MAY = datetime(2025, 5, 5, tzinfo=UTC)
READS = {
    *(
        "recall",
        "memories.get",
        "memories.history",
        "memories.chain",
        "episodes.get",
        "episodes.turns",
        "episodes.list",
        "history",
        "memories.list",
    ),
    *(
        "current",
        "beliefs.get",
        "beliefs.list",
        "predicates.list",
        "aliases.list",
        "evidence_for",
        "beliefs.what_if",
    ),
    *("why", "beliefs.timeline", "admin.verify", "expand", "memories.stale", "context"),
    *(
        "beliefs.flip_set",
        "beliefs.slots",
        "beliefs.chain",
        "beliefs.history",
        "beliefs.provenance",
    ),
    *(
        "usage.ratings",
        "usage.goals",
        "usage.dashboard",
        "usage.audit",
        "usage.prune_manifest",
        "usage.pack",
        "proposals.list",
        "admin.export_to",
        "admin.stats",
    ),
    *(
        "admin.is_empty",
        "admin.scopes",
        "admin.verify_export",
        "admin.erasures",
        "consolidation_status",
        "tenants",
    ),
}
AT_ONCE = PrunePolicy(archive_days=0, compress_days=0, low_archive_days=0)
NO_WRITES = {"open", "close", "health", "tenant", "scope", "session"}
MEM0 = {"id": "5f3c", "memory": unlike(43), "created_at": "2025-05-05T00:00:00Z", "user_id": "al"}
REMOVES = {
    *("usage.roll_up", "forget", "admin.erase_tenant", "admin.reopen"),
    *("admin.erase_person", "admin.reopen_person"),
}
"""Searches of the log, whole: see tests/client/test_rolling_up.py. What is erased, or reopened:
see tests/client/test_forgetting.py."""
JOBS = {"run_jobs"}
"""Other calls, made for every tenant: see tests/client/test_worker.py."""


def deprecated(memory: Handle) -> str:
    first = memory.memories.list().memories[-1].id
    memory.memories.deprecate(first, reason="wrong")
    return first


def believed(memory: Handle, n: int) -> str:
    return memory.believe(f"{unlike(n)} {len(memory.beliefs.list().beliefs)}", at=MAY).belief_id


def replaced(call: Callable[..., Any]) -> list[Callable[[Handle], Any]]:
    """The call on new beliefs, alone and with evidence, and once more under its id."""

    def twice(memory: Handle) -> None:
        ids = believed(memory, 30), believed(memory, 31)
        memory.add_evidence(ids[0], "refuting", 0.85, at=MAY)
        for _ in range(2):
            call(memory, *ids, event_id=f"{ids[0]} again")

    return [lambda m: call(m, believed(m, 32), believed(m, 33)), twice]


def marked(call: Callable[..., Any]) -> list[Callable[[Handle], Any]]:
    """The call on a belief, as new and as archived, and once more under its id."""

    def again(memory: Handle) -> None:
        belief = believed(memory, 36)
        memory.beliefs.archive(belief)
        for _ in range(2):
            call(memory, belief, event_id=f"{belief} marked", at=MAY)

    return [lambda m: call(m, believed(m, 37)), again]


def brought_back(memory: Handle) -> None:
    belief = memory.believe(unlike(34))
    memory.beliefs.revise(belief, unlike(35))
    memory.believe(unlike(34))


def consolidated(memory: Handle) -> None:
    memory.believe("I drink coffee after four", confidence=0.95, at=MAY)
    tell(memory, [*SWIMS, "I never drink coffee after four."])
    done = memory.consolidate(policy=FEW)
    assert {one.step for one in done.changes} == {
        BeliefChangeKind.CREATE,
        BeliefChangeKind.CONTRADICT,
        BeliefChangeKind.FLAG,
    }


def searched(memory: Handle) -> None:
    with memory.session("s3") as session:
        bites = session.recall(WINDOW).bites
        session.usage.log_search("a page", tool="grep", results=[bites[0].id, "doc"])
        session.expand(bites[0].id)
    assert len(bites) > 1


def spoken(memory: Handle) -> None:
    texts = ("I moved to Lisbon.", "I like tea.", "I work at Acme.")
    for name, review in (("said", False), ("waits", True)):
        session = memory.session(name)
        session.add_messages([{"role": "user", "content": text} for text in texts])
        assert len(session.extract(extractor="rules", review=review).proposals) == 3


def transferred(memory: Handle) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "all.jsonl"
        memory.admin.export_to(file)
        assert memory.admin.verify_export(file).wrong == ()
        assert memory.admin.import_from(file).written == 0


def graduated(memory: Handle) -> None:
    with TemporaryDirectory() as folder:
        memory.episodes.graduate(Path(folder) / "MEMORY.md")


WRITES: dict[str, list[Callable[[Handle], Any]]] = {
    "remember": [
        lambda m: m.remember(WINDOW, event_id="e1", at=MAY, tags=["a"], source="hook"),
        lambda m: m.remember(WINDOW, tags=["b"], at=MAY - timedelta(days=9)),
        lambda m: m.remember(restated(5)),
        lambda m: m.remember(WINDOW, event_id="e1", at=MAY, tags=["a"], source="hook"),
        lambda m: m.scope("alice").remember(WINDOW),
        lambda m: m.remember(
            WINDOW, event_id="c1", at=MAY, claims=[("alice", "works_on", "Atlas")]
        ),
        lambda m: m.remember(
            WINDOW, event_id="c1", at=MAY, claims=[("alice", "works_on", "Atlas")]
        ),
        lambda m: m.remember(restated(5), claims=[("Alice", "works_on", "ATLAS")]),
    ],
    "remember_many": [
        lambda m: m.remember_many(
            [unlike(1), unlike(1), NewMemory(content=unlike(2), event_id="e2")]
        )
    ],
    "supersede": [
        lambda m: m.supersede(
            m.memories.list().memories[0].id, unlike(3), origin=Origin(event_id="s1")
        ),
        lambda m: m.supersede(m.memories.list().memories[0].id, unlike(4)),
    ],
    "memories.deprecate": [deprecated],
    "memories.restore": [lambda m: m.memories.restore(deprecated(m)), lambda m: m.remember(WINDOW)],
    "episodes.add": [lambda m: m.episodes.add(episode_id="doc", content=unlike(5))],
    "ingest": [
        lambda m: m.ingest([Message(role="user", content=unlike(n), id=str(n)) for n in (6, 7)]),
        lambda m: m.ingest([Message(role="user", content=unlike(n), id=str(n)) for n in (6, 8)]),
    ],
    "add_messages": [
        lambda m: m.session("s").add_messages([{"role": "user", "content": unlike(9)}]),
        lambda m: m.session("s").remember(unlike(10)),
    ],
    "predicates.declare": [
        lambda m: m.predicates.declare(
            "works_on", cardinality="ONE", origin=Origin(event_id="p1"), at=MAY
        ),
        lambda m: m.predicates.declare("works_on", template="{subject} toils on {object}"),
        lambda m: m.predicates.declare(
            "works_on", cardinality="ONE", origin=Origin(event_id="p1"), at=MAY
        ),
        lambda m: m.predicates.declare("works_on", kappa=1, at=MAY - timedelta(days=9)),
    ],
    "observe": [
        lambda m: m.observe("alice", "works_on", "Atlas", event_id="o1", at=MAY),
        lambda m: m.observe("ALICE", "works_on", "ATLAS", at=MAY - timedelta(days=9)),
        lambda m: m.observe("alice", "works_on", "Atlas", kind="refuting"),
        lambda m: m.observe("alice", "works_on", "Atlas", event_id="o1", at=MAY),
    ],
    "aliases.add": [
        lambda m: m.aliases.add("Alice Smith", "alice", origin=Origin(event_id="n1"), at=MAY),
        lambda m: m.aliases.add("Al", "alice"),
        lambda m: m.aliases.add("Alice Smith", "alice", origin=Origin(event_id="n1"), at=MAY),
    ],
    "aliases.remove": [
        lambda m: m.aliases.remove("Alice Smith", origin=Origin(event_id="n2"), at=MAY),
        lambda m: m.aliases.remove("Al"),
    ],
    "observe_many": [
        lambda m: m.observe_many(
            [
                {"subject": "s", "predicate": "p", "object": f"o{n}", "event_id": f"m{n}"}
                for n in (1, 2)
            ]
        ),
        lambda m: m.observe_many([{"subject": "S", "predicate": "p", "object": "o1"}] * 300),
    ],
    "believe": [
        lambda m: m.believe(unlike(11), event_id="b1", at=MAY),
        lambda m: m.believe(unlike(11), at=MAY - timedelta(days=9), confidence=0.9),
        lambda m: m.believe(unlike(11), event_id="b1", at=MAY),
        brought_back,
    ],
    "add_evidence": [
        lambda m: m.add_evidence(m.believe(unlike(11)), "supporting", 0.7, event_id="t1", at=MAY),
        lambda m: m.add_evidence(m.believe(unlike(11)), "refuting", -3),
    ],
    "beliefs.retract": [
        lambda m: m.beliefs.retract("o1", origin=Origin(event_id="r1")),
        lambda m: m.beliefs.retract("r1"),
        lambda m: m.beliefs.retract("o1", origin=Origin(event_id="r1")),
        lambda m: m.beliefs.retract("to come", missing_ok=True, origin=Origin(event_id="r2")),
        lambda m: m.beliefs.retract("r3", missing_ok=True),
        lambda m: m.observe("alice", "works_on", "Atlas", event_id="to come"),
        lambda m: m.beliefs.retract("to come", missing_ok=True, origin=Origin(event_id="r3")),
    ],
    "beliefs.revise": replaced(
        lambda m, a, _, **x: m.beliefs.revise(a, f"{a} revised", **with_origin(x))
    ),
    "beliefs.split": replaced(
        lambda m, a, _, **x: m.beliefs.split(a, [f"{a} left", f"{a} right"], **with_origin(x))
    ),
    "beliefs.merge": replaced(
        lambda m, a, b, **x: m.beliefs.merge([a, b], f"{a} merged", **with_origin(x))
    ),
    "beliefs.archive": marked(lambda m, a, **x: m.beliefs.archive(a, **with_origin(x))),
    "beliefs.restore": marked(lambda m, a, **x: m.beliefs.restore(a, **with_origin(x))),
    "beliefs.clear_flag": marked(lambda m, a, **x: m.beliefs.clear_flag(a, **with_origin(x))),
    "reject": [
        lambda m: m.reject(
            ("alice", "works_on", "Atlas"), reason="no", origin=Origin(event_id="j1"), at=MAY
        ),
        lambda m: m.reject(
            ("alice", "works_on", "Atlas"), reason="no", origin=Origin(event_id="j1"), at=MAY
        ),
        lambda m: m.observe("alice", "works_on", "АTLAS"),
        lambda m: m.reject(m.believe(unlike(45)), reason="no"),
        lambda m: m.believe(unlike(45)),
    ],
    "unreject": [lambda m: m.unreject(("alice", "works_on", "Atlas"), reason="yes")],
    "consolidate": [consolidated, lambda m: m.consolidate(policy=FEW)],
    "episodes.graduate": [
        lambda m: m.episodes.add(episode_id="dear", summary=unlike(40), importance=0.9, at=MAY),
        graduated,
        graduated,
    ],
    "episodes.compress": [
        lambda m: m.episodes.add(episode_id="long", content=unlike(41) * 9, at=MAY),
        lambda m: m.episodes.compress(),
        lambda m: m.episodes.compress(),
    ],
    "episodes.restore": [lambda m: m.episodes.restore("long")] * 2,
    "admin.rebuild": [lambda m: m.admin.rebuild()],
    "admin.seal": [lambda m: m.admin.seal(), lambda m: m.admin.seal(late=True)],
    "admin.backfill": [lambda m: m.admin.backfill()],
    "usage.flush": [lambda m: (m.expand(m.memories.list().memories[0].id), m.usage.flush())],
    "usage.log_access": [lambda m: (m.usage.log_access("file", "notes.md"), m.usage.flush())],
    "usage.log_search": [
        lambda m: (
            m.usage.log_search("where?", tool="grep", results=[("file", "a.py")]),
            m.usage.flush(),
        )
    ],
    "extract": [spoken, lambda m: m.extract(session_id="said", extractor="rules")],
    "proposals.accept": [
        lambda m: m.proposals.accept([m.proposals.list().proposals[0].id]),
        lambda m: m.proposals.accept([m.proposals.list(status="accepted").proposals[0].id]),
    ],
    "proposals.dismiss": [
        lambda m: m.proposals.dismiss([m.proposals.list().proposals[0].id]),
        lambda m: m.proposals.dismiss([m.proposals.list(status="dismissed").proposals[0].id]),
        lambda m: m.proposals.accept([m.proposals.list(status="dismissed").proposals[0].id]),
    ],
    "episodes.summarise": [lambda m: m.episodes.summarise()],
    "episodes.pin": [lambda m: m.episodes.pin("doc")],
    "episodes.unpin": [lambda m: m.episodes.unpin("doc")],
    "respond": [
        lambda m: m.session("r").respond(
            [{"role": "user", "content": unlike(44)}], lambda _: "Yes."
        )
    ],
    "usage.rate": [searched, lambda m: m.usage.rate(), lambda m: m.usage.rate(from_scratch=True)],
    "usage.prune": [lambda m: m.usage.prune(dry_run=False, policy=AT_ONCE)],
    "items.batch": [
        lambda m: m.items.batch([PutItem(namespace=("a",), key="k", value={}, ttl_minutes=1e-6)])
    ],
    "items.sweep": [lambda m: m.items.sweep()],
    "admin.import_from": [transferred],
    "admin.import_foreign": [
        lambda m: m.admin.import_foreign([MEM0], "mem0"),
        lambda m: m.admin.import_foreign([MEM0], "mem0"),
    ],
    "usage.restore_pruned": [lambda m: m.usage.restore_pruned(m.usage.prune_manifest()[-1].run_id)]
    * 2,
}


def test_every_public_write_is_tried() -> None:
    named = {*public(), *methods(Session), *methods(GraphMem)}
    assert named == WRITES.keys() | READS | NO_WRITES | REMOVES | JOBS


def gained(before: dict[str, Any], after: dict[str, Any]) -> list[list[str]]:
    """The edges that an event has more than before; none may be lost."""
    assert all(edge in after["edges"] for edge in before["edges"])
    return [edge for edge in after["edges"] if edge not in before["edges"]]


def test_no_write_changes_an_event(plain: Handle, look: Look, tenant: str) -> None:
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
    assert plain.admin.verify().wrong == ()
    assert {event["type"] for event in before.values()} == {
        "BELIEVE",
        "EVIDENCE",
        "MERGE",
        "POLICY",
        "SAME_AS",
        "RETRACT",
        "REJECT",
        "UNREJECT",
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
        "DISMISS",
        "IMPORT",
        "PIN",
        "UNPIN",
    }


def test_events_carry_the_clock_of_the_server_and_never_nothing(
    plain: Handle, look: Look, tenant: str
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
