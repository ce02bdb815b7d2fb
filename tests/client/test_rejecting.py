"""Values that a person rejected: hidden in every spelling, by whatever way they come again."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem import AsOf, Handle, Outcome, Status
from graphmem.errors import EventConflictError, InvalidInputError, NotFoundError, RejectedError
from graphmem.model import Origin, Triple
from graphmem.operations.evidence import writing
from graphmem.ports import run_now
from graphmem.rules import claims
from tests.plugins.clients import Door, on_tenant
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
LISBON = ("alice", "lives_in", "Lisbon")
PORTO = ("alice", "lives_in", "Porto")
TEXT = "Alice lives in Lisbon with her cat"
LOOKS_LIKE = "ALIСE  lives in Lіsbo\u200bn with her cat."
REASON = "She never lived there"


def values(memory: Handle, **by: Any) -> list[str]:
    """Return the objects of the slot, best first."""
    return [c.object for c in memory.current("alice", "lives_in", **by).candidates]


def found(memory: Handle, question: str = "Where does Alice live? Lisbon", **by: Any) -> set[str]:
    """Return the texts that a recall finds."""
    return {bite.text for bite in memory.recall(question, limit=50, **by).bites}


def listed(memory: Handle) -> set[str]:
    """Return every current text and statement."""
    memories = {one.content for one in memory.memories.list(limit=1_000).memories}
    return memories | {one.statement for one in memory.beliefs.list(limit=1_000).beliefs}


def test_a_rejected_value_leaves_its_slot_and_the_others_stay(memory: Handle) -> None:
    memory.observe(*PORTO, at=MAY, confidence=0.7)
    alone = memory.current("alice", "lives_in").candidates
    seen = memory.observe(*LISBON, at=MAY + HOUR)
    assert values(memory) == ["Lisbon", "Porto"]

    done = memory.reject(seen, reason=REASON, origin=Origin(actor="alice"))

    assert (done.rejected, done.changed, done.belief_ids) == (True, True, (seen.belief_id,))
    assert memory.current("alice", "lives_in").candidates == alone
    assert [slot.leader and slot.leader.object for slot in memory.beliefs.slots().slots] == [
        "Porto"
    ]
    assert found(memory) == {"alice lives in Porto"} == listed(memory)
    assert "Lisbon" not in memory.context("Where does Alice live?").text
    belief = memory.beliefs.get(seen)
    assert belief.status == Status.REJECTED
    [hidden] = memory.beliefs.list(include_rejected=True).beliefs[:1]
    assert (hidden.id, hidden.status) == (seen.belief_id, "rejected")


def test_a_rejected_item_is_shown_marked_on_request(memory: Handle) -> None:
    seen = memory.observe(*LISBON)
    kept = str(memory.remember(TEXT).memory_id)
    memory.reject(seen, reason=REASON)
    memory.reject(kept, reason=REASON)
    assert found(memory) == set()

    bites = memory.recall("Where does Alice live? Lisbon", include_hidden=True).bites

    states: dict[str, Any] = {
        bite.id: getattr(bite, "memory", None) or getattr(bite, "belief", None) for bite in bites
    }
    assert {one: state.status for one, state in states.items()} == {
        seen.belief_id: "rejected",
        kept: "rejected",
    }
    assert "rejected" in memory.context("Alice Lisbon", include_hidden=True).text
    assert [m.id for m in memory.memories.list(statuses=[Status.REJECTED]).memories] == [kept]
    assert memory.recall("Alice Lisbon").hidden == {"rejected": 1}


def test_the_reason_is_shown(memory: Handle) -> None:
    seen, kept = memory.observe(*LISBON), str(memory.remember(TEXT).memory_id)
    for one in (seen, kept):
        done = memory.reject(
            one, reason=REASON, origin=Origin(actor="alice", source="review"), at=MAY
        )
        why = memory.why(one).rejection
        assert why is not None
        assert (why.event_id, why.reason, why.actor) == (done.event_id, REASON, "alice")
        assert why.rejected_at == MAY
        event = memory.history(one)[0]
        assert (event.type, event.actor, event.source) == ("REJECT", "alice", "review")
    memory.unreject(kept, reason="A mistake")
    assert memory.why(kept).rejection is None
    assert [event.type for event in memory.history(kept)] == ["REJECT", "ADD", "UNREJECT"]


def test_a_read_of_the_time_before_shows_the_value(memory: Handle, look: Look, tenant: str) -> None:
    seen = memory.observe(*LISBON, at=MAY)
    kept = str(memory.remember(TEXT, at=MAY).memory_id)
    for n, one in enumerate((seen.belief_id, kept)):
        memory.reject(one, reason=REASON, at=MAY + 2 * HOUR, origin=Origin(event_id=f"r{n}"))
    known = min(
        event["recorded_at"].to_native()
        for event in look.events(tenant).values()
        if event["type"] == "REJECT"
    ) - timedelta(microseconds=1)
    for before in (AsOf(known=known), AsOf(valid=MAY + HOUR)):
        assert values(memory, as_of=before) == ["Lisbon"]
        assert found(memory, as_of=before) == {"alice lives in Lisbon", TEXT}
        assert memory.beliefs.get(seen, as_of=before).status == "current"
        assert memory.memories.get(kept, as_of=before).status is Status.CURRENT
        assert memory.why(seen, as_of=before).rejection is None
    later = AsOf(valid=MAY + 2 * HOUR, known=datetime.now(UTC))
    assert values(memory, as_of=later) == []
    assert found(memory, as_of=later) == set()
    assert memory.why(seen, as_of=later).rejection is not None


def test_a_rejected_text_is_not_written_again(memory: Handle, look: Look, tenant: str) -> None:
    kept = str(memory.remember(TEXT).memory_id)
    done = memory.reject(kept, reason=REASON, origin=Origin(actor="alice"))
    before = look.events(tenant)
    again = memory.remember_many([TEXT, LOOKS_LIKE, unlike(1)])
    assert [one.outcome for one in again] == [
        Outcome.REJECTED,
        Outcome.REJECTED,
        Outcome.INSERTED_NEW,
    ]
    refused = again[1]
    assert refused.memory_id is None
    assert refused.rejection is not None
    assert (refused.rejection.event_id, refused.rejection.reason) == (done.event_id, REASON)
    assert len(look.events(tenant)) == len(before) + 1
    assert listed(memory) == {unlike(1)}
    # A paraphrase is another text.
    assert memory.remember("Alice shares a flat in Lisbon with a cat").memory_id is not None


def test_evidence_of_a_rejected_value_is_kept_and_counts_after_unreject(memory: Handle) -> None:
    seen = memory.observe(*LISBON, at=MAY, confidence=0.5)
    memory.reject(seen, reason=REASON)
    for n in range(3):
        done = memory.observe(*LISBON, at=MAY + n * HOUR, confidence=0.9)
        assert done.rejection is not None
        assert done.rejection.reason == REASON
    assert values(memory) == []
    taken = memory.unreject(seen, reason="She does")
    assert (taken.rejected, taken.changed) == (False, True)
    [candidate] = memory.current("alice", "lives_in").candidates
    assert (candidate.object, candidate.events, candidate.status) == ("Lisbon", 4, "current")


def again_observe(memory: Handle, seen: str) -> None:
    memory.observe("Alice", "lives in", "LISBON", source_type="TOOL", confidence=1.0)


def again_observe_many(memory: Handle, seen: str) -> None:
    given = {"subject": "alice", "predicate": "lives-in", "object": "Lіsbon", "confidence": 1.0}
    done = memory.observe_many([given] * 9)
    assert all(one.rejection for one in done)


def again_add_evidence(memory: Handle, seen: str) -> None:
    for _ in range(4):
        assert memory.add_evidence(seen, "supporting", 0.9).rejection is not None


def again_believe(memory: Handle, seen: str) -> None:
    done = memory.believe(subject="alice", predicate="lives_in", object="Ｌisbon", confidence=1)
    assert done.rejection is not None


def again_claim(memory: Handle, seen: str) -> None:
    done = memory.remember(unlike(1), claims=[LISBON])
    assert done.rejected_ids == (seen,)
    assert memory.memories.get(str(done.memory_id)).lost_ids == (seen,)
    memory.forget("memory", str(done.memory_id), dry_run=False)


def again_revise(memory: Handle, seen: str) -> None:
    other = memory.observe(*PORTO)
    with pytest.raises(RejectedError):
        memory.beliefs.revise(other, subject="alice", predicate="lives_in", object="Lisbon")
    with pytest.raises(RejectedError):
        memory.beliefs.merge(
            [other, memory.believe(unlike(2))],
            "She does",
            subject="alice",
            predicate="lives_in",
            object="Lisbon",
        )
    assert memory.beliefs.get(other).status == "current"


def again_restore(memory: Handle, seen: str) -> None:
    with pytest.raises(RejectedError):
        memory.beliefs.restore(seen)
    memory.beliefs.archive(seen)
    with pytest.raises(RejectedError):
        memory.beliefs.restore(seen)


def again_replaced(memory: Handle, seen: str) -> None:
    done = memory.beliefs.revise(seen, subject="alice", predicate="lives_in", object="Porto")
    memory.beliefs.revise(done.newer_ids[0], subject="alice", predicate="lives_in", object="Faro")
    memory.observe(*LISBON)


def again_rebuilt(memory: Handle, seen: str) -> None:
    assert memory.admin.rebuild().wrong == ()
    memory.admin.backfill()


def again_retracted(memory: Handle, seen: str) -> None:
    event = memory.observe(*LISBON).event_id
    retraction = memory.beliefs.retract(event).event_id
    memory.beliefs.retract(retraction)


def again_aliased(memory: Handle, seen: str) -> None:
    memory.aliases.add("Ali", "alice")
    memory.aliases.add("Lisboa", "Lisbon")
    memory.observe("Ali", "lives_in", "Lisboa", confidence=1)
    assert found(memory) == set()


ROUTES = [
    *(again_observe, again_observe_many, again_add_evidence, again_believe, again_claim),
    *(again_revise, again_restore, again_replaced, again_rebuilt),
    *(again_retracted, again_aliased),
]


@pytest.mark.parametrize("way", ROUTES)
def test_no_way_makes_a_rejected_value_current(
    memory: Handle, way: Callable[[Handle, str], None]
) -> None:
    seen = memory.observe(*LISBON).belief_id
    memory.reject(LISBON, reason=REASON)
    way(memory, seen)
    current = [c for c in memory.current("alice", "lives_in").candidates if c.status == "current"]
    assert not {claims.name_key(c.object) for c in current} & {"lisbon", "lisboa", "lіsbon"}
    assert memory.beliefs.get(seen).status == "rejected"
    assert "alice lives in Lisbon" not in found(memory) | listed(memory)
    assert memory.admin.verify().wrong == ()


def memory_supersede(memory: Handle, kept: str) -> None:
    other = str(memory.remember(unlike(1)).memory_id)
    with pytest.raises(RejectedError, match=REASON):
        memory.supersede(other, LOOKS_LIKE)
    assert memory.memories.get(other).status is Status.CURRENT


def memory_superseded(memory: Handle, kept: str) -> None:
    newer = memory.supersede(kept, unlike(1)).newer_id
    assert memory.memories.get(kept).head_ids == (newer,)
    newest = memory.supersede(kept, unlike(2))
    assert newest.older_id == newer
    memory.remember(TEXT)


def memory_restore(memory: Handle, kept: str) -> None:
    memory.memories.deprecate(kept)
    with pytest.raises(RejectedError):
        memory.memories.restore(kept)


def memory_believed(memory: Handle, kept: str) -> None:
    # A free statement and a memory with one text state one value.
    assert memory.believe(LOOKS_LIKE).rejection is not None


def memory_split(memory: Handle, kept: str) -> None:
    with pytest.raises(RejectedError):
        memory.beliefs.split(memory.believe(unlike(3)), [unlike(4), TEXT])


def memory_ingested(memory: Handle, kept: str) -> None:
    with memory.session("s") as session:
        session.add_messages([{"role": "user", "content": TEXT}])
    memory.remember(TEXT, source="import", on_update="supersede")


@pytest.mark.parametrize(
    "way",
    [
        *(memory_supersede, memory_superseded, memory_restore, memory_believed, memory_split),
        *(memory_ingested,),
    ],
)
def test_no_way_makes_a_rejected_memory_current(
    memory: Handle, way: Callable[[Handle, str], None]
) -> None:
    kept = str(memory.remember(TEXT).memory_id)
    memory.reject(kept, reason=REASON)
    way(memory, kept)
    assert memory.memories.get(kept).status is Status.REJECTED
    assert not listed(memory) & {TEXT, LOOKS_LIKE}
    # A turn keeps what a person wrote.
    assert not found(memory, kinds=["memory", "belief"]) & {TEXT, LOOKS_LIKE}
    assert memory.admin.verify().wrong == ()


def test_a_value_is_rejected_before_anybody_states_it(memory: Handle) -> None:
    done = memory.reject(Triple(subject="alice", predicate="lives in", object="Lisbon"), reason="x")
    [belief_id] = done.belief_ids
    assert memory.beliefs.get(belief_id).status == "rejected"
    assert memory.observe(*LISBON).rejection is not None
    memory.observe(*PORTO)
    assert values(memory) == ["Porto"]
    assert memory.beliefs.get(belief_id).statement == "alice lives in Lisbon"


def test_a_spelling_that_exists_is_rejected_too(memory: Handle) -> None:
    first, second = memory.observe(*LISBON), memory.observe("alice", "lives_in", "Lіsbon")
    assert first.belief_id != second.belief_id
    done = memory.reject(second, reason=REASON)
    assert set(done.belief_ids) == {first.belief_id, second.belief_id}
    assert values(memory) == []
    taken = memory.unreject(first, reason="x")
    assert set(taken.belief_ids) == {first.belief_id, second.belief_id}
    assert sorted(values(memory)) == ["Lisbon", "Lіsbon"]


def test_a_slot_with_a_checkpoint(plain: Handle) -> None:
    context = plain._state.context
    place = writing.SlotKey(
        claims.slot_id("global", "alice", "lives_in"), "global", "alice", "lives_in"
    )
    given = [
        dict(zip(("subject", "predicate", "object"), value, strict=True))
        | {"at": MAY + n * HOUR, "event_id": f"{value[2]}{n}"}
        for n in range(6)
        for value in (PORTO, LISBON)
    ]
    plain.observe_many(given)
    assert run_now(writing.keep(context, place, newest=2, min_events=2, longest_s=0)) == 10
    plain.reject(LISBON, reason=REASON)
    [porto] = plain.current("alice", "lives_in").candidates
    assert (porto.object, porto.events) == ("Porto", 6)
    run_now(writing.keep(context, place, newest=2, min_events=2, longest_s=0))
    before = AsOf(valid=datetime.now(UTC) - HOUR)
    assert sorted(values(plain, as_of=before)) == ["Lisbon", "Porto"]
    plain.observe("alice", "works_at", "Initech", at=MAY)
    assert values(plain) == ["Porto"]


def test_a_rejection_in_the_global_scope_holds_in_every_scope(memory: Handle) -> None:
    alice, bob = memory.scope("user:alice"), memory.scope("user:bob")
    hers = alice.observe(*LISBON)
    kept = str(alice.remember(TEXT).memory_id)
    done = memory.reject(LISBON, reason=REASON)
    assert hers.belief_id not in done.belief_ids
    memory.reject(str(memory.remember(TEXT).memory_id), reason=REASON)
    assert values(alice) == []
    assert alice.memories.get(kept).status is Status.REJECTED
    assert bob.observe(*LISBON).rejection is not None
    assert bob.remember(LOOKS_LIKE).outcome is Outcome.REJECTED
    why = alice.why(hers).rejection
    assert why is not None
    assert why.reason == REASON
    # A person may decide otherwise for her own scope.
    alice.unreject(hers, reason="I do")
    assert values(alice) == ["Lisbon"]
    assert values(bob) == []
    assert memory.admin.verify().wrong == ()


def test_a_private_rejection_holds_in_its_scope_alone(memory: Handle) -> None:
    alice, bob = memory.scope("user:alice"), memory.scope("user:bob")
    for one in (alice, bob):
        one.observe(*LISBON)
        one.remember(TEXT)
    alice.reject(LISBON, reason=REASON)
    alice.reject(str(alice.memories.list().memories[0].id), reason=REASON)
    assert (values(alice), values(bob)) == ([], ["Lisbon"])
    assert bob.remember(TEXT).outcome is Outcome.EXACT_DUPE
    assert alice.remember(TEXT).outcome is Outcome.REJECTED


def test_what_a_reader_does_not_see_is_not_rejected_by_its_id(memory: Handle) -> None:
    memory.observe(*LISBON)
    alice, bob = memory.scope("user:alice"), memory.scope("user:bob")
    private = alice.observe(*PORTO)
    for unseen in (bob, on_tenant(memory, fresh_tenant())):
        with pytest.raises(NotFoundError):
            unseen.reject(private, reason="x")
    assert values(memory) == ["Lisbon"]


def test_the_same_event_id_is_one_rejection(memory: Handle, look: Look, tenant: str) -> None:
    seen = memory.observe(*LISBON)
    first = memory.reject(seen, reason="x", origin=Origin(event_id="r1"), at=MAY)
    again = memory.reject(seen.belief_id, reason="x", origin=Origin(event_id="r1"), at=MAY)
    assert (first.repeated, again.repeated, again.rejected) == (False, True, True)
    for act, target, reason in (
        (memory.reject, seen.belief_id, "y"),
        (memory.unreject, seen.belief_id, "x"),
        (memory.reject, PORTO, "x"),
    ):
        with pytest.raises(EventConflictError):
            act(target, reason=reason, origin=Origin(event_id="r1"), at=MAY)
    assert memory.reject(seen, reason="again").changed is False
    types = [event["type"] for event in look.events(tenant).values()]
    assert sorted(types) == ["EVIDENCE", "REJECT", "REJECT"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (("a", "b", "c" * 2_000), r"^target\.value\.object: has more than 1,000 characters"),
        ("b" * 300, r"^target\.id: has more than 200 characters"),
        (5, r"^target\.id: Input should be a valid string"),
    ],
)
def test_a_wrong_target_is_named_by_its_form(offline: Handle, target: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        offline.reject(target, reason="x")
    assert "function" not in caught.value.message


def test_the_newest_ruling_decides_whatever_the_order(memory: Handle) -> None:
    seen = memory.observe(*LISBON, at=MAY)
    memory.unreject(seen, reason="x", at=MAY + 2 * HOUR, origin=Origin(event_id="u"))
    assert (
        memory.reject(seen, reason="x", at=MAY + HOUR, origin=Origin(event_id="r")).rejected
        is False
    )
    assert values(memory) == ["Lisbon"]
    assert values(memory, as_of=AsOf(valid=MAY + HOUR)) == []
    memory.reject(seen, reason="x", at=MAY + 3 * HOUR)
    assert values(memory) == []
    # Without a time, a ruling comes after the newest one.
    for _ in range(3):
        assert memory.unreject(seen, reason="x").rejected is False
        assert memory.reject(seen, reason="x").rejected is True


def test_an_export_carries_rejections_and_an_older_one_brings_nothing_back(
    memory: Handle, look: Look, tenant: str, tmp_path: Path
) -> None:
    seen, kept = memory.observe(*LISBON), str(memory.remember(TEXT).memory_id)
    memory.admin.export_to(tmp_path / "before.jsonl")
    memory.reject(seen, reason=REASON)
    memory.reject(kept, reason=REASON)
    memory.reject(("bob", "lives_in", "Faro"), reason=REASON)
    memory.admin.export_to(tmp_path / "after.jsonl")
    lines = (tmp_path / "after.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    tombstones = [one for one in records if one.get("kind") == "Rejection"]
    assert len(tombstones) == 3
    assert not any(word in repr(tombstones).lower() for word in ("lisbon", "alice", "faro", "cat"))

    memory.admin.import_from(tmp_path / "before.jsonl")
    assert (values(memory), listed(memory)) == ([], set())

    for first, second in (("before", "after"), ("after", "before")):
        other = on_tenant(memory, fresh_tenant())
        for name in (first, second):
            other.admin.import_from(tmp_path / f"{name}.jsonl")
        assert (values(other), listed(other)) == ([], set())
        assert other.why(seen.belief_id).rejection is not None
        assert other.remember(LOOKS_LIKE).outcome is Outcome.REJECTED
        assert other.observe("BOB", "lives in", "Fаro").rejection is not None
        assert other.observe("alice", "lives in", "Lіsbon").rejection is not None
        assert other.admin.verify().wrong == ()
        other.unreject(kept, reason="x")
        assert other.remember(TEXT).memory_id == kept


def test_a_rejection_in_the_file_meets_what_is_there(memory: Handle, tmp_path: Path) -> None:
    memory.reject(LISBON, reason=REASON)
    memory.reject(str(memory.remember(TEXT).memory_id), reason=REASON)
    memory.admin.export_to(tmp_path / "all.jsonl")
    other = on_tenant(memory, fresh_tenant())
    spelt = other.observe("Alice", "lives in", "LІSBON")
    kept = str(other.remember(LOOKS_LIKE).memory_id)
    other.admin.import_from(tmp_path / "all.jsonl")
    assert values(other) == []
    assert other.beliefs.get(spelt).status == "rejected"
    assert other.memories.get(kept).status is Status.REJECTED
    assert other.admin.verify().wrong == ()


def test_erasing_the_item_leaves_the_tombstone(memory: Handle, look: Look, tenant: str) -> None:
    seen, kept = memory.observe(*LISBON), str(memory.remember(TEXT).memory_id)
    memory.reject(seen, reason=REASON)
    memory.reject(kept, reason=REASON)
    assert memory.forget("belief", seen.belief_id, dry_run=False).left == 0
    assert memory.forget("memory", kept, dry_run=False).left == 0
    rows = look.rows(
        "MATCH (r:Rejection {tenant: $tenant}) RETURN properties(r) AS has", tenant=tenant
    )
    assert len(rows) == 2
    assert REASON not in repr(rows)
    spelt = memory.observe("alice", "lives in", "Lіsbon")
    assert spelt.rejection is not None
    assert spelt.rejection.reason is None
    assert memory.remember(LOOKS_LIKE).outcome is Outcome.REJECTED
    assert values(memory) == []
    assert memory.admin.rebuild().wrong == ()
    assert memory.beliefs.get(spelt).status == "rejected"


def test_a_forgotten_scope_takes_its_rejections_with_it(
    memory: Handle, look: Look, tenant: str
) -> None:
    alice = memory.scope("user:alice")
    alice.observe(*LISBON)
    alice.reject(LISBON, reason=REASON)
    memory.reject(PORTO, reason=REASON)
    assert alice.forget("scope", "user:alice", dry_run=False).left == 0
    rows = look.rows("MATCH (r:Rejection {tenant: $tenant}) RETURN r.scope AS scope", tenant=tenant)
    assert [row["scope"] for row in rows] == ["global"]
    assert memory.admin.erase_tenant(dry_run=False).left == 0


def test_a_rebuild_restores_what_was_damaged(plain: Handle, look: Look, tenant: str) -> None:
    seen, kept = plain.observe(*LISBON), str(plain.remember(TEXT).memory_id)
    plain.reject(seen, reason=REASON)
    plain.reject(kept, reason=REASON)
    damages = (
        "MATCH (m {tenant: $tenant}) WHERE m:Memory OR m:Belief "
        "SET m.rulings = null, m.ruled_at = null, m.ruled_known = null, m.status = 'current'",
        "MATCH (m {tenant: $tenant}) WHERE m:Memory OR m:Belief SET m.value_key = 'x'",
        "MATCH (r:Rejection {tenant: $tenant}) DETACH DELETE r",
    )
    for damage in damages:
        look._driver.execute_query(damage, tenant=tenant)
        assert plain.admin.verify().wrong
        assert plain.admin.rebuild().wrong
        assert plain.admin.verify().wrong == ()
        assert (values(plain), listed(plain)) == ([], set())
        assert plain.remember(TEXT).outcome is Outcome.REJECTED


def test_a_memory_of_another_tool_with_a_rejected_text(
    plain: Handle, look: Look, tenant: str
) -> None:
    plain.reject(str(plain.remember(TEXT).memory_id), reason=REASON)
    look._driver.execute_query(
        "CREATE (:Memory {tenant: $tenant, id: 'foreign', scope: 'global', content: $text, "
        "created_at: datetime()})",
        tenant=tenant,
        text=LOOKS_LIKE,
    )
    plain.admin.backfill()
    assert plain.memories.get("foreign").status is Status.REJECTED
    assert listed(plain) == set()
    assert plain.admin.verify().wrong == ()


def test_writers_beside_a_rejection(door: Door, memory: Handle) -> None:
    spellings = [
        "Lisbon",
        "Lіsbon",
        "Lisbοn",
        "Ｌisbon",
        "LISBON",
        "Lis\u200bbon",
        "Lisbon.",
        "Lısbon",
    ]
    memory.observe(*PORTO)
    calls: list[Callable[[Any], Any]] = [
        *(lambda m, s=s: m.observe("alice", "lives_in", s) for s in spellings),
        lambda m: m.reject(LISBON, reason=REASON),
        *(lambda m, s=s: m.remember(f"{TEXT} {s}") for s in spellings[:3]),
    ]
    done = door.together(memory, calls)
    assert [one for one in done if isinstance(one, Exception)] == []
    assert values(memory) == ["Porto"]
    assert memory.admin.verify().wrong == ()
