"""Beliefs that are put away, brought back and cleared of flags, as they were at any time."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from graphmem import AsOf, BeliefBite, Handle
from graphmem.errors import (
    EventConflictError,
    SupersededBeliefError,
)
from graphmem.model import EventSource, EventType, Origin, RecallPolicy
from graphmem.model.policies import VitalityPolicy
from graphmem.operations.evidence import recording
from graphmem.rules import vitality
from graphmem.testing import FrozenClock
from tests.plugins.clients import Door
from tests.plugins.graph import Look
from tests.plugins.origins import with_origin

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
FOUR, EIGHT = "The worker pool should have 4 threads", "The worker pool should have 8 threads"
Verb = Callable[..., Any]
VERBS: dict[str, Verb] = {
    "archive": lambda m, *a, **k: m.beliefs.archive(*a, **with_origin(k)),
    "restore": lambda m, *a, **k: m.beliefs.restore(*a, **with_origin(k)),
    "clear_flag": lambda m, *a, **k: m.beliefs.clear_flag(*a, **with_origin(k)),
}


def listed(memory: Handle, **which: Any) -> dict[str, str]:
    found = memory.beliefs.list(limit=1_000, **which).beliefs
    return {b.statement: b.status for b in found}


def recalled(memory: Handle, **which: Any) -> dict[str, BeliefBite]:
    bites = memory.recall("threads of the worker pool", **which).bites
    return {b.text: b for b in bites if isinstance(b, BeliefBite)}


def flag(door: Door, memory: Handle, belief_id: str, at: datetime, event_id: str) -> None:
    """Flag a belief, as only consolidation does."""
    source = EventSource(event_id=event_id, at=at, source="consolidation")
    door.run(recording.mark(memory._state.context, EventType.FLAG, belief_id, source))


def test_what_is_archived_is_hidden_and_can_be_restored(
    memory: Handle, look: Look, tenant: str
) -> None:
    belief = memory.believe(FOUR, at=MAY)
    done = memory.beliefs.archive(
        belief, reason="of no use", at=MAY + DAY, origin=Origin(event_id="a1", actor="bob")
    )

    assert (done.event_id, done.belief_id) == ("a1", belief.belief_id)
    assert (done.changed, done.status, done.flagged, done.repeated) == (
        True,
        "archived",
        False,
        False,
    )
    assert memory.beliefs.get(belief).status == "archived"
    assert listed(memory) == listed(memory, include_superseded=True) == {}
    assert listed(memory, include_archived=True) == {FOUR: "archived"}
    assert recalled(memory) == {}
    [hidden] = recalled(memory, include_hidden=True).values()
    assert (hidden.belief.status, hidden.lost, hidden.head_ids) == ("archived", True, ())
    assert memory.context("threads of the worker pool").ids == ()
    shown = memory.context("threads of the worker pool", include_hidden=True).text
    assert "archived" in shown
    assert "no longer believed" not in shown
    event = look.events(tenant)["a1"]
    assert (event["type"], event["actor"], event["scope"]) == ("ARCHIVE", "bob", "global")
    assert json.loads(event["payload"]) == {"note": "of no use"}
    assert event["edges"] == [["CONCERNS", "Belief", belief.belief_id]]

    back = memory.beliefs.restore(belief, at=MAY + 2 * DAY)
    assert (back.changed, back.status) == (True, "current")
    assert listed(memory) == {FOUR: "current"}
    assert list(recalled(memory)) == [FOUR]
    assert [e.type for e in memory.beliefs.history(belief)] == ["BELIEVE", "ARCHIVE", "RESTORE"]
    assert memory.admin.verify().wrong == ()


def test_it_was_what_it_was_at_earlier_times(memory: Handle) -> None:
    belief = memory.believe(FOUR, at=MAY)
    memory.beliefs.archive(belief, at=MAY + 2 * DAY)
    known = memory.beliefs.history(belief)[-1].recorded_at
    memory.beliefs.restore(belief, at=MAY + 4 * DAY)
    statuses = [
        memory.beliefs.get(belief, as_of=AsOf(valid=MAY + n * DAY)).status for n in range(6)
    ]
    assert statuses == ["current"] * 2 + ["archived"] * 2 + ["current"] * 2
    assert memory.beliefs.get(belief, as_of=AsOf(known=known)).status == "archived"
    before = AsOf(known=known - timedelta(microseconds=1))
    assert memory.beliefs.get(belief, as_of=before).status == "current"
    then = AsOf(valid=MAY + 3 * DAY)
    assert listed(memory, as_of=then) == {}
    assert recalled(memory, as_of=then) == {}
    assert listed(memory, as_of=then, include_archived=True) == {FOUR: "archived"}
    assert list(recalled(memory, as_of=then, include_hidden=True)) == [FOUR]
    assert list(recalled(memory, as_of=AsOf(valid=MAY + DAY))) == [FOUR]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_late_events_in_any_order(plain: Handle, order: tuple[int, ...]) -> None:
    belief = plain.believe(FOUR, at=MAY)
    calls: list[Callable[[], object]] = [
        lambda: plain.beliefs.archive(belief, at=MAY + DAY),
        lambda: plain.believe(FOUR, at=MAY + 2 * DAY),
        lambda: plain.beliefs.archive(belief, at=MAY + 3 * DAY),
    ]
    for place in order:
        calls[place]()
    assert plain.beliefs.get(belief).status == "archived"
    then = AsOf(valid=MAY + 2 * DAY)
    assert plain.beliefs.get(belief, as_of=then).status == "current"
    assert plain.admin.verify().wrong == ()


def test_stating_it_again_brings_it_back_and_evidence_does_not(memory: Handle) -> None:
    belief = memory.believe(FOUR, at=MAY)
    memory.beliefs.archive(belief, at=MAY + DAY)
    memory.add_evidence(belief, "supporting", 0.9, at=MAY + 2 * DAY)
    assert memory.beliefs.get(belief).status == "archived"
    assert memory.beliefs.get(belief).verdict.evidence == 1
    memory.believe(FOUR, at=MAY + HOUR)
    assert memory.beliefs.get(belief).status == "archived"
    memory.believe(FOUR, at=MAY + 3 * DAY)
    assert listed(memory) == {FOUR: "current"}
    assert list(recalled(memory)) == [FOUR]


def test_what_replaces_it_may_replace_what_is_archived(memory: Handle) -> None:
    belief = memory.believe(FOUR, at=MAY)
    memory.beliefs.archive(belief, at=MAY + DAY)
    newer = memory.beliefs.revise(belief, EIGHT, at=MAY + 2 * DAY).newer_ids[0]
    assert memory.beliefs.get(belief).status == "superseded"
    with pytest.raises(SupersededBeliefError) as refused:
        memory.beliefs.archive(belief)
    assert refused.value.code == "superseded_belief"
    assert memory.beliefs.restore(belief).status == "current"
    assert memory.beliefs.chain(newer).head_ids == (belief.belief_id, newer)
    assert memory.admin.verify().wrong == ()


def test_an_archived_value_does_not_lead_its_slot(memory: Handle) -> None:
    memory.predicates.declare("works_on", cardinality="ONE", at=MAY)
    memory.observe("alice", "works_on", "Borealis", at=MAY)
    atlas = memory.observe("alice", "works_on", "Atlas", at=MAY + DAY)
    memory.remember("Alice is on Atlas", claims=[("alice", "works_on", "Atlas")], at=MAY + DAY)
    memory.beliefs.archive(atlas)
    slot = memory.current("alice", "works_on")
    assert {c.object: c.status for c in slot.candidates} == {
        "Atlas": "archived",
        "Borealis": "current",
    }
    assert slot.leader is not None
    assert slot.leader.object == "Borealis"
    [listed_slot] = memory.beliefs.slots().slots
    assert listed_slot.leader is not None
    assert listed_slot.leader.object == "Borealis"
    found = memory.recall("what does alice work on").bites
    [bite] = [b for b in found if isinstance(b, BeliefBite)]
    assert (bite.belief.object, bite.lost) == ("Borealis", False)
    assert [(o.object, o.status) for o in bite.others] == [("Atlas", "archived")]


def test_a_mark_is_there_once(memory: Handle, look: Look, tenant: str) -> None:
    belief = memory.believe(FOUR, at=MAY)
    first = memory.beliefs.archive(
        belief, origin=Origin(event_id="a1"), at=MAY + DAY, reason="dull"
    )
    again = memory.beliefs.archive(
        belief, origin=Origin(event_id="a1"), at=MAY + DAY, reason="dull"
    )
    assert first.changed
    assert again == first.model_copy(update={"changed": False, "repeated": True})
    assert look.count(tenant)["Event"] == 2
    other = memory.believe(EIGHT)
    for verb, about, reason in (
        ("archive", belief, "old"),
        ("restore", belief, "dull"),
        ("archive", other, "dull"),
    ):
        with pytest.raises(EventConflictError):
            VERBS[verb](memory, about, event_id="a1", at=MAY + DAY, reason=reason)
    twice = memory.beliefs.archive(belief)
    assert (twice.changed, twice.status, twice.repeated) == (False, "archived", False)
    late = memory.beliefs.restore(belief, at=MAY)
    assert (late.changed, late.status) == (False, "archived")


def test_a_repeat_is_known_whatever_happened_since(memory: Handle) -> None:
    belief = memory.believe(FOUR, at=MAY)
    memory.beliefs.archive(belief, origin=Origin(event_id="a1"), at=MAY + DAY)
    memory.beliefs.revise(belief, EIGHT)
    again = memory.beliefs.archive(belief, origin=Origin(event_id="a1"), at=MAY + DAY)
    assert (again.repeated, again.changed, again.status) == (True, False, "superseded")


def test_a_flag_stands_until_it_is_resolved(door: Door, memory: Handle) -> None:
    belief = memory.believe(FOUR, at=MAY)
    flag(door, memory, belief.belief_id, MAY + DAY, "f1")
    life = memory.beliefs.get(belief).vitality
    assert life is not None
    assert life.flagged_at == MAY + DAY
    assert recalled(memory)[FOUR].belief.vitality is None
    shown = memory.context("threads of the worker pool").text
    assert ", contradicted: " in shown
    assert "to be revised" not in shown
    assert memory.beliefs.get(belief).status == "current"

    done = memory.beliefs.clear_flag(belief, reason="measured again", at=MAY + 2 * DAY)
    assert (done.changed, done.flagged, done.status) == (True, False, "current")
    assert memory.beliefs.get(belief).vitality.flagged_at is None  # type: ignore[union-attr]
    then = memory.beliefs.get(belief, as_of=AsOf(valid=MAY + DAY)).vitality
    assert then is not None
    assert then.flagged_at == MAY + DAY
    again = memory.beliefs.clear_flag(belief)
    assert (again.changed, again.flagged) == (False, False)
    late = memory.beliefs.clear_flag(belief, at=MAY)
    assert not late.changed
    flag(door, memory, belief.belief_id, MAY + HOUR, "f2")
    assert memory.beliefs.get(belief).vitality.flagged_at is None  # type: ignore[union-attr]


def test_a_mark_before_the_first_word_makes_the_belief_older(memory: Handle) -> None:
    belief = memory.believe(FOUR, at=MAY)
    memory.beliefs.archive(belief, at=MAY - DAY)
    for as_of in (AsOf(), AsOf(known=datetime.now(UTC))):
        assert memory.beliefs.get(belief, as_of=as_of).created_at == MAY - DAY
        assert memory.beliefs.get(belief, as_of=as_of).status == "current"
    assert memory.beliefs.get(belief, as_of=AsOf(valid=MAY - HOUR)).status == "archived"


# What was only inferred and is not used.


def inferred(memory: Handle, at: datetime) -> str:
    memory.observe("the pool", "should_have", "4 threads", at=at, source="consolidation")
    [belief] = memory.beliefs.list().beliefs
    return belief.id


def test_what_was_only_inferred_and_is_not_used_comes_last_in_a_context(
    door: Door, memory: Handle
) -> None:
    question, least = "which threads should the pool have", vitality.MIN_RETRIEVAL
    # R = e^(-days / 30) at ordinary importance: 0.0498 after 90 days.
    now = door.on(memory, clock=FrozenClock(MAY + 90 * DAY))
    belief_id = inferred(now, MAY)
    said = str(now.remember("the threads of the loom hang over the pool").memory_id)
    life = now.beliefs.get(belief_id).vitality
    assert life is not None
    assert life.derived
    assert life.retrieval < least
    assert now.recall(question).bites[0].id == belief_id
    assert now.context(question).ids == (said, belief_id)
    assert now.context(question).left_out == 0
    # Shown in a session, it has its place again; so it has when somebody says it.
    with now.session("s") as session:
        session.context(question)
    shown = now.beliefs.get(belief_id).vitality
    assert shown is not None
    assert (shown.retrieval, shown.last_access_at) == (1.0, None)
    assert shown.stability_days == pytest.approx(30 * (1 + math.log(91)))
    assert now.context(question).ids == (belief_id, said)


def test_a_search_outside_a_session_is_no_retrieval(door: Door, memory: Handle) -> None:
    now = door.on(memory, clock=FrozenClock(MAY + 9 * DAY))
    belief_id = inferred(now, MAY)
    now.context("which threads should the pool have")
    now.usage.flush()
    life = now.beliefs.get(belief_id).vitality
    assert life is not None
    assert life.retrieval == pytest.approx(math.exp(-0.3))
    assert life.stability_days == 30.0


def test_direct_evidence_uses_the_gate(memory: Handle) -> None:
    """No FLAG event is needed: each read computes the flag from the evidence."""
    belief = memory.believe(FOUR, at=MAY)
    for n in range(3):
        memory.add_evidence(belief, "supporting", 0.8, at=MAY + n * HOUR)
    assert memory.beliefs.get(belief).vitality.flagged_at is None  # type: ignore[union-attr]
    memory.add_evidence(belief, "refuting", 0.52, at=MAY + DAY)
    assert memory.beliefs.get(belief).vitality.flagged_at is None  # type: ignore[union-attr]
    memory.add_evidence(belief, "refuting", 0.9, at=MAY + 2 * DAY)
    life = memory.beliefs.get(belief).vitality
    assert life is not None
    assert (life.flagged_at, life.prior_at) == (MAY + 2 * DAY, MAY + 2 * HOUR)
    assert life.prior * life.contradiction > life.gate
    # The test weighs all evidence, and still confirms what the newest evidence made doubtful.
    shown = memory.context("threads of the worker pool").text
    assert ", confirmed by its test: " in shown

    done = memory.beliefs.clear_flag(belief, at=MAY + 3 * DAY)
    assert (done.changed, done.flagged) == (True, False)
    cleared = memory.beliefs.get(belief).vitality
    assert cleared is not None
    assert (cleared.flagged_at, cleared.contradiction) == (None, 0.0)
    # Late evidence about an earlier time does not flag it again: it was reviewed since.
    memory.add_evidence(belief, "refuting", 0.9, at=MAY + 2 * DAY + HOUR)
    assert memory.beliefs.get(belief).vitality.flagged_at is None  # type: ignore[union-attr]
    memory.observe("the pool", "has", "4 threads", at=MAY)
    memory.observe("the pool", "has", "4 threads", kind="refuting", at=MAY + DAY)
    [observed] = [b for b in memory.beliefs.list().beliefs if b.id != belief.belief_id]
    assert observed.vitality is not None
    assert observed.vitality.flagged_at == MAY + DAY


def test_the_gate_is_a_setting(door: Door, memory: Handle) -> None:
    belief = memory.believe(FOUR, at=MAY)
    memory.add_evidence(belief, "supporting", 0.8, at=MAY)
    memory.add_evidence(belief, "refuting", 0.9, at=MAY + DAY)
    settings = memory._state.context.services.settings
    gate = VitalityPolicy(gate_min=0.9, gate_max=1.0)
    strict = door.on(memory, settings=settings.model_copy(update={"vitality": gate}))
    for handle, flagged in ((memory, True), (strict, False)):
        life = handle.beliefs.get(belief).vitality
        assert life is not None
        assert (life.flagged_at is not None) is flagged


def test_what_was_told_is_never_kept_out(door: Door, memory: Handle) -> None:
    now = door.on(memory, clock=FrozenClock(MAY + 900 * DAY))
    belief_id = inferred(now, MAY)
    question = "which threads should the pool have"
    said = str(now.remember("the threads of the loom hang over the pool").memory_id)
    assert now.context(question).ids == (said, belief_id)
    assumed = now.believe("the pool should have 4 threads", at=MAY).belief_id
    now.observe("the pool", "should_have", "4 threads", at=MAY + HOUR)
    life = now.beliefs.get(belief_id).vitality
    assert life is not None
    assert (life.derived, life.retrieval < 1e-9) == (False, True)
    # Scores of words depend on what other tests wrote to the index.
    alike = RecallPolicy(words_weight=0)
    assert now.context(question, policy=alike).ids == (belief_id, said, assumed)
