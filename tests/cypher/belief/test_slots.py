"""Pages of slots: each is what `current` shows, all of them stand once and in order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.model import AsOf, Cardinality, Policy, Slot
from tests.plugins.belief_oracle import wrong_slot
from tests.plugins.clients import on_tenant
from tests.plugins.examples import few
from tests.plugins.graph import fresh_tenant
from tests.plugins.histories import PREDICATE, SUBJECT, Archive, Item, accounts
from tests.rules.strategies_histories import BASE, END, both_policies

pytestmark = pytest.mark.timeout(3_600)

SCOPES, SUBJECTS, PREDICATES = ("alice", "global"), ("ann", "Bob", "émile"), ("knows", "works_on")
KEYS = sorted(product(SCOPES, (s.casefold() for s in SUBJECTS), PREDICATES))


@few
@given(items=accounts(), by=both_policies, data=st.data())
def test_a_slot_of_a_page_is_the_slot(
    archive: Archive,
    items: list[Item],
    by: Policy,
    data: st.DataObject,
) -> None:
    written = archive.write(items)
    as_of = data.draw(written.moments())
    valid, known = as_of.valid or END, as_of.known
    seen = any(
        e.at <= valid and (known is None or written.recorded[e.id] <= known)
        for e in written.evidence
    )
    for subject in (None, SUBJECT.upper()):
        page = written.handle.beliefs.slots(subject, top=100, as_of=as_of, policy=by)
        # Evidence that was taken back still shows that there is such a slot.
        assert len(page.slots) == seen
        for slot in page.slots:
            assert wrong_slot(written, slot, as_of) == []
            # Only a read of one slot suggests others, if it finds nothing.
            one = written.handle.current(SUBJECT, PREDICATE, as_of=as_of, policy=by)
            assert slot == one.model_copy(update={"nearest": ()})


@pytest.fixture(scope="module")
def shelves(client: Handle) -> Handle:
    """A tenant with a slot for each of KEYS, each value named after its slot."""
    memory = on_tenant(client, fresh_tenant())
    memory.predicates.declare("works_on", cardinality="ONE", at=BASE)
    for scope in SCOPES:
        memory.scope(scope).observe_many(
            {
                "subject": subject,
                "predicate": predicate,
                "object": f"{scope} {subject} {predicate} {n}",
                "confidence": 0.9 - n / 10,
                "at": BASE,
            }
            for subject, predicate, n in product(SUBJECTS, PREDICATES, range(3))
        )
    on_tenant(client, fresh_tenant()).observe("ann", "knows", "nobody here")
    return memory


def walked(handle: Handle, subject: str | None = None, **asked: Any) -> Iterator[Slot]:
    cursor: str | None = None
    while True:
        page = handle.beliefs.slots(subject, cursor=cursor, **asked)
        assert len(page.slots) <= asked.get("limit", 50)
        yield from page.slots
        cursor = page.next_cursor
        if cursor is None:
            return


def key(slot: Slot) -> tuple[str, str, str]:
    return slot.scope, slot.subject.casefold(), slot.predicate


@pytest.mark.parametrize("limit", [1, 5, 12, 1_000])
def test_a_walk_meets_every_slot_once_in_order(shelves: Handle, limit: int) -> None:
    assert [key(slot) for slot in walked(shelves.scope("alice"), limit=limit)] == KEYS
    own = [k for k in KEYS if k[0] == "global"]
    assert [key(slot) for slot in walked(shelves, limit=limit)] == own


@pytest.mark.parametrize("limit", [1, 3])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_walk_over_one_subject(shelves: Handle, subject: str, limit: int) -> None:
    found = [
        key(slot) for slot in walked(shelves.scope("alice"), f" {subject.upper()} ", limit=limit)
    ]
    assert found == [k for k in KEYS if k[1] == subject.casefold()]


def test_each_is_read_by_the_policy_of_its_predicate(shelves: Handle) -> None:
    for slot in walked(shelves.scope("alice")):
        ones = slot.predicate == "works_on"
        assert slot.policy.cardinality is (Cardinality.ONE if ones else Cardinality.MANY)
        own = shelves.scope(slot.scope).current(slot.subject, slot.predicate, limit=3)
        assert slot.model_copy(update={"valid": own.valid}) == own
        assert slot.total == 3
        assert slot.leader is not None
        assert slot.leader.object == f"{slot.scope} {slot.subject} {slot.predicate} 0"
        assert slot.ambiguous is ones


@pytest.mark.parametrize("values", [1, 2, 3])
def test_only_the_best_values_are_shown(shelves: Handle, values: int) -> None:
    for slot in walked(shelves, top=values):
        assert [c.object[-1] for c in slot.candidates] == ["0", "1", "2"][:values]
        assert slot.total == 3


def test_what_was_taken_back_leaves_an_empty_slot(plain: Handle) -> None:
    seen = plain.observe("Ann", "Knows", "Bob")
    plain.beliefs.retract(seen.event_id)
    [slot] = plain.beliefs.slots().slots
    assert (slot.subject, slot.predicate, slot.total, slot.candidates) == ("ann", "knows", 0, ())
    assert slot.leader is None


def test_hypotheses_and_free_statements_make_no_slot(plain: Handle) -> None:
    plain.believe("The pool should have 4 threads")
    plain.believe(subject="ann", predicate="knows", object="Bob")
    assert plain.beliefs.slots().slots == ()


def test_a_superseded_value_is_shown_as_such_and_does_not_lead(plain: Handle) -> None:
    plain.predicates.declare("works_on", cardinality="ONE", at=BASE)
    old = plain.observe("ann", "works_on", "Atlas", at=BASE)
    plain.observe("ann", "works_on", "Borealis", at=BASE, confidence=0.3)
    plain.beliefs.revise(old.belief_id, "Ann works on nothing")
    [slot] = plain.beliefs.slots().slots
    assert [c.status for c in slot.candidates] == ["superseded", "current"]
    assert slot.leader is not None
    assert slot.leader.object == "Borealis"
    [before] = plain.beliefs.slots(as_of=AsOf(valid=BASE)).slots
    assert [c.status for c in before.candidates] == ["current", "current"]
