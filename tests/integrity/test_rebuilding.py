"""Law 3: what is cached is what the events say; a spoilt cache is found, and made anew."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import LiteralString

import pytest

from graphmem import Handle
from graphmem.model import Origin
from graphmem.operations.evidence import writing
from tests.plugins.graph import Look

BASE = datetime(2025, 3, 1, tzinfo=UTC)


@pytest.fixture
def filled(plain: Handle, monkeypatch: pytest.MonkeyPatch) -> Handle:
    """A tenant with one of every cache."""
    bounds = {"newest": 4, "min_events": 4, "longest_s": 0.0}
    monkeypatch.setattr(writing.keep, "__kwdefaults__", bounds)
    monkeypatch.setattr(writing, "NEWEST", 4)
    monkeypatch.setattr(writing, "MIN_EVENTS", 4)
    old = plain.remember("The user lives in Porto", at=BASE)
    plain.supersede(str(old.memory_id), "The user lives in Lisbon")
    belief = plain.believe("The pool should have four threads")
    plain.beliefs.revise(belief, "The pool should have eight threads")
    plain.predicates.declare("works_on", cardinality="ONE", at=BASE)
    plain.observe_many(
        {
            "subject": "alice",
            "predicate": "works_on",
            "object": f"value {n % 3}",
            "at": BASE + timedelta(minutes=n),
            "event_id": f"e{n}",
        }
        for n in range(20)
    )
    return plain


SPOILT: dict[str, LiteralString] = {
    "memory": "MATCH (n:Memory {tenant: $tenant, status: 'superseded'}) SET n.status = 'current'",
    "belief": "MATCH (n:Belief {tenant: $tenant, status: 'superseded'}) SET n.status = 'current'",
    "slot": "MATCH (n:Checkpoint {tenant: $tenant}) SET n.events_for = [x IN n.events_for | x + 1]",
}


def test_what_was_written_is_in_order(filled: Handle) -> None:
    assert filled.admin.verify().wrong == ()
    assert filled.admin.rebuild().checkpointed == 16
    assert filled.admin.verify().wrong == ()


@pytest.mark.parametrize("kind", SPOILT)
def test_a_spoilt_cache_is_found_and_made_anew(
    filled: Handle, look: Look, tenant: str, kind: str
) -> None:
    filled.admin.rebuild()
    before = [slot.model_dump() for slot in filled.current("alice", "works_on").candidates]
    look._driver.execute_query(SPOILT[kind], tenant=tenant)
    assert [one.kind for one in filled.admin.verify().wrong] == [kind]
    filled.admin.rebuild()
    assert filled.admin.verify().wrong == ()
    after = [slot.model_dump() for slot in filled.current("alice", "works_on").candidates]
    assert after == before


@pytest.mark.parametrize(
    "change",
    [
        "n.trace = n.trace + 0.001",
        "n.trace_at = n.trace_at + duration({seconds: 1})",
        "n.trace_full_at = null",
        "n.trace_burst = 7",
        "n.trace_foreign = true",
        "n.trace = null",
    ],
)
def test_a_spoilt_trace_is_found_and_made_anew(
    plain: Handle, look: Look, tenant: str, change: LiteralString
) -> None:
    for n in range(3):
        done = plain.remember("The user lives in Porto", at=BASE + timedelta(hours=10 * n))
    sound = look.rows(STATE, tenant=tenant, id=done.memory_id)
    look._driver.execute_query(
        "MATCH (n:Memory {tenant: $tenant}) WHERE n.id IS NOT NULL SET " + change, tenant=tenant
    )
    [wrong] = plain.admin.verify().wrong
    assert (wrong.kind, wrong.id) == ("memory", done.memory_id)
    assert "trace" in wrong.cached
    assert wrong.found.startswith("current, trace 1.0")
    plain.admin.rebuild()
    assert plain.admin.verify().wrong == ()
    assert look.rows(STATE, tenant=tenant, id=done.memory_id) == sound


STATE = (
    "MATCH (n:Memory {tenant: $tenant, id: $id}) RETURN n.trace AS trace, n.trace_at AS at, "
    "n.trace_full_at AS full_at, n.trace_burst AS burst, n.trace_foreign AS foreign"
)


def test_an_edge_that_is_not_in_force_any_more_is_found(
    filled: Handle, look: Look, tenant: str
) -> None:
    look._driver.execute_query(
        "MATCH (:Memory {tenant: $tenant})-[s:SUPERSEDES]->() SET s.in_force = false", tenant=tenant
    )
    [wrong] = filled.admin.verify().wrong
    assert (wrong.kind, wrong.cached) == ("memory", "superseded, 1 edges otherwise")
    filled.admin.rebuild()
    assert filled.admin.verify().wrong == ()


def test_a_retraction_of_an_id_that_an_alias_took_is_in_order(plain: Handle) -> None:
    plain.beliefs.retract("late", missing_ok=True)
    plain.aliases.add("Bob Smith", "Bob", origin=Origin(event_id="late"))
    assert plain.admin.verify().wrong == ()
    plain.admin.rebuild()
    assert plain.admin.verify().wrong == ()


def test_it_tells_how_far_it_is(filled: Handle) -> None:
    told: list[tuple[str, int]] = []
    filled.admin.verify(lambda kind, count: told.append((kind, count)))
    checked = [("rejection", 2), ("rejection", 5), ("keys", 2), ("keys", 5)]
    wired = [("wiring", 27), ("chain", 2), ("chain", 5)]
    assert told == [*checked, *wired, ("memory", 2), ("belief", 5), ("slot", 1), ("searched", 27)]
