"""Law 2: any order of delivery, and any number of redeliveries, gives the same reads.

A text that returns after it was replaced appends the replacement of its successors, so what a
statement of a replaced text appends depends on what arrived before it. Only such statements keep
their order here, after all corrections.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Handle, NewMemory, Status
from graphmem.model import Origin
from tests.plugins.clients import on_tenant, with_empty_log
from tests.plugins.examples import examples
from tests.plugins.graph import Look, fresh_tenant, has_cycle
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
TEXTS = [unlike(n, about=f"topic{n}") for n in range(4)]
EXAMPLES = examples(4, 60, 400)


@dataclass(frozen=True)
class Sent:
    """One call with its own id and instant, so that it says the same whenever it arrives."""

    id: str
    act: str
    about: int
    instead: int
    hour: int
    tag: str

    def deliver(self, memory: Handle, ids: list[str]) -> None:
        at = MAY + timedelta(days=1, hours=self.hour)
        if self.act == "remember":
            # Minutes past: a statement and a correction of one instant have no order of their own.
            at += timedelta(minutes=1 + int(self.id[1:]))
            memory.remember(TEXTS[self.about], at=at, event_id=self.id, tags=[self.tag])
        elif self.act == "supersede" and self.about != self.instead:
            memory.supersede(
                ids[self.about],
                TEXTS[self.instead],
                at=at,
                origin=Origin(event_id=self.id),
                tags=[self.tag],
                fork=True,
            )
        elif self.act in ("memories.deprecate", "memories.restore"):
            attrgetter(self.act)(memory)(ids[self.about], at=at, origin=Origin(event_id=self.id))


@st.composite
def deliveries(draw: st.DrawFn) -> tuple[list[Sent], list[Sent]]:
    """Draw calls, and the same calls in another order, some of them more than once."""

    def settled(calls: list[Sent]) -> list[Sent]:
        moved = {n for c in calls if c.act == "supersede" for n in (c.about, c.instead)}
        last = [c for c in calls if c.act == "remember" and c.about in moved]
        return [c for c in calls if c not in last] + sorted(last, key=attrgetter("hour", "id"))

    place = st.integers(0, len(TEXTS) - 1)
    sent = [
        Sent(
            id=f"{draw(st.sampled_from('abc'))}{n}",
            act=draw(
                st.sampled_from(["remember", "supersede", "memories.deprecate", "memories.restore"])
            ),
            about=draw(place),
            instead=draw(place),
            hour=draw(st.integers(0, 3)),
            tag=draw(st.sampled_from("xyz")),
        )
        for n in range(draw(st.integers(1, 8)))
    ]
    again = draw(st.lists(st.sampled_from(sent), max_size=4))
    return settled(sent), settled(draw(st.permutations([*sent, *again])))


def reads(memory: Handle, look: Look) -> dict[str, Any]:
    """Return everything that a reader is shown, without when and how it arrived."""
    listed = memory.memories.list(statuses=list(Status), limit=1_000).memories
    tenant = memory._state.context.tenant
    edges = look.edges(tenant)
    assert not has_cycle(edges)
    return {
        "memories": [m.model_dump(exclude={"recorded_at"}) for m in listed],
        "got": [memory.memories.get(m.id).model_dump(exclude={"recorded_at"}) for m in listed],
        "chains": {m.id: set(memory.memories.chain(m.id).head_ids) for m in listed},
        "edges": {(e.newer, e.older, e.event_id, e.occurred_at, e.in_force) for e in edges},
        "recall": {
            bite.memory.id for bite in memory.recall(" ".join(TEXTS)).bites if bite.kind == "memory"
        },
    }


def started(plain: Handle) -> tuple[Handle, list[str]]:
    memory = with_empty_log(on_tenant(plain, fresh_tenant()))
    done = memory.remember_many(
        [NewMemory(content=text, at=MAY, event_id=f"base{n}") for n, text in enumerate(TEXTS)]
    )
    return memory, [str(o.memory_id) for o in done]


@settings(max_examples=EXAMPLES)
@given(order=deliveries())
def test_any_order_and_any_redelivery_reads_the_same(
    plain: Handle, look: Look, order: tuple[list[Sent], list[Sent]]
) -> None:
    found = []
    for calls in order:
        memory, ids = started(plain)
        for call in calls:
            call.deliver(memory, ids)
        found.append(reads(memory, look))
    assert found[0] == found[1]


@settings(max_examples=EXAMPLES)
@given(order=deliveries())
def test_everything_sent_again_changes_nothing(
    plain: Handle, look: Look, order: tuple[list[Sent], list[Sent]]
) -> None:
    memory, ids = started(plain)
    tenant = memory._state.context.tenant
    for call in order[0]:
        call.deliver(memory, ids)
    before = (look.events(tenant), look.count(tenant), reads(memory, look))

    for call in order[1]:
        call.deliver(memory, ids)

    assert (look.events(tenant), look.count(tenant), reads(memory, look)) == before


@pytest.mark.parametrize("batched", [True, False])
def test_a_shuffled_conversation_of_the_same_ids_leaves_the_same(
    plain: Handle, look: Look, *, batched: bool
) -> None:
    wishes = [
        NewMemory(
            content=TEXTS[n % 4], at=MAY + timedelta(hours=n), event_id=f"w{n}", tags=(f"t{n}",)
        )
        for n in range(12)
    ]
    found = []
    for order in (wishes, wishes[::-1], wishes[6:] + wishes[:6] + wishes[3:9]):
        memory = on_tenant(plain, fresh_tenant())
        for part in [order] if batched else [[wish] for wish in order]:
            memory.remember_many(part)
        found.append(reads(memory, look))
    assert found[0] == found[1] == found[2]
    assert [m["reinforce_count"] for m in found[0]["memories"]] == [2] * 4
