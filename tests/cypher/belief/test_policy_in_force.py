"""A predicate is read by the newest policy known, from its start if it has one, or a given one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.model import AsOf, Cardinality, Origin, Policy
from graphmem.rules import identity
from graphmem.rules.formulas import Evidence
from tests.plugins.belief_oracle import wrong_belief, wrong_slot
from tests.plugins.clients import on_tenant
from tests.plugins.examples import few
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.histories import PREDICATE, SUBJECT, Archive, Written, clocked
from tests.rules.strategies_histories import BASE, END, histories, instants, policies

pytestmark = pytest.mark.timeout(3_600)

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Declaration:
    """A policy that was declared, and when that was known."""

    id: str
    policy: Policy
    at: datetime
    recorded_at: datetime
    start: datetime | None

    def holds(self, as_of: AsOf) -> bool:
        """Whether it is seen at a pair of times."""
        known = as_of.known is None or self.recorded_at <= as_of.known
        return known and (self.start is None or self.start <= (as_of.valid or END))


wishes = st.lists(
    st.tuples(
        policies,
        st.sampled_from(Cardinality),
        st.sampled_from("abc"),
        instants,
        st.none() | instants,
    ),
    max_size=4,
)


@few
@given(evidence=histories(), wished=wishes, data=st.data())
def test_the_policy_of_then(
    plain: Handle,
    look: Look,
    evidence: list[Evidence],
    wished: list[tuple[Policy, Cardinality, str, datetime, datetime | None]],
    data: st.DataObject,
) -> None:
    archive = Archive(clocked(on_tenant(plain, fresh_tenant())), look)
    written = archive.write(evidence)
    declared = []
    for number, (policy, cardinality, letter, at, start) in enumerate(wished):
        by = policy.model_copy(update={"cardinality": cardinality})
        declared.append(declare(written, look, f"{letter}{number}", by, at, start))
    knowns = st.sampled_from([None, *(one.recorded_at for one in declared)])
    as_of = AsOf(valid=data.draw(instants), known=data.draw(knowns))

    then = [one for one in declared if one.holds(as_of)]
    reads_by(written, as_of, newest(then))
    reads_by(written, as_of, Policy(kappa=1.0), policy=Policy(kappa=1.0))


def newest(declared: list[Declaration]) -> Policy:
    return max(declared, key=lambda one: (one.at, one.id)).policy if declared else Policy()


def declare(
    written: Written,
    look: Look,
    event_id: str,
    policy: Policy,
    at: datetime,
    start: datetime | None,
) -> Declaration:
    handle = written.handle
    # The newest declaration is returned, which may be an earlier call.
    handle.predicates.declare(
        PREDICATE, origin=Origin(event_id=event_id), at=at, valid_from=start, **policy.model_dump()
    )
    context = handle._state.context
    stored_id = identity.given_event_id(context.scope, context.trust, event_id)
    [row] = look.rows(
        "MATCH (e:Event {tenant: $tenant, id: $id}) RETURN e.recorded_at AS recorded_at",
        tenant=handle._state.context.tenant,
        id=stored_id,
    )
    return Declaration(stored_id, policy, at, row["recorded_at"].to_native(), start)


def reads_by(written: Written, as_of: AsOf, expected: Policy, **by: object) -> None:
    """Hold a slot and its beliefs to what the evidence makes of them by a policy."""
    slot = written.handle.current(SUBJECT, PREDICATE, as_of=as_of, **by)  # type: ignore[arg-type]
    assert slot.policy == expected
    assert wrong_slot(written, slot, as_of) == []
    page = written.handle.beliefs.list(as_of=as_of, **by)  # type: ignore[arg-type]
    assert [p for b in page.beliefs for p in wrong_belief(written, b, as_of, expected)] == []


def test_declaring_one_changes_reads_and_no_event(plain: Handle, look: Look) -> None:
    memory = clocked(plain)
    tenant = memory._state.context.tenant
    memory.observe(SUBJECT, PREDICATE, "Borealis", confidence=0.8, at=BASE)
    memory.observe(SUBJECT, PREDICATE, "Atlas", confidence=0.9, at=BASE + 4 * DAY)
    before, many = look.events(tenant), memory.current(SUBJECT, PREDICATE)
    memory.predicates.declare(
        PREDICATE, cardinality="ONE", origin=Origin(event_id="p"), at=BASE + 10 * DAY
    )
    after, one = look.events(tenant), memory.current(SUBJECT, PREDICATE)

    assert {k: v for k, v in after.items() if k != "p"} == before
    # One episode of 0.9 alone: odds of 1 to 1 - 0.9.
    assert [c.belief for c in many.candidates] == pytest.approx([1 / 1.1, 1 / 1.2])
    assert [c.object for c in one.candidates] == ["Atlas", "Borealis"]
    assert one.candidates[1].belief < 0.1
    earlier = AsOf(valid=BASE + 9 * DAY)
    assert memory.current(SUBJECT, PREDICATE, as_of=earlier).candidates == one.candidates


def test_a_policy_is_one_tenants_own(plain: Handle) -> None:
    one, other = clocked(plain), clocked(on_tenant(plain, fresh_tenant()))
    one.predicates.declare(PREDICATE, cardinality="ONE", at=BASE)
    for memory in (one, other):
        memory.observe(SUBJECT, PREDICATE, "Atlas", at=BASE)
    assert one.current(SUBJECT, PREDICATE).policy.cardinality is Cardinality.ONE
    assert other.current(SUBJECT, PREDICATE).policy == Policy()
    assert other.predicates.list() == []
    # A policy holds in every scope of its tenant.
    scoped = one.scope("elsewhere")
    scoped.observe("bob", PREDICATE, "Atlas", at=BASE)
    assert scoped.current("bob", PREDICATE).policy.cardinality is Cardinality.ONE
