"""By which names somebody is known: said by event, undone by event, and read in every slot."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import AsOf, Handle, MemoryBite, Message
from graphmem.errors import EventConflictError, InvalidInputError, NameChainError, NotFoundError
from graphmem.model import BeliefReasons, Origin
from graphmem.testing import ScriptedLlm
from tests.plugins.clients import Door, on_tenant
from tests.plugins.graph import Look, fresh_tenant

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def told(memory: Handle) -> tuple[str, str, str]:
    """Bob in Lisbon, then in Porto under his whole name, where he also was in Lisbon once."""
    memory.predicates.declare("lives_in", cardinality="ONE", at=MAY)
    done = (
        memory.observe("Bob", "lives_in", "Lisbon", at=MAY),
        memory.observe("Bob Smith", "lives_in", "lisbon", at=MAY + DAY),
        memory.observe("Bob Smith", "lives_in", "Porto", at=MAY + 2 * DAY),
    )
    first, second, third = (one.belief_id for one in done)
    return first, second, third


def leader(memory: Handle, subject: str, **by: Any) -> str | None:
    found = memory.current(subject, "lives_in", **by).leader
    return found.object if found else None


def test_a_slot_is_read_under_all_names_until_they_part(
    memory: Handle, look: Look, tenant: str
) -> None:
    lisbon, also, porto = told(memory)
    before = look.events(tenant)
    assert (leader(memory, "bob"), leader(memory, "bob smith")) == ("Lisbon", "Porto")

    done = memory.aliases.add(" Bob Smith ", "Bob", origin=Origin(event_id="n1", note="his badge"))
    assert (done.name, done.same_as, done.event_id) == ("Bob Smith", "Bob", "n1")
    assert memory.aliases.list() == [done]
    slot = memory.current("bob", "lives_in")
    assert [(c.belief_id, c.events) for c in slot.candidates] == [(porto, 1), (lisbon, 2)]
    assert slot.names == ("bob smith",)
    whole = memory.current("BOB SMITH", "lives_in")
    assert [(c.belief_id, c.belief) for c in whole.candidates] == [
        (porto, slot.candidates[0].belief),
        (also, slot.candidates[1].belief),
    ]
    assert whole.names == ("bob",)

    # What was recorded is as it was, and what says so is an event like any other.
    after = look.events(tenant)
    assert {k: after[k] for k in before} == before
    event = after["n1"]
    assert (event["type"], event["same_as"], event["scope"]) == ("SAME_AS", "bob", "global")
    assert {(kind, label) for kind, label, _ in event["edges"]} == {
        ("CONCERNS", "Name"),
        ("NAMES", "Name"),
    }
    assert json.loads(event["payload"])["note"] == "his badge"

    parted = memory.aliases.remove("bob smith")
    assert (parted.name, parted.same_as) == ("bob smith", None)
    assert memory.aliases.list() == []
    assert (leader(memory, "bob"), leader(memory, "bob smith")) == ("Lisbon", "Porto")
    assert memory.admin.verify().wrong == ()


def test_names_hold_for_every_valid_time_from_when_they_are_known(
    memory: Handle, look: Look, tenant: str
) -> None:
    told(memory)
    memory.aliases.add("Bob Smith", "Bob", origin=Origin(event_id="n1"), at=MAY + 9 * DAY)
    assert leader(memory, "bob", as_of=AsOf(valid=MAY + 2 * DAY)) == "Porto"
    assert leader(memory, "bob", as_of=AsOf(valid=MAY + DAY)) == "Lisbon"
    recorded = look.events(tenant)["n1"]["recorded_at"].to_native()
    earlier = AsOf(known=recorded - timedelta(microseconds=1))
    assert leader(memory, "bob", as_of=earlier) == "Lisbon"
    assert leader(memory, "bob", as_of=AsOf(known=recorded)) == "Porto"


def test_values_are_compared_by_what_their_objects_stand_for(memory: Handle) -> None:
    memory.predicates.declare("works_at", cardinality="ONE", at=MAY)
    short = memory.observe("alice", "works_at", "IBM", at=MAY).belief_id
    other = memory.observe("alice", "works_at", "Acme", at=MAY + DAY).belief_id
    long = memory.observe(
        "alice", "works_at", "International Business Machines", at=MAY + 2 * DAY
    ).belief_id
    memory.aliases.add("International Business Machines", "IBM")
    slot = memory.current("alice", "works_at")
    assert [(c.belief_id, c.events) for c in slot.candidates] == [(short, 2), (other, 1)]
    assert (
        memory.beliefs.get(long).belief
        == memory.beliefs.get(short).belief
        == slot.candidates[0].belief
    )


def test_an_earlier_read_shows_the_belief_that_existed_then(memory: Handle) -> None:
    memory.predicates.declare("lives_in", cardinality="ONE", at=MAY)
    memory.observe("Bob Smith", "lives_in", "Lisbon", at=MAY)
    memory.observe("Bob", "lives_in", "Lisbon", at=MAY + DAY)
    memory.aliases.add("Bob Smith", "Bob", at=MAY)
    for subject in ("Bob", "Bob Smith"):
        [candidate] = memory.current(subject, "lives_in", as_of=AsOf(valid=MAY)).candidates
        assert memory.beliefs.get(candidate.belief_id, as_of=AsOf(valid=MAY)).subject == "Bob Smith"


def test_a_memory_is_outvoted_by_what_is_said_under_another_name(memory: Handle) -> None:
    memory.predicates.declare("lives_in", cardinality="ONE", at=MAY)
    claim = ("Bob", "lives_in", "Lisbon")
    kept = memory.remember("Bob moved to Lisbon.", claims=[claim], at=MAY)
    memory.observe("Bob Smith", "lives_in", "Porto", at=MAY + DAY)

    def lost() -> set[tuple[str, ...] | None]:
        found = memory.recall("where did Bob move", kinds=("memory",)).bites
        [bite] = [one for one in found if isinstance(one, MemoryBite)]
        return {bite.memory.lost_ids, memory.memories.get(str(kept.memory_id)).lost_ids}

    assert lost() == {()}
    memory.aliases.add("Bob Smith", "Bob")
    assert lost() == {kept.belief_ids}
    memory.aliases.remove("Bob Smith")
    assert lost() == {()}


def test_recall_shows_one_value_once(memory: Handle) -> None:
    told(memory)

    def shown() -> list[str]:
        bites = memory.recall("where does Bob Smith live", kinds=("belief",)).bites
        return sorted(bite.text for bite in bites)

    assert shown() == ["Bob Smith lives in Porto", "Bob lives in Lisbon"]
    memory.aliases.add("Bob Smith", "Bob")
    assert shown() == ["Bob Smith lives in Porto"]


def test_why_names_what_says_the_same(memory: Handle) -> None:
    lisbon, also, porto = told(memory)
    memory.aliases.add("Bob Smith", "Bob")
    found = memory.why(lisbon)
    assert isinstance(found, BeliefReasons)
    [one] = found.alias_beliefs
    assert (one.belief_id, one.statement, one.events) == (also, "Bob Smith lives in lisbon", 1)
    assert (found.competition is not None, found.total) == (True, 1)
    other = memory.why(porto)
    assert isinstance(other, BeliefReasons)
    assert other.alias_beliefs == ()


def test_a_name_holds_in_every_scope_of_its_tenant_and_in_no_other(memory: Handle) -> None:
    memory.aliases.add("Bob Smith", "Bob")
    scoped, stranger = memory.scope("alice"), on_tenant(memory, fresh_tenant())
    for handle in (scoped, stranger):
        handle.observe("Bob Smith", "lives_in", "Porto", at=MAY)
    assert leader(scoped, "bob") == "Porto"
    assert leader(stranger, "bob") is None
    assert stranger.aliases.list() == []


def test_a_long_slot_is_read_whole_under_two_names(memory: Handle) -> None:
    seen = [
        {"subject": "Bob", "predicate": "lives_in", "object": f"o{n % 5}", "at": MAY + n * DAY}
        for n in range(150)
    ]
    memory.predicates.declare("lives_in", cardinality="ONE", at=MAY)
    memory.observe_many(seen)
    memory.admin.rebuild()
    memory.observe("Bob Smith", "lives_in", "Porto", at=MAY + 200 * DAY)
    memory.aliases.add("Bob Smith", "Bob")
    slot = memory.current("bob", "lives_in")
    assert [c.events for c in slot.candidates] == [1, 30, 30, 30, 30, 30]
    assert slot.leader is not None
    assert slot.leader.object == "Porto"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda m: m.aliases.add("Bob", " bob "), InvalidInputError),
        (lambda m: m.aliases.add("", "bob"), InvalidInputError),
        (lambda m: m.aliases.add("Rob", "Bobby"), NameChainError),
        (lambda m: m.aliases.add("Bob", "Carl"), NameChainError),
        (lambda m: m.aliases.remove("Bob"), NotFoundError),
        (lambda m: m.aliases.remove("Nobody"), NotFoundError),
        (
            lambda m: m.aliases.add("Bobby", "Carl", origin=Origin(event_id="n1")),
            EventConflictError,
        ),
        (lambda m: m.aliases.add("Al", "Alice", at=MAY + 90_000 * DAY), InvalidInputError),
    ],
)
def test_what_is_refused_leaves_nothing(
    memory: Handle,
    look: Look,
    tenant: str,
    call: Callable[[Handle], object],
    error: type[Exception],
) -> None:
    memory.aliases.add("Bobby", "Bob", origin=Origin(event_id="n1"), at=MAY)
    before = look.events(tenant)
    with pytest.raises(error):
        call(memory)
    assert look.events(tenant) == before
    assert [(one.name, one.same_as) for one in memory.aliases.list()] == [("Bobby", "Bob")]


def test_the_same_id_says_it_once(memory: Handle, look: Look, tenant: str) -> None:
    first = memory.aliases.add("Bobby", "Bob", origin=Origin(event_id="n1"), at=MAY)
    memory.aliases.remove("Bobby", origin=Origin(event_id="n2"))
    assert memory.aliases.add("Bobby", "Bob", origin=Origin(event_id="n1"), at=MAY) == first
    assert set(look.events(tenant)) == {"n1", "n2"}
    assert memory.aliases.list() == []


def test_of_what_was_said_the_newest_by_its_own_time_holds(memory: Handle) -> None:
    memory.aliases.add("Bobby", "Robert", at=MAY + DAY)
    memory.aliases.add("Bobby", "Bob", at=MAY)
    assert [(one.name, one.same_as) for one in memory.aliases.list()] == [("Bobby", "Robert")]


def test_extraction_records_under_the_name_that_is_stood_for(door: Door, memory: Handle) -> None:
    memory.observe("Alice", "knows", "Lisbon", at=MAY)
    memory.observe("Lisboa", "lies_in", "Portugal", at=MAY)
    memory.aliases.add("Lisboa", "Lisbon")
    memory.session("s1").add_messages(
        [Message(role="user", name="Alice", content="I moved to Lisboa.", at=MAY)]
    )
    offered = {
        "turn": "t1",
        "quote": "I moved to Lisboa",
        "subject": "user",
        "predicate": "lives_in",
        "object": "Lisboa",
        "polarity": "supporting",
        "confidence": 0.9,
    }
    llm = ScriptedLlm([{"proposals": [offered]}])
    [one] = door.on(memory, llm=llm).extract(session_id="s1").proposals
    assert one.object == "Lisbon"
    # A name that stands for another is not offered for use again.
    [prompt] = llm.prompts
    assert '"Lisbon"' in prompt.user
    assert '"Lisboa"' not in prompt.user
