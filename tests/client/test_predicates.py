"""How the evidence of a predicate is read: declared, changed, and as it was at the time."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import GraphMem, Handle
from graphmem.errors import CardinalityConflictError, EventConflictError, InvalidInputError
from graphmem.model import AsOf, Cardinality, Combine, Origin, Policy, PolicyOrigin, Triple
from graphmem.operations.evidence import writing
from tests.plugins.clients import by, on_tenant
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.origins import with_origin

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
    assert slot.policy_origin is PolicyOrigin.DEFAULT
    assert memory.predicates.list() == []


def test_declaring_it_later_changes_reads_and_no_event(
    memory: Handle, look: Look, tenant: str
) -> None:
    said(memory)
    before = look.events(tenant)
    assert read(memory) == "MANY"

    done = memory.predicates.declare(
        "In", cardinality="ONE", kappa=1, margin=0.2, at=MAY, origin=Origin(event_id="p1")
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


def test_the_newest_known_declaration_applies_to_every_valid_time(
    memory: Handle, look: Look, tenant: str
) -> None:
    said(memory)
    memory.predicates.declare(
        "in", cardinality="ONE", at=MAY + 2 * DAY, origin=Origin(event_id="p1")
    )
    memory.predicates.declare(
        "in", cardinality="MANY", combine="net", at=MAY + 4 * DAY, origin=Origin(event_id="p2")
    )

    for n in range(6):
        slot = memory.current("alice", "in", as_of=AsOf(valid=MAY + n * DAY))
        assert (slot.policy.combine, slot.policy_origin) == (Combine.NET, PolicyOrigin.DECLARED)
    given = Policy(cardinality=Cardinality.ONE, kappa=0)
    slot = memory.current("alice", "in", as_of=AsOf(valid=MAY + DAY), policy=given)
    assert (slot.policy, slot.policy_origin) == (given, PolicyOrigin.GIVEN)
    # Before the second declaration was recorded, the first applied, at every valid time.
    known = look.events(tenant)["p1"]["recorded_at"].to_native()
    assert read(memory, as_of=AsOf(known=known)) == "ONE"
    assert read(memory, as_of=AsOf(valid=MAY + DAY, known=known)) == "ONE"
    unknown = AsOf(known=known - timedelta(microseconds=1))
    assert read(memory, as_of=unknown) == "MANY"
    assert memory.current("alice", "in", as_of=unknown).policy_origin is PolicyOrigin.DEFAULT


def test_a_declaration_may_apply_from_a_valid_time(memory: Handle) -> None:
    said(memory)
    memory.predicates.declare("in", cardinality="ONE", at=MAY, origin=Origin(event_id="p1"))
    start = MAY + 2 * DAY
    done = memory.predicates.declare(
        "in", valid_from=start, at=MAY + DAY, origin=Origin(event_id="p2")
    )
    assert (done.valid_from, memory.predicates.list()) == (start, [done])
    read_on = [read(memory, as_of=AsOf(valid=MAY + n * DAY)) for n in range(4)]
    assert read_on == ["ONE", "ONE", "MANY", "MANY"]
    # A newer declaration without a start applies to every valid time again.
    memory.predicates.declare("in", cardinality="ONE", at=MAY + 3 * DAY)
    assert {read(memory, as_of=AsOf(valid=MAY + n * DAY)) for n in range(4)} == {"ONE"}
    with pytest.raises(EventConflictError):
        memory.predicates.declare("in", at=MAY + DAY, origin=Origin(event_id="p2"))


@pytest.mark.parametrize("name", ["lives in", "Lives-In", " LIVES__in ", "lives\u2010in"])
def test_a_predicate_has_one_key_in_every_spelling(memory: Handle, name: str) -> None:
    first = memory.observe("alice", "lives_in", "Porto", at=MAY)
    assert memory.observe("alice", name, "porto", at=MAY + DAY).belief_id == first.belief_id
    memory.remember(
        "Alice lives in Porto.", claims=[Triple(subject="alice", predicate=name, object="Porto")]
    )
    [candidate] = memory.current("alice", name).candidates
    assert (candidate.belief_id, candidate.events) == (first.belief_id, 3)
    memory.predicates.declare(name, kappa=2)
    assert memory.current("alice", "lives_in").policy.kappa == 2
    [found] = memory.beliefs.timeline("alice", name).series
    assert found.object == "Porto"


def test_a_name_of_separators_alone_stays_a_name(memory: Handle) -> None:
    memory.observe("alice", "-", "Porto")
    memory.observe("alice", "_", "Faro")
    assert [c.object for c in memory.current("alice", "-").candidates] == ["Porto"]


def test_a_common_predicate_has_one_value_without_a_declaration(memory: Handle) -> None:
    for day, source in enumerate(("Borealis", "Borealis", "Atlas")):
        memory.observe("the service", "deploys from", source, at=MAY + day * DAY)
    slot = memory.current("the service", "deploys_from")
    assert slot.leader is not None
    assert slot.leader.object == "Atlas"
    assert (slot.cardinality, slot.policy_origin) == ("ONE", PolicyOrigin.BUILT_IN)
    past = memory.current("the service", "deploys_from", as_of=MAY + DAY)
    assert past.leader is not None
    assert past.leader.object == "Borealis"
    [listed] = memory.beliefs.slots("the service").slots
    assert (listed.policy_origin, listed.leader) == (PolicyOrigin.BUILT_IN, slot.leader)
    memory.predicates.declare("deploys_from")
    slot = memory.current("the service", "deploys_from")
    assert (slot.cardinality, slot.policy_origin) == ("MANY", PolicyOrigin.DECLARED)


def test_an_observation_declares_its_predicate(memory: Handle, look: Look, tenant: str) -> None:
    done = memory.observe(
        "alice", "Favours", "tea", cardinality="ONE", at=MAY, event_id="e1", actor="bob"
    )
    memory.observe("alice", "favours", "coffee", at=MAY + DAY)
    slot = memory.current("alice", "favours", as_of=MAY)
    assert (slot.cardinality, slot.policy_origin) == ("ONE", PolicyOrigin.DECLARED)
    [declared] = memory.predicates.list()
    assert (declared.name, declared.policy) == ("Favours", Policy(cardinality=Cardinality.ONE))
    event = look.events(tenant)[declared.event_id]
    assert (event["type"], event["actor"], event["scope"]) == ("POLICY", "bob", "global")
    # The same again, in either way, adds no declaration.
    memory.observe("alice", "FAVOURS", "milk", cardinality="ONE", at=MAY)
    again = memory.observe(
        "alice", "Favours", "tea", cardinality="ONE", at=MAY, event_id="e1", actor="bob"
    )
    assert again == done.model_copy(update={"repeated": True})
    assert memory.predicates.list() == [declared]
    before = look.events(tenant)
    with pytest.raises(CardinalityConflictError, match="'favours' was declared ONE, not MANY"):
        memory.observe("alice", "favours", "water", cardinality="MANY")
    with pytest.raises(EventConflictError):
        memory.observe("alice", "Favours", "tea", at=MAY, event_id="e1", actor="bob")
    assert look.events(tenant) == before


def test_an_observation_overrides_the_built_in_list(memory: Handle) -> None:
    memory.observe("alice", "works_at", "Acme", cardinality="MANY", at=MAY)
    memory.observe("alice", "works_at", "Initech", at=MAY + DAY)
    slot = memory.current("alice", "works_at")
    assert (slot.cardinality, slot.policy_origin) == ("MANY", PolicyOrigin.DECLARED)


def test_many_observations_declare_their_predicates(
    memory: Handle, look: Look, tenant: str
) -> None:
    rows: list[dict[str, Any]] = [
        {"subject": "alice", "predicate": "uses", "object": "vim"},
        {"subject": "alice", "predicate": "uses", "object": "emacs", "cardinality": "ONE"},
        {"subject": "alice", "predicate": "reads", "object": "news", "cardinality": "MANY"},
        {"subject": "bob", "predicate": "Uses", "object": "nano", "cardinality": "ONE"},
    ]
    memory.observe_many(rows)
    declared = {p.name: p.policy.cardinality for p in memory.predicates.list()}
    assert declared == {"reads": "MANY", "uses": "ONE"}
    before = look.count(tenant)
    other = {**rows[2], "cardinality": "ONE"}
    with pytest.raises(CardinalityConflictError, match="'reads' is given as ONE and as MANY"):
        memory.observe_many([rows[0], {**rows[2], "predicate": "Reads"}, other])
    with pytest.raises(CardinalityConflictError, match="'reads' was declared MANY"):
        memory.observe_many([rows[0], other])
    assert look.count(tenant) == before


def test_concurrent_observations_declare_a_predicate_once(
    plain: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare = writing.declare_predicates

    async def slowly(*args: Any) -> None:
        time.sleep(0.1)  # Without a lock the others read meanwhile that nothing is declared.
        await declare(*args)

    monkeypatch.setattr(writing, "declare_predicates", slowly)

    def observe(n: int) -> str:
        try:
            plain.observe("alice", "favours", str(n), cardinality=("ONE", "MANY")[n % 2])
        except CardinalityConflictError:
            return ""
        return ("ONE", "MANY")[n % 2]

    with ThreadPoolExecutor(8) as pool:
        said = set(pool.map(observe, range(8))) - {""}
    [declared] = plain.predicates.list()
    assert said == {declared.policy.cardinality}


def test_a_miss_names_the_nearest_predicates_of_the_subject(memory: Handle) -> None:
    memory.observe("alice", "lives_in", "Porto", at=MAY)
    memory.observe("alice", "likes", "tea", at=MAY + DAY)
    memory.observe("bob", "lived_in", "Faro", at=MAY)
    slot = memory.current("Alice", "live in")
    assert (slot.candidates, slot.nearest) == ((), ("lives_in",))
    assert memory.current("alice", "like", as_of=MAY).nearest == ()
    assert memory.current("alice", "like").nearest == ("likes",)
    assert memory.current("alice", "lives_in", as_of=MAY).nearest_subjects == ()
    assert memory.current("alice", "lives_in").nearest == ()


def test_a_miss_names_the_subjects_that_have_such_a_fact(memory: Handle) -> None:
    memory.observe("the shop", "hosting", "in Oslo", at=MAY)
    assert memory.current("shop", "hosting").nearest_subjects == ("the shop",)
    assert memory.current("shop", "hosting", as_of=MAY - DAY).nearest_subjects == ()
    with memory.session("s") as session:
        session.add_messages([{"role": "user", "name": "Dana", "content": "I live in Porto."}])
    assert memory.current("user", "lives in").nearest_subjects == ("Dana",)
    memory.scope("user:bob").observe("user 2", "lives_in", "Faro")
    assert memory.current("user", "lives in").nearest_subjects == ("Dana",)
    for name in ("Ann", "Bea", "Carl", "Danae"):
        memory.observe(name, "lives_in", "Rome")
    assert memory.current("user", "lives in").nearest_subjects == ()
    assert memory.current("dan", "lives in").nearest_subjects == ("Dana", "Danae", "Ann")
    assert memory.current("dana", "lives in").nearest_subjects == ()


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
        done = memory.predicates.declare(**with_origin(told[place]))
    [found] = memory.predicates.list()
    assert found == done if order[-1] == 2 else found.event_id == "b"
    assert (found.name, found.template) == ("in", "{subject} in {object}")
    assert found.policy == Policy(kappa=9)
    assert memory.beliefs.get(memory.observe("alice", "in", "Porto")).statement == "alice in Porto"


def test_a_policy_of_the_tenant_is_that_of_every_scope(memory: Handle) -> None:
    memory.predicates.declare("in", cardinality="ONE", at=MAY)
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
    first = memory.predicates.declare("in", **with_origin(given))
    before = look.events(tenant)
    assert memory.predicates.declare("in", **with_origin(given)) == first
    assert memory.predicates.declare(" IN ", **with_origin(given)) == first
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
            memory.predicates.declare(name, **with_origin({**given, **other}))
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


def test_a_declaration_can_be_taken_back(memory: Handle) -> None:
    """The one before it applies again, then the default; retracting a retraction undoes it."""
    said(memory)
    memory.predicates.declare("in", cardinality="MANY", at=MAY, origin=Origin(event_id="p1"))
    memory.predicates.declare("in", cardinality="ONE", at=MAY, origin=Origin(event_id="p2"))
    before = datetime.now(UTC)
    assert read(memory) == "ONE"

    memory.beliefs.retract("p2", origin=Origin(event_id="r2"))
    assert read(memory) == "MANY"
    assert [one.event_id for one in memory.predicates.list()] == ["p1"]
    assert read(memory, as_of=AsOf(known=before)) == "ONE"

    memory.beliefs.retract("p1")
    assert memory.current("alice", "in").policy_origin is PolicyOrigin.DEFAULT
    assert memory.predicates.list() == []

    memory.beliefs.retract("r2")
    assert read(memory) == "ONE"
    assert [one.event_id for one in memory.predicates.list()] == ["p2"]


def test_what_was_taken_back_contradicts_no_observation(memory: Handle) -> None:
    memory.predicates.declare("in", cardinality="MANY", origin=Origin(event_id="p1"))
    with pytest.raises(CardinalityConflictError):
        memory.observe("ben", "in", "Rome", cardinality="ONE")
    memory.beliefs.retract("p1")
    memory.observe("ben", "in", "Rome", cardinality="ONE")
    assert memory.current("ben", "in").policy.cardinality == "ONE"


@pytest.mark.parametrize("late", [False, True])
def test_a_declaration_may_come_after_its_retraction(
    memory: Handle, plain: GraphMem, tenant: str, *, late: bool
) -> None:
    said(memory)

    def declare() -> None:
        done = memory.predicates.declare(
            "in", cardinality="ONE", at=MAY, origin=Origin(event_id="p1")
        )
        assert (done.event_id, done.policy.cardinality) == ("p1", "ONE")

    if not late:
        declare()
    memory.beliefs.retract("p1", missing_ok=True, at=MAY + DAY)
    if late:
        declare()
    assert read(memory) == "MANY"
    assert memory.predicates.list() == []
    assert on_tenant(plain, tenant).admin.verify().wrong == ()


def test_only_a_person_takes_back_what_a_person_declared(memory: Handle) -> None:
    said(memory)
    memory.predicates.declare("in", cardinality="ONE", origin=Origin(event_id="p1"))
    proposed = by(memory, "model").beliefs.retract("p1")
    assert (proposed.proposed, read(memory)) == (True, "ONE")
    memory.proposals.accept([proposed.event_id])
    assert read(memory) == "MANY"
