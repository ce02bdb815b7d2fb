"""Evidence stays behind its wall: tenants and scopes with the same names see nothing of another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.model import AsOf, Cardinality, Origin, Policy
from tests.plugins.belief_oracle import verdict_of, wrong_belief, wrong_slot, wrong_trail
from tests.plugins.examples import few
from tests.plugins.histories import (
    PREDICATE,
    SUBJECT,
    Archive,
    Item,
    Undo,
    Written,
    accounts,
    clocked,
)
from tests.rules.strategies_histories import BASE

pytestmark = pytest.mark.timeout(3_600)


@few
@given(ours=accounts(), theirs=accounts(), data=st.data())
def test_two_scopes_with_the_same_names(
    archive: Archive, ours: list[Item], theirs: list[Item], data: st.DataObject
) -> None:
    """What one scope takes back of another's evidence stays where it is."""
    one = archive.write(ours)
    targets = data.draw(st.lists(st.sampled_from([e.id for e in one.evidence] or ["never"])))
    other = archive.write(theirs)
    for number, target in enumerate(targets):
        done = other.handle.beliefs.retract(
            target, missing_ok=True, origin=Origin(event_id=f"{other.prefix}x{number}"), at=BASE
        )
        assert not done.found
    for each in (one, other):
        sees_its_own(each)


@few
@given(theirs=accounts())
def test_a_retraction_waits_in_its_own_scope(archive: Archive, theirs: list[Item]) -> None:
    """It names what comes later under this id in another scope, and does not touch it."""
    prefix = archive.next_prefix()
    stranger = archive.scope("stranger")
    for number, item in enumerate(theirs):
        if not isinstance(item, Undo):
            stranger.beliefs.retract(
                prefix + item.id,
                missing_ok=True,
                origin=Origin(event_id=f"{prefix}x{number}"),
                at=BASE,
            )
    sees_its_own(archive.write(theirs, prefix=prefix))


def sees_its_own(history: Written) -> None:
    """Hold everything that a handle reads to its own history."""
    handle = history.handle
    for cardinality in Cardinality:
        policy = Policy(cardinality=cardinality)
        slot = handle.current(SUBJECT, PREDICATE, policy=policy)
        assert wrong_slot(history, slot, AsOf()) == []
        page = handle.beliefs.list(policy=policy, limit=1_000)
        assert {b.id: b.created_at for b in page.beliefs} == history.existed(AsOf())
        assert [p for b in page.beliefs for p in wrong_belief(history, b, AsOf(), policy)] == []
    for belief_id in history.existed(AsOf()):
        trail = handle.evidence_for(belief_id)
        assert wrong_trail(trail, verdict_of(history, belief_id, AsOf())) == []


def test_a_slot_is_looked_for_in_the_handles_own_scope_first(plain: Handle) -> None:
    memory = clocked(plain)
    memory.observe(SUBJECT, PREDICATE, "Borealis", at=BASE, event_id="shared")
    own = memory.scope("own")
    assert own.current(SUBJECT, PREDICATE).scope == "global"
    own.observe(SUBJECT, PREDICATE, "Atlas", at=BASE, event_id="mine")

    slot = own.current(SUBJECT, PREDICATE)
    assert (slot.scope, [c.object for c in slot.candidates]) == ("own", ["Atlas"])
    slot = memory.current(SUBJECT, PREDICATE)
    assert (slot.scope, [c.object for c in slot.candidates]) == ("global", ["Borealis"])


def test_a_scope_that_is_named_twice_is_seen_once(plain: Handle) -> None:
    memory = clocked(plain)
    memory.observe(SUBJECT, PREDICATE, "Atlas", at=BASE)
    twice = memory.scope("own", read_scopes=["global", "global"])
    assert len(twice.beliefs.list().beliefs) == len(twice.beliefs.slots().slots) == 1
