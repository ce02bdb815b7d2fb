"""Law 2 of evidence: any order, and any number of redeliveries, gives the same reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.errors import NotFoundError
from graphmem.model import AsOf, Cardinality, Origin, Policy
from graphmem.rules import claims
from graphmem.rules.formulas import Evidence
from tests.plugins.clients import on_tenant
from tests.plugins.examples import few
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.histories import (
    PREDICATE,
    SOURCES,
    SUBJECT,
    Item,
    Thought,
    Undo,
    accounts,
    clocked,
)
from tests.rules.strategies_histories import (
    BASE,
    CLAIMS,
    EPISODES,
    confidences,
    deliveries,
    instants,
    policies,
)

pytestmark = pytest.mark.timeout(7_200)

SPELLINGS = (str, str.upper, str.title, "  {}".format)
"""Ways to write a name that all mean the same."""
UNSEEN = {"recorded_at"}
"""What tells when something arrived."""


@dataclass(frozen=True)
class Declared:
    """A declaration of how the predicate is read."""

    id: str
    policy: Policy
    at: datetime


Sent = Item | Declared


@st.composite
def orders(draw: st.DrawFn) -> tuple[list[Sent], list[Sent]]:
    """Draw what is sent, and the same in another order, some of it more than once.

    Testimony needs its belief: whatever it is about, something else speaks of too.
    """
    sent: list[Sent] = [*draw(accounts())]
    testified = {e.claim for e in sent if isinstance(e, Evidence) and e.strength is not None}
    for number, claim in enumerate(sorted(testified)):
        sent.append(Thought(f"t{10 + number}", claim, draw(confidences), draw(instants)))
    for number in range(draw(st.integers(0, 2))):
        policy = draw(policies).model_copy(
            update={"cardinality": draw(st.sampled_from(Cardinality))}
        )
        sent.append(Declared(f"p{number}", policy, draw(instants)))
    first = draw(st.permutations(sent))
    return first, draw(deliveries(first))


@few
@given(order=orders(), valid=instants, in_batches=st.booleans())
def test_any_order_and_any_redelivery_reads_the_same(
    plain: Handle,
    look: Look,
    order: tuple[list[Sent], list[Sent]],
    valid: datetime,
    *,
    in_batches: bool,
) -> None:
    first, again = order
    one, other = started(plain), started(plain)

    deliver(one, first, in_batches=in_batches)
    told, events = reads(one, valid), look.events(tenant_of(one))
    deliver(other, again, in_batches=not in_batches)
    assert reads(other, valid) == told

    deliver(one, again, in_batches=not in_batches)
    assert reads(one, valid) == told
    assert look.events(tenant_of(one)) == events


def started(plain: Handle) -> Handle:
    """Return a handle on a fresh tenant that has the episodes."""
    memory = clocked(on_tenant(plain, fresh_tenant()))
    for name in filter(None, EPISODES):
        memory.episodes.add(episode_id=name, at=BASE)
    return memory


def deliver(memory: Handle, sent: Sequence[Sent], *, in_batches: bool) -> None:
    """Send everything; what is refused because its belief is not there yet is sent once more."""
    left: list[Evidence] = []
    batch: list[dict[str, Any]] = []
    for one in sent:
        if in_batches and isinstance(one, Evidence) and one.strength is None:
            batch.append(observation(one))
            continue
        memory.observe_many(batch)
        batch.clear()
        try:
            send(memory, one)
        except NotFoundError:
            assert isinstance(one, Evidence)
            left.append(one)
    memory.observe_many(batch)
    for late in left:
        send(memory, late)


def send(memory: Handle, one: Sent) -> None:
    """Make the one call that says this."""
    if isinstance(one, Undo):
        memory.beliefs.retract(
            one.target, missing_ok=True, origin=Origin(event_id=one.id), at=one.at
        )
    elif isinstance(one, Declared):
        fields = one.policy.model_dump()
        memory.predicates.declare(
            spelt(PREDICATE, one.id), origin=Origin(event_id=one.id), at=one.at, **fields
        )
    elif isinstance(one, Thought):
        memory.believe(
            f"Maybe {one.claim}, says {one.id}" if one.confidence > 0.5 else None,
            **triple(one),
            confidence=one.confidence,
            event_id=one.id,
            at=one.at,
        )
    elif one.strength is None:
        memory.observe(**observation(one))
    else:
        belief_id = belief_of(one.claim)
        where = {"episode_id": one.episode} if one.episode else {}
        memory.add_evidence(belief_id, kind(one), one.strength, event_id=one.id, at=one.at, **where)  # type: ignore[arg-type]


def observation(one: Evidence) -> dict[str, Any]:
    return {
        **triple(one),
        "confidence": one.confidence,
        "kind": kind(one),
        "source_type": SOURCES[one.weight],
        "episode_id": one.episode,
        "event_id": one.id,
        "at": one.at,
    }


def triple(one: Evidence | Thought) -> dict[str, str]:
    return {
        "subject": spelt(SUBJECT, one.id),
        "predicate": spelt(PREDICATE, one.id),
        "object": spelt(one.claim, one.id),
    }


def spelt(name: str, event_id: str) -> str:
    """Return a name as this event writes it."""
    return SPELLINGS[int(event_id[1:]) % len(SPELLINGS)](name)


def kind(one: Evidence) -> str:
    return "supporting" if one.polarity > 0 else "refuting"


def belief_of(claim: str) -> str:
    return claims.triple_claim("global", SUBJECT, PREDICATE, claim).id


def reads(memory: Handle, valid: datetime) -> dict[str, Any]:
    """Return everything that a reader is shown, without when it arrived."""
    present = memory.beliefs.list(limit=1_000, include_superseded=True).beliefs
    known = {belief.id for belief in present}
    past = AsOf(valid=valid)
    return {
        "beliefs": [b.model_dump(exclude=UNSEEN) for b in present],
        "once": [b.model_dump(exclude=UNSEEN) for b in memory.beliefs.list(as_of=past).beliefs],
        "slots": [
            memory.current(SUBJECT, PREDICATE, **by).model_dump()
            for by in (
                {},
                {"as_of": past},
                {"policy": Policy(cardinality=Cardinality.ONE, tau_days=30.0)},
                {"policy": Policy(decay_per_day=0.01), "as_of": past},
            )
        ],
        "trails": [
            memory.evidence_for(belief_of(claim)).model_dump(exclude={"lines": {"__all__": UNSEEN}})
            for claim in CLAIMS
            if belief_of(claim) in known
        ],
        "predicates": [p.model_dump(exclude=UNSEEN) for p in memory.predicates.list()],
    }


def tenant_of(memory: Handle) -> str:
    return memory._state.context.tenant
