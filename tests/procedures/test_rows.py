"""A CALL returns the rows of the catalog's own query, for every procedure that is offered."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from neo4j.time import DateTime

from graphmem import Handle
from graphmem.graph import catalog
from graphmem.ports import Mode
from tests.plugins.examples import sample
from tests.procedures.cases import SILENT, needed
from tests.procedures.conftest import OFFERS, Asked, Populated, Rows, values

pytestmark = pytest.mark.timeout(600)


def alike(a: Any, b: Any) -> bool:
    """Whether two values are the same but for what fades between two reads."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-9)
    if isinstance(a, DateTime) and isinstance(b, DateTime):
        return abs(a.to_native() - b.to_native()) < timedelta(minutes=1)  # now, and a little later
    return bool(a == b)


def test_every_reading_procedure_of_a_tenant_is_offered_and_has_a_case(
    populated: Populated,
) -> None:
    found = map(catalog.procedure, catalog.names())
    reading = {p.name for p in found if p.mode is Mode.READ and not p.name.startswith("schema/")}
    assert OFFERS.keys() == reading
    cases = needed(populated)
    assert cases.keys() == reading
    for name, offer in OFFERS.items():
        required = {one.name for one in offer.arguments if one.required}
        assert cases[name].keys() | {"tenant"} == required, name


def filled(rows: Rows) -> bool:
    """Whether rows say anything."""
    return any(value not in (None, [], 0, "", False) for row in rows for value in row.values())


@pytest.mark.parametrize("name", sample(OFFERS, 8))
def test_a_call_returns_the_rows_of_the_query_also_when_it_assumes_what_it_can(
    asked: Asked, populated: Populated, name: str
) -> None:
    offer, needs = OFFERS[name], needed(populated)[name]
    given = values(offer, replace(populated, at=datetime.now(UTC)), needs)
    every = [given[one.name] for one in offer.arguments]
    required = [given[one.name] for one in offer.arguments if one.required]
    # BM25 depends on all that the indexes hold: other tests may change a score between two reads.
    for _ in range(50):
        called = asked.call(offer, every)
        queried, assumed = asked.query(name, given), asked.call(offer, required)
        if asked.call(offer, every) == called:
            break
    else:
        pytest.fail("two equal calls never returned the same rows")
    assert called == queried
    assert filled(called) is (name not in SILENT)
    assert [*(called or [{}])[0]] in (
        [],
        [column.name for column in offer.columns if column.name != "now"],
    )
    assert alike(assumed, called)


def test_the_values_of_a_slot_as_a_person_asks_for_them(
    asked: Asked, plain: Handle, tenant: str
) -> None:
    plain.predicates.declare("works_on", cardinality="ONE")
    for value, confidence in (("Borealis", 0.80), ("Atlas", 0.81)):
        plain.observe("alice", "works_on", value, confidence=confidence)
    rows = asked.run(
        "CALL graphmem.belief.slot_values($tenant, 'global', ['global'], 'alice', 'works_on') "
        "YIELD object, belief, ambiguous RETURN object, belief, ambiguous",
        {"tenant": tenant},
    )
    slot = plain.current("alice", "works_on")
    assert [(r["object"], r["ambiguous"]) for r in rows] == [
        (one.object, one.ambiguous) for one in slot.candidates
    ]
    assert [r["belief"] for r in rows] == pytest.approx([one.belief for one in slot.candidates])


def test_a_map_given_in_part_is_completed(asked: Asked, populated: Populated) -> None:
    belief = {"tenant": populated.tenant, "id": populated.known["belief"]}
    text = (
        "CALL graphmem.belief.test($tenant, ['global'], $id, datetime(), null, null, $test) "
        "YIELD verdict RETURN verdict.status AS status"
    )
    assert asked.run(text, {**belief, "test": {}}) == [{"status": "accumulating"}]
    assert asked.run(text, {**belief, "test": {"upper": 0.1}}) == [{"status": "promoted"}]


def test_a_caller_that_stops_early_leaves_nothing_open(asked: Asked, populated: Populated) -> None:
    text = "CALL graphmem.metrics.sizes($tenant) YIELD kind RETURN kind LIMIT 1"
    for _ in range(20):
        assert len(asked.run(text, {"tenant": populated.tenant})) == 1
