"""Checkpoints: a read that goes on from one gives what a read from zero gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.errors import GraphUnavailableError
from graphmem.model import AsOf, Cardinality, Combine, Origin, Policy, Slot
from graphmem.operations import belief
from graphmem.operations.evidence import writing
from graphmem.ports import RequestContext, run_now
from graphmem.rules import claims
from graphmem.rules.read_options import ReadOptions
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import Look, fresh_tenant

BASE = datetime(2025, 3, 1, tzinfo=UTC)
SPOILT = 1_000
ONE = Policy(cardinality=Cardinality.ONE)
POLICIES = (
    ONE,
    Policy(cardinality=Cardinality.ONE, decay_per_day=0.01, margin=0.3),
    Policy(cardinality=Cardinality.MANY),
    Policy(cardinality=Cardinality.MANY, combine=Combine.NET),
    Policy(cardinality=Cardinality.MANY, decay_per_day=0.1),
)


def place(scope: str = "global") -> writing.SlotKey:
    """Where the slot of these tests is."""
    return writing.SlotKey(claims.slot_id(scope, "alice", "works_on"), scope, "alice", "works_on")


def read(
    context: RequestContext, policy: Policy, *, from_zero: bool, valid: datetime | None = None
) -> Slot:
    by = ReadOptions(as_of=AsOf(valid=valid), policy=policy)
    return run_now(belief.current(context, "alice", "works_on", by, limit=100, from_zero=from_zero))


def flat(slot: Slot) -> list[dict[str, Any]]:
    return [candidate.model_dump() for candidate in slot.candidates]


def same(found: Slot, expected: Slot) -> None:
    """Numbers may differ in the ninth digit, nothing else may."""
    pairs = list(zip(flat(found), flat(expected), strict=True))
    for here, there in pairs:
        for name, value in there.items():
            if isinstance(value, float):
                assert math.isclose(here[name], value, rel_tol=1e-9, abs_tol=1e-9), name
            else:
                assert here[name] == value, name


@dataclass(frozen=True)
class Told:
    """One step: a batch of evidence, a retraction, or a checkpoint."""

    kind: str
    rows: tuple[tuple[int, int, bool, float, int | None], ...] = ()
    """Of a batch: value, hour, supporting, confidence, episode."""
    pick: int = 0


rows = st.tuples(
    st.integers(0, 3),
    st.integers(0, 400),
    st.booleans(),
    st.sampled_from([0.0, 0.3, 0.7, 0.95, 1.0]),
    st.none() | st.integers(0, 2),
)
steps = st.one_of(
    st.builds(Told, st.just("observe"), st.lists(rows, min_size=1, max_size=12).map(tuple)),
    st.builds(Told, st.just("keep")),
    st.builds(Told, st.just("retract"), st.just(()), st.integers(0, 200)),
)


def tell(memory: Handle, step: Told, ids: list[str], episodes: Sequence[str]) -> None:
    if step.kind == "observe":
        batch = [
            {
                "subject": "alice",
                "predicate": "works_on",
                "object": f"value {value}",
                "at": BASE + timedelta(hours=hour),
                "kind": "supporting" if supporting else "refuting",
                "confidence": confidence,
                "source_type": ("TOOL", "EXTRACTOR")[hour % 2],
                "episode_id": None if episode is None else episodes[episode],
                "event_id": f"e{len(ids) + n}",
            }
            for n, (value, hour, supporting, confidence, episode) in enumerate(step.rows)
        ]
        ids += [done.event_id for done in memory.observe_many(batch)]
    elif step.kind == "retract" and ids:
        memory.beliefs.retract(ids[step.pick % len(ids)])
    elif step.kind == "keep":
        run_now(writing.keep(memory._state.context, place(), newest=4, min_events=1, longest_s=0.0))


@settings(max_examples=examples(3, 60, 600))
@given(st.lists(steps, min_size=2, max_size=7))
def test_going_on_from_a_checkpoint_is_reading_from_zero(plain: Handle, told: list[Told]) -> None:
    memory = on_tenant(plain, fresh_tenant())
    memory.predicates.declare("works_on", cardinality="ONE", at=BASE)
    episodes = [memory.episodes.add(session_id=f"s{n}") for n in range(3)]
    ids: list[str] = []
    for step in [*told, Told("keep")]:
        tell(memory, step, ids, episodes)
        to = memory._state.context
        for policy in POLICIES:
            same(read(to, policy, from_zero=False), read(to, policy, from_zero=True))
    past = BASE + timedelta(hours=200)
    same(
        read(memory._state.context, ONE, from_zero=False, valid=past),
        read(memory._state.context, ONE, from_zero=True, valid=past),
    )


def kept(look: Look, tenant: str) -> list[dict[str, Any]]:
    return look.rows(
        "MATCH (c:Checkpoint {tenant: $tenant}) WHERE c.slot_id IS NOT NULL "
        "RETURN c.until AS until, size(c.ids) AS values, "
        "  reduce(n = 0, x IN c.events_for | n + x) + reduce(n = 0, x IN c.events_against | n + x) "
        "  AS events, size(c.newest) AS newest",
        tenant=tenant,
    )


def filled(memory: Handle, count: int, *, start: int = 0) -> None:
    memory.observe_many(
        {
            "subject": "alice",
            "predicate": "works_on",
            "object": f"value {n % 3}",
            "at": BASE + timedelta(minutes=n),
            "event_id": f"e{n}",
        }
        for n in range(start, start + count)
    )


def keep(memory: Handle, **bounds: Any) -> int:
    return run_now(writing.keep(memory._state.context, place(), **{"longest_s": 0.0, **bounds}))


def test_the_newest_stay_out_and_the_rest_is_held(plain: Handle, look: Look, tenant: str) -> None:
    plain.predicates.declare("works_on", cardinality="ONE", at=BASE)
    filled(plain, 60)
    assert keep(plain, newest=10, min_events=20) == 50
    assert kept(look, tenant)[0] | {"until": None} == {
        "until": None,
        "values": 3,
        "events": 50,
        "newest": 10,
    }
    assert keep(plain, newest=10, min_events=20) == 0
    filled(plain, 20, start=60)
    assert keep(plain, newest=10, min_events=20) == 20
    assert kept(look, tenant)[0]["events"] == 70


def test_a_short_slot_has_none(plain: Handle, look: Look, tenant: str) -> None:
    filled(plain, 5)
    assert keep(plain) == 0
    assert kept(look, tenant) == []


def test_what_may_be_under_way_stays_out(plain: Handle, look: Look, tenant: str) -> None:
    filled(plain, 40)
    assert keep(plain, newest=1, min_events=1, longest_s=30.0) == 0
    assert kept(look, tenant) == []


def spoil(look: Look, tenant: str) -> None:
    """Make a checkpoint say what no event says: a read that shows it has gone on from it."""
    look._driver.execute_query(
        "MATCH (c:Checkpoint {tenant: $tenant}) SET c.events_for = [n IN c.events_for | n + $more]",
        tenant=tenant,
        more=SPOILT,
    )


def test_a_read_uses_it(plain: Handle, look: Look, tenant: str) -> None:
    plain.predicates.declare("works_on", cardinality="ONE", at=BASE)
    filled(plain, 30)
    keep(plain, newest=3, min_events=3)
    spoil(look, tenant)
    assert sum(c.events for c in plain.current("alice", "works_on").candidates) == 30 + 3 * SPOILT


def test_a_late_event_and_other_weights_are_read_from_zero(
    plain: Handle, look: Look, tenant: str
) -> None:
    plain.predicates.declare("works_on", cardinality="ONE", at=BASE)
    filled(plain, 30)
    keep(plain, newest=3, min_events=3)
    spoil(look, tenant)
    plain.observe("alice", "works_on", "value 1", at=BASE + timedelta(minutes=1))
    assert sum(c.events for c in plain.current("alice", "works_on").candidates) == 31


def test_a_retraction_drops_it(plain: Handle, look: Look, tenant: str) -> None:
    filled(plain, 30)
    keep(plain, newest=3, min_events=3)
    assert len(kept(look, tenant)) == 1
    plain.beliefs.retract("e4", origin=Origin(event_id="r1"))
    assert kept(look, tenant) == []
    keep(plain, newest=3, min_events=3)
    plain.beliefs.retract("r1")
    assert kept(look, tenant) == []


def test_writing_looks_after_long_slots(
    plain: Handle, look: Look, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        writing.keep, "__kwdefaults__", {"newest": 8, "min_events": 8, "longest_s": 0.0}
    )
    filled(plain, 700)
    # One event in 256 has its slot looked after: among 700 ids some are due.
    assert kept(look, tenant)[0]["events"] >= 600


def test_a_write_stands_when_the_checkpoint_fails(
    plain: Handle, look: Look, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(*_: Any, **__: Any) -> int:
        raise GraphUnavailableError

    monkeypatch.setattr(writing, "keep", failing)
    filled(plain, 700)
    assert sum(c.events for c in plain.current("alice", "works_on").candidates) == 700
