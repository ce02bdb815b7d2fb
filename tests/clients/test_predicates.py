"""How the evidence of a predicate is read: declared, changed, and as it was at the time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import Handle
from graphmem.errors import EventConflictError, InvalidInputError
from graphmem.model import AsOf, Cardinality, Combine, Policy
from tests.plugins.clients import on_tenant
from tests.plugins.graph import Look, fresh_tenant

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def said(memory: Handle) -> None:
    memory.observe("alice", "in", "Porto", confidence=0.6, at=MAY)
    memory.observe("alice", "in", "Faro", confidence=0.8, at=MAY + DAY)


def read(memory: Handle, **by: Any) -> str:
    """By which cardinality the slot was read."""
    slot = memory.current("alice", "in", **by)
    is_many = all(c.positive is not None for c in slot.candidates)
    assert is_many is (slot.policy.cardinality == Cardinality.MANY)
    return str(slot.policy.cardinality)


def test_nobody_needs_to_declare_a_predicate(memory: Handle) -> None:
    said(memory)
    slot = memory.current("alice", "in")
    assert slot.policy == Policy()
    assert slot.policy.cardinality == Cardinality.MANY
    assert memory.predicates.list() == []


def test_declaring_it_later_changes_reads_and_no_event(
    memory: Handle, look: Look, tenant: str
) -> None:
    said(memory)
    before = look.events(tenant)
    assert read(memory) == "MANY"

    done = memory.predicates.declare(
        "In", cardinality="ONE", kappa=1, margin=0.2, at=MAY, event_id="p1"
    )

    assert read(memory) == "ONE"
    slot = memory.current("alice", "in")
    assert slot.policy == Policy(cardinality=Cardinality.ONE, kappa=1, margin=0.2)
    assert [c.object for c in slot.candidates] == ["Faro", "Porto"]
    after = look.events(tenant)
    assert {k: after[k] for k in before} == before
    event = after["p1"]
    assert (event["type"], event["cardinality"], event["kappa"]) == ("POLICY", "ONE", 1.0)
    assert (event["scope"], event["edges"][0][:2]) == ("global", ["CONCERNS", "Predicate"])
    assert (done.name, done.event_id, done.template) == ("In", "p1", None)
    assert (done.policy, done.occurred_at) == (slot.policy, MAY)
    assert memory.predicates.list() == [done]


def test_the_past_is_read_by_the_policy_of_the_past(
    memory: Handle, look: Look, tenant: str
) -> None:
    said(memory)
    memory.predicates.declare("in", cardinality="ONE", at=MAY + 2 * DAY, event_id="p1")
    memory.predicates.declare(
        "in", cardinality="MANY", combine="net", at=MAY + 4 * DAY, event_id="p2"
    )

    assert [read(memory, as_of=AsOf(valid=MAY + n * DAY)) for n in range(1, 6)] == [
        "MANY",
        "ONE",
        "ONE",
        "MANY",
        "MANY",
    ]
    then = AsOf(valid=MAY + 2 * DAY)
    present = memory.current("alice", "in", as_of=then, present_policy=True)
    assert present.policy.combine == Combine.NET
    given = Policy(cardinality=Cardinality.ONE, kappa=0)
    assert memory.current("alice", "in", as_of=AsOf(valid=MAY + DAY), policy=given).policy == given
    # Known, too: before the second declaration was recorded, the first held.
    first = AsOf(known=look.events(tenant)["p1"]["recorded_at"].to_native())
    assert read(memory, as_of=first) == "ONE"
    assert read(memory) == "MANY"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_newest_declaration_holds_whatever_the_order_of_arrival(
    memory: Handle, order: Sequence[int]
) -> None:
    told: list[dict[str, Any]] = [
        {"name": "IN", "at": MAY, "cardinality": "ONE", "template": "{subject} @ {object}"},
        {"name": "In", "at": MAY + DAY, "cardinality": "ONE", "tau_days": 5, "event_id": "a"},
        {
            "name": "in",
            "at": MAY + DAY,
            "kappa": 9,
            "event_id": "b",
            "template": "{subject} in {object}",
        },
    ]
    for place in order:
        done = memory.predicates.declare(**told[place])
    [found] = memory.predicates.list()
    assert found == done if order[-1] == 2 else found.event_id == "b"
    assert (found.name, found.template) == ("in", "{subject} in {object}")
    assert found.policy == Policy(kappa=9)
    assert memory.beliefs.get(memory.observe("alice", "in", "Porto")).statement == "alice in Porto"


def test_a_policy_is_its_tenants_and_every_scopes(memory: Handle) -> None:
    memory.scope("alice").predicates.declare("in", cardinality="ONE", at=MAY)
    for handle in (memory, memory.scope("bob")):
        said(handle)
        assert read(handle) == "ONE"
        assert [p.name for p in handle.predicates.list()] == ["in"]
    other = on_tenant(memory, fresh_tenant())
    said(other)
    assert read(other) == "MANY"
    assert other.predicates.list() == []


def test_a_declaration_under_a_repeated_id(memory: Handle, look: Look, tenant: str) -> None:
    given: dict[str, Any] = {"cardinality": "ONE", "at": MAY, "event_id": "p", "note": "why"}
    first = memory.predicates.declare("in", **given)
    before = look.events(tenant)
    assert memory.predicates.declare("in", **given) == first
    assert memory.predicates.declare(" IN ", **given) == first
    assert json.loads(before["p"]["payload"])["note"] == "why"
    for name, other in (
        ("at", {}),
        ("in", {"cardinality": "MANY"}),
        ("in", {"kappa": 2.5}),
        ("in", {"tau_days": 3}),
        ("in", {"decay_per_day": 0.5}),
        ("in", {"margin": 0.5}),
        ("in", {"combine": "net"}),
        ("in", {"template": "{subject} in {object}"}),
        ("in", {"at": None}),
        ("in", {"source": "hook"}),
        ("in", {"actor": "bob"}),
        ("in", {"artifact_ref": "x"}),
        ("in", {"note": None}),
    ):
        with pytest.raises(EventConflictError):
            memory.predicates.declare(name, **{**given, **other})
    assert look.events(tenant) == before
    assert look.count(tenant) == {"Event": 1, "Predicate": 1}


def test_predicates_are_listed_by_name(memory: Handle) -> None:
    for name in ("works_on", "Lives_In", "ate"):
        memory.predicates.declare(name)
    assert [p.name for p in memory.predicates.list()] == ["ate", "Lives_In", "works_on"]


@pytest.mark.parametrize(
    "template",
    ["", "{subject}", "{object}", "{subject} {object} {x}", "{subject} {object} {}", "x" * 201, 5],
    ids=lambda t: repr(t)[:30],
)
def test_a_template_names_subject_and_object(
    memory: Handle, look: Look, tenant: str, template: Any
) -> None:
    with pytest.raises(InvalidInputError, match="template") as caught:
        memory.predicates.declare("in", template=template)
    assert caught.value.hint or "template: " in str(caught.value)
    assert look.count(tenant) == {}


@pytest.mark.parametrize("template", ["{subject}{object}", "{object} {{of}} {subject}, {object}!"])
def test_a_template_may_say_them_in_any_way(memory: Handle, template: str) -> None:
    if "{{" in template:
        with pytest.raises(InvalidInputError):
            memory.predicates.declare("in", template=template)
        return
    memory.predicates.declare("in", template=template)
    kept = memory.beliefs.get(memory.observe("$1\\g<0>", "in", "{subject}"))
    assert kept.statement == "$1\\g<0>{subject}"


@pytest.mark.parametrize(
    "given",
    [
        {"cardinality": "one"},
        {"cardinality": "TWO"},
        {"kappa": -1},
        {"kappa": float("nan")},
        {"kappa": 1_001},
        {"tau_days": 0},
        {"tau_days": float("inf")},
        {"decay_per_day": -0.1},
        {"margin": 1.1},
        {"combine": "mean"},
        {"at": datetime(2025, 5, 5)},  # noqa: DTZ001
        {"at": datetime(9999, 1, 1, tzinfo=UTC)},
    ],
    ids=lambda given: repr(given)[:25],
)
def test_a_declaration_fits(memory: Handle, look: Look, tenant: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        memory.predicates.declare("in", **given)
    assert next(iter(given)) in str(caught.value) or "future" in str(caught.value)
    assert look.count(tenant) == {}
