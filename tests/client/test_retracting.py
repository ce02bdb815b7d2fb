"""Evidence that is taken back: before and after it comes, once and back again."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from graphmem import Handle
from graphmem.errors import (
    EventConflictError,
    NotFoundError,
    RefusedError,
)
from graphmem.model import AsOf, Origin, RetractionReceipt
from tests.plugins.clients import on_tenant
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.origins import with_origin

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
ATLAS = ("alice", "works_on", "Atlas")


def counted(memory: Handle, **by: Any) -> int:
    """How many pieces of evidence count for Atlas."""
    candidates = memory.current("alice", "works_on", **by).candidates
    return sum(c.events for c in candidates)


def test_what_is_retracted_counts_no_more_at_any_time(
    memory: Handle, look: Look, tenant: str
) -> None:
    seen = memory.observe(*ATLAS, at=MAY, event_id="o")
    told = memory.add_evidence(seen, "supporting", 0.85, at=MAY + HOUR, event_id="t")
    assert (counted(memory), memory.beliefs.get(seen).verdict.evidence) == (2, 2)

    done = memory.beliefs.retract(
        "o", origin=Origin(note="a mistake", actor="bob", event_id="r"), at=MAY + 9 * HOUR
    )

    assert done == RetractionReceipt(event_id="r", target_id="o", found=True)
    assert counted(memory) == 1
    assert [line.event_id for line in memory.evidence_for(seen).lines] == ["t"]
    assert memory.beliefs.get(seen).verdict.evidence == 1
    # For every valid time, from the moment it is known.
    assert memory.evidence_for(seen, as_of=AsOf(valid=MAY + HOUR)).verdict.evidence == 1
    events = look.events(tenant)
    assert (events["r"]["type"], events["r"]["target_id"]) == ("RETRACT", "o")
    assert (events["r"]["actor"], json.loads(events["r"]["payload"])) == (
        "bob",
        {"note": "a mistake"},
    )
    assert events["r"]["edges"] == [["RETRACTS", "Event", "o"]]
    before = AsOf(known=events["t"]["recorded_at"].to_native())
    assert memory.evidence_for(seen, as_of=before).verdict.evidence == 2
    assert told.event_id == "t"


@pytest.mark.parametrize("many", [False, True], ids=["observe", "observe_many"])
def test_a_retraction_may_come_before_what_it_retracts(
    memory: Handle, look: Look, tenant: str, *, many: bool
) -> None:
    done = memory.beliefs.retract("late", missing_ok=True, origin=Origin(event_id="r"))
    assert not done.found
    if many:
        memory.observe_many(
            [{"subject": "alice", "predicate": "works_on", "object": "Atlas", "event_id": "late"}]
        )
    else:
        memory.observe(*ATLAS, event_id="late")
    memory.observe(*ATLAS, event_id="other")
    assert look.events(tenant)["r"]["edges"] == [["RETRACTS", "Event", "late"]]
    assert counted(memory) == 1
    # Told again, it says how things are now.
    assert memory.beliefs.retract(
        "late", missing_ok=True, origin=Origin(event_id="r")
    ) == RetractionReceipt(event_id="r", target_id="late", found=True, repeated=True)


def test_testimony_is_retracted_before_it_comes(memory: Handle) -> None:
    belief = memory.believe("It rains")
    memory.beliefs.retract("t", missing_ok=True)
    memory.add_evidence(belief, "supporting", 0.9, event_id="t")
    assert memory.beliefs.get(belief).verdict.evidence == 0
    assert memory.beliefs.get(belief).belief == 0.5


def test_nothing_is_retracted_by_a_wrong_id(memory: Handle, look: Look, tenant: str) -> None:
    seen = memory.observe(*ATLAS)
    before = look.events(tenant)
    for wrong in ("e_0", seen.belief_id, f"{seen.event_id}0", "late"):
        with pytest.raises(NotFoundError, match="No evidence"):
            memory.beliefs.retract(wrong)
    assert look.events(tenant) == before


ACTS: dict[str, Callable[[Handle], Any]] = {
    "evidence": lambda m: m.observe(*ATLAS, event_id="x", at=MAY),
    "taken back": lambda m: m.beliefs.retract(
        "x", missing_ok=True, origin=Origin(event_id="r1"), at=MAY + HOUR
    ),
    "brought back": lambda m: m.beliefs.retract(
        "r1", missing_ok=True, origin=Origin(event_id="r2"), at=MAY + 2 * HOUR
    ),
    "taken back again": lambda m: m.beliefs.retract(
        "r2", missing_ok=True, origin=Origin(event_id="r3"), at=MAY + 3 * HOUR
    ),
}


@pytest.mark.parametrize("order", [*permutations(ACTS)], ids=", ".join)
def test_the_newest_of_all_that_concern_an_event_holds_in_any_order(
    plain: Handle, look: Look, tenant: str, order: tuple[str, ...]
) -> None:
    for name in order:
        ACTS[name](plain)
    assert counted(plain) == 0
    events = look.events(tenant)
    known = {name: events[name]["edges"] for name in ("r1", "r2", "r3")}
    assert known == {
        name: [["RETRACTS", "Event", target]]
        for name, target in (("r1", "x"), ("r2", "r1"), ("r3", "r2"))
    }


def test_a_retraction_can_be_retracted(memory: Handle) -> None:
    expected = [1, 0, 1, 0]
    for name, n in zip(ACTS, expected, strict=True):
        ACTS[name](memory)
        assert counted(memory) == n, name


def test_an_older_word_that_comes_late_changes_nothing(memory: Handle) -> None:
    memory.observe(*ATLAS, event_id="x", at=MAY)
    memory.beliefs.retract("x", missing_ok=True, origin=Origin(event_id="r1"), at=MAY + 5 * HOUR)
    # Retracts the retraction, and yet the retraction is newer.
    memory.beliefs.retract("r1", origin=Origin(event_id="r2"), at=MAY + HOUR)
    assert counted(memory) == 0


def test_of_one_instant_the_larger_id_holds(memory: Handle) -> None:
    memory.observe(*ATLAS, event_id="x", at=MAY)
    memory.beliefs.retract("x", missing_ok=True, origin=Origin(event_id="b"), at=MAY)
    memory.beliefs.retract("b", origin=Origin(event_id="a"), at=MAY)
    assert counted(memory) == 0
    memory.beliefs.retract("b", origin=Origin(event_id="c"), at=MAY)
    assert counted(memory) == 1


def test_a_retraction_under_a_repeated_id(memory: Handle, look: Look, tenant: str) -> None:
    memory.observe(*ATLAS, event_id="x", at=MAY)
    given: dict[str, Any] = {"event_id": "r", "note": "n", "at": MAY}
    first = memory.beliefs.retract("x", missing_ok=True, **with_origin(given))
    before = look.events(tenant)
    assert memory.beliefs.retract("x", missing_ok=True, **with_origin(given)) == first.model_copy(
        update={"repeated": True}
    )
    for target, other in (
        ("y", {}),
        ("x", {"note": "another"}),
        ("x", {"at": None}),
        ("x", {"source": "hook"}),
        ("x", {"actor": "bob"}),
        ("x", {"artifact_ref": "a"}),
    ):
        with pytest.raises(EventConflictError):
            memory.beliefs.retract(target, **with_origin({**given, **other}))
    assert look.events(tenant) == before
    # Another scope has ids of its own.
    alice = memory.scope("alice")
    assert not alice.beliefs.retract("x2", missing_ok=True, **with_origin(given)).repeated


def test_what_belongs_to_another_scope_is_not_retracted(
    memory: Handle, look: Look, tenant: str
) -> None:
    alice = memory.scope("alice")
    alice.observe(*ATLAS, event_id="hers")
    # Of what cannot be seen nothing is said, and nothing becomes of it.
    for stranger in (memory, memory.scope("bob"), on_tenant(memory, fresh_tenant())):
        for _ in range(2):
            with pytest.raises(NotFoundError):
                stranger.beliefs.retract("hers")
            assert not stranger.beliefs.retract(
                "hers", missing_ok=True, origin=Origin(event_id="r" + stranger._state.context.scope)
            ).found
    assert counted(alice) == 1
    assert all(e["edges"] == [] for e in look.events(tenant).values() if e["type"] == "RETRACT")
    # Nor when it comes later.
    memory.beliefs.retract("later", missing_ok=True, origin=Origin(event_id="early"))
    alice.observe(*ATLAS, event_id="later")
    assert counted(alice) == 2
    assert look.events(tenant)["early"]["edges"] == []


def test_only_evidence_is_retracted(memory: Handle, look: Look, tenant: str) -> None:
    belief = memory.believe("It rains", event_id="believed")
    memory.remember("Alice works on Atlas", event_id="said")
    memory.beliefs.revise(belief, "It pours", origin=Origin(event_id="revised"))
    before = look.events(tenant)
    for name, kind in (("believed", "BELIEVE"), ("said", "ADD"), ("revised", "REVISE")):
        with pytest.raises(RefusedError, match=f"is a {kind}: only evidence") as caught:
            memory.beliefs.retract(name)
        assert "`deprecate`" in caught.value.hint
    with pytest.raises(RefusedError, match="cannot retract itself") as caught:
        memory.beliefs.retract("r", origin=Origin(event_id="r"))
    assert caught.value.hint
    assert look.events(tenant) == before


def test_a_slot_of_which_all_is_retracted_is_as_if_nothing_had_been_said(memory: Handle) -> None:
    for policy in ("ONE", "MANY"):
        memory.predicates.declare("works_on", cardinality=policy)
        memory.observe(*ATLAS, event_id=policy)
        memory.beliefs.retract(policy)
        slot = memory.current("alice", "works_on")
        assert (slot.leader, slot.total) == (None, 0)
    [kept] = memory.beliefs.list().beliefs
    assert (kept.belief, kept.verdict.evidence) == (0.5, 0)
