"""Predicate keys of graphs that were written before keys were normalised."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import LiteralString

from graphmem import Handle, catalog
from graphmem.model import Origin
from graphmem.operations import evidence
from graphmem.ports import run_now
from graphmem.rules import claims, identity
from graphmem.schema import data_migrations
from tests.plugins.faults import OnlyTenants
from tests.plugins.graph import Look

MAY = datetime(2025, 5, 5, tzinfo=UTC)
DAY = timedelta(days=1)
STATEMENTS = [
    q
    for m in catalog.migrations()
    for q in m.statements
    if q.params & {data_migrations.RESPELT_BELIEFS, data_migrations.RESPELT_PREDICATES}
]
FORMER: LiteralString = (
    "MATCH (b:Belief {tenant: $tenant, id: $id}) "
    "SET b.id = $former, b.predicate_key = $key, b.slot_id = $slot WITH b "
    "OPTIONAL MATCH (b)<-[r:SUPPORTS|REFUTES]-() SET r.slot_id = $slot"
)
RENAME: LiteralString = (
    "MATCH (p:Predicate {tenant: $tenant, key: 'lives_in'}) SET p.key = 'lives in'"
)


def observe_before(memory: Handle, look: Look, tenant: str, city: str, day: int) -> str:
    """Observe as an earlier version stored it, and return the id of the belief."""
    done = memory.observe("alice", "lives in", city, at=MAY + day * DAY)
    former = identity.digest("alice", "lives in", claims.name_key(city))
    belief_id = "b_" + identity.digest("global", former)[:32]
    look._driver.execute_query(
        FORMER,
        tenant=tenant,
        id=done.belief_id,
        former=belief_id,
        key="lives in",
        slot=claims.slot_id_of_keys("global", "alice", "lives in"),
    )
    return belief_id


async def nothing() -> None:
    """Renew no lease."""


def migrate(memory: Handle) -> None:
    context = memory._state.context
    graph = OnlyTenants(context.services.graph, context.tenant)
    for statement in STATEMENTS:
        run_now(data_migrations.fill(replace(context.services, graph=graph), statement, nothing))


def test_beliefs_and_declarations_get_the_normalised_key(
    plain: Handle, look: Look, tenant: str
) -> None:
    porto = observe_before(plain, look, tenant, "Porto", 0)
    faro = observe_before(plain, look, tenant, "Faro", 1)
    plain.predicates.declare("lives in", kappa=1, at=MAY, origin=Origin(event_id="p1"))
    look._driver.execute_query(RENAME, tenant=tenant)
    plain.predicates.declare("lives_in", kappa=2, at=MAY - DAY, origin=Origin(event_id="p0"))
    plain.beliefs.get(porto)
    assert plain.current("alice", "lives_in").candidates == ()
    before = look.events(tenant)

    migrate(plain)

    slot = plain.current("alice", "lives-in")
    assert {c.belief_id for c in slot.candidates} == {porto, faro}
    assert slot.policy.kappa == 1
    assert [p.name for p in plain.predicates.list()] == ["lives in"]
    strip = [{**e, "edges": sorted(map(str, e["edges"]))} for e in before.values()]
    after = [{**e, "edges": sorted(map(str, e["edges"]))} for e in look.events(tenant).values()]
    assert after == strip
    graph = look.graph(tenant)
    migrate(plain)
    assert look.graph(tenant) == graph


def test_a_fact_stated_again_counts_with_the_belief_from_before(
    plain: Handle, look: Look, tenant: str
) -> None:
    porto = observe_before(plain, look, tenant, "Porto", 0)
    observe_before(plain, look, tenant, "Faro", 1)
    migrate(plain)
    context = plain._state.context
    said = {"subject": "alice", "predicate": "lives_in", "object": "Porto"}
    plain.observe_many([{**said, "at": MAY + timedelta(hours=50 + n)} for n in range(300)])
    [place] = [s for s in run_now(evidence.long_slots(context)) if s.predicate_key == "lives_in"]
    assert run_now(evidence.keep_checkpoint(context, place, longest_s=0.0)) == 0
    slot = plain.current("alice", "lives_in")
    assert [c.object for c in slot.candidates] == ["Porto", "Faro"]
    assert slot.candidates[0].events == 301
    # Evidence of the belief from before alone would make a checkpoint that a repetition splits.
    again = plain.observe("alice", "lives_in", "Porto").belief_id
    assert again != porto
    reasons = plain.why(again)
    assert [one.belief_id for one in reasons.alias_beliefs] == [porto]  # type: ignore[union-attr]
    assert plain.admin.verify().wrong == ()
