"""Proposals wait for somebody's decision; what is accepted is what was shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graphmem import Handle
from graphmem.errors import ForeignScopeError, InvalidInputError, NotFoundError, RefusedError
from graphmem.extraction import DismissalReason, PendingProposal, ProposalStatus
from graphmem.model import Cardinality, Origin, Policy, PolicyOrigin
from tests.plugins.clients import Door
from tests.plugins.graph import Look
from tests.plugins.offers import MARCH, MOVED, say


def put_up(memory: Handle, *texts: str) -> list[PendingProposal]:
    say(memory, "s1", *(texts or (MOVED, "I like tea.", "I work at Acme.")))
    memory.extract(session_id="s1", extractor="rules", review=True)
    return list(memory.proposals.list().proposals)


def test_what_is_put_up_counts_for_nothing(memory: Handle, look: Look, tenant: str) -> None:
    found = put_up(memory)
    assert [one.object for one in found] == ["Lisbon", "tea", "Acme"]
    assert {one.status for one in found} == {ProposalStatus.OPEN}
    assert memory.beliefs.list().beliefs == ()
    event = look.events(tenant)[found[0].id]
    assert event["type"] == "PROPOSE"
    assert json.loads(event["payload"])["quote"] == "I moved to Lisbon"
    assert ["QUOTES", "Turn", found[0].turn_id] in event["edges"]


def test_a_dry_run_of_a_review_is_what_it_does(memory: Handle, look: Look, tenant: str) -> None:
    say(memory, "s1", MOVED)
    before = look.graph(tenant)
    how: dict[str, Any] = {"session_id": "s1", "extractor": "rules", "review": True}
    dry = memory.extract(**how, dry_run=True)
    assert look.graph(tenant) == before
    done = memory.extract(**how)
    assert dry.proposals == done.proposals
    assert [one.id for one in memory.proposals.list().proposals] == [done.proposals[0].event_id]
    assert memory.extract(**how).turns == 0


def test_what_is_accepted_is_the_evidence_that_would_have_been_written(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    [one, *_] = put_up(memory)
    done = memory.proposals.accept([one.id], origin=Origin(note="asked her", actor="bob"))
    assert (done.proposal_ids, done.belief_ids) == ((one.id,), (one.belief_id,))
    assert memory.current("user", "lives_in").candidates[0].object == "Lisbon"
    evidence = look.events(tenant)[done.event_ids[0]]
    with door.opened() as other:
        say(other, "s1", MOVED)
        [direct] = other.extract(session_id="s1", extractor="rules").proposals
        same = look.events(other._state.context.tenant)[direct.event_id]
    own = {"tenant", "recorded_at", "payload", "request_hash"}
    assert {k: v for k, v in evidence.items() if k not in own} == {
        k: v for k, v in same.items() if k not in own
    }
    payload = json.loads(evidence["payload"])
    assert payload.pop("proposal_id") == one.id
    assert payload == json.loads(same["payload"])
    [accepted] = memory.proposals.list(status="accepted").proposals
    assert accepted.id == one.id
    [decision] = [e for e in look.events(tenant).values() if e["type"] == "ACCEPT"]
    assert (decision["actor"], json.loads(decision["payload"])) == ("bob", {"note": "asked her"})
    assert decision["edges"] == [["CONCERNS", "Event", one.id]]


def test_accepting_declares_a_predicate_that_the_proposal_introduces(
    memory: Handle, look: Look, tenant: str
) -> None:
    memory.predicates.declare("likes", kappa=1)
    listed = put_up(memory, "I like tea. My favourite editor is Vim. I live in Lisbon.")
    offered = {one.predicate: one.cardinality for one in listed}
    assert offered == {"likes": "MANY", "favourite_editor": "ONE", "lives_in": "ONE"}
    memory.proposals.dismiss([listed[0].id])
    done = memory.proposals.accept([one.id for one in listed], origin=Origin(actor="bob"))
    assert done.declared == ("favourite_editor",)
    # A declaration and the built-in list are kept as they are.
    declared = {one.name: one.policy for one in memory.predicates.list()}
    assert declared == {
        "likes": Policy(kappa=1),
        "favourite_editor": Policy(cardinality=Cardinality.ONE),
    }
    slot = memory.current("user", "favourite editor")
    assert (slot.cardinality, slot.policy_origin) == ("ONE", PolicyOrigin.DECLARED)
    [event] = [
        e for e in look.events(tenant).values() if e["type"] == "POLICY" and e.get("actor") == "bob"
    ]
    assert event["cardinality"] == "ONE"
    assert memory.proposals.accept([listed[1].id]).declared == ()


def test_a_decision_is_taken_once(memory: Handle, look: Look, tenant: str) -> None:
    [one, two, _] = put_up(memory)
    memory.proposals.accept([one.id])
    memory.proposals.dismiss([two.id])
    before = look.events(tenant)
    again = memory.proposals.accept([one.id])
    assert (again.proposal_ids, again.repeated, again.event_ids) == ((), (one.id,), ())
    assert memory.proposals.dismiss([two.id]).repeated == (two.id,)
    assert look.events(tenant) == before


def test_what_was_rejected_is_not_proposed_again_and_may_be_accepted(memory: Handle) -> None:
    [one] = put_up(memory, MOVED)
    memory.proposals.dismiss([one.id])
    assert memory.proposals.list().proposals == ()

    def same(turns: Any) -> Any:
        parts = {"subject": "user", "predicate": "lives_in", "object": "Lisbon"}
        return [{"turn_id": turns[0].id, "quote": MOVED, **parts}]

    done = memory.extract(session_id="s1", extractor=same)
    assert [refused.code for refused in done.refused] == [DismissalReason.DISMISSED_BEFORE]
    assert memory.beliefs.list().beliefs == ()
    assert memory.proposals.accept([one.id]).belief_ids == (one.belief_id,)
    assert memory.beliefs.get(one.belief_id).supporting_episodes == 1


def test_what_was_accepted_is_taken_back_by_retraction(memory: Handle) -> None:
    [one] = put_up(memory, MOVED)
    [event_id] = memory.proposals.accept([one.id]).event_ids
    with pytest.raises(RefusedError, match=event_id):
        memory.proposals.dismiss([one.id])
    memory.beliefs.retract(event_id)
    assert memory.current("user", "lives_in").leader is None


def test_all_are_decided_or_none(memory: Handle, look: Look, tenant: str) -> None:
    [one, two, _] = put_up(memory)
    before = look.events(tenant)
    for decide in (memory.proposals.accept, memory.proposals.dismiss):
        with pytest.raises(NotFoundError):
            decide([one.id, "prop_nowhere"])
        with pytest.raises(NotFoundError):
            decide([next(iter(e for e in before if e != one.id and e != two.id), "x") + "x"])
    assert look.events(tenant) == before
    with pytest.raises(ForeignScopeError):
        memory.scope("alice").proposals.accept([one.id])
    with pytest.raises(NotFoundError):
        memory.scope("alice", read_scopes=["alice"]).proposals.accept([one.id])


@pytest.mark.parametrize("given", ["prop", 5, [5], [""]])
def test_ids_are_a_list_of_names(memory: Handle, given: Any) -> None:
    with pytest.raises(InvalidInputError):
        memory.proposals.accept(given)
    with pytest.raises(InvalidInputError, match=r"origin\.event_id"):
        memory.proposals.dismiss(["a"], origin=Origin(event_id="mine"))
    with pytest.raises(InvalidInputError):
        memory.proposals.list(status="perhaps")


def test_proposals_come_page_by_page(memory: Handle) -> None:
    said = [f"I moved to City{n}." for n in range(7)]
    found = put_up(memory, *said)
    pages, cursor = [], None
    while True:
        page = memory.proposals.list(limit=3, cursor=cursor)
        pages.append(page)
        cursor = page.next_cursor
        if cursor is None:
            break
    assert [len(page.proposals) for page in pages] == [3, 3, 1]
    assert sorted(one.id for page in pages for one in page.proposals) == sorted(
        one.id for one in found
    )
    assert {one.occurred_at.date() for one in found} == {MARCH.date()}
    assert memory.proposals.list(status=None, limit=1_000).proposals == tuple(found)
