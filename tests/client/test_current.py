"""What a slot holds, by either client: the walk-throughs, times, policies and scopes."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import Handle
from graphmem.errors import InvalidInputError
from graphmem.model import AsOf, Cardinality, Policy, Slot
from tests.plugins.clients import on_tenant
from tests.plugins.graph import Look, fresh_tenant

MONDAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
DAY = timedelta(days=1)
WEDNESDAY, FRIDAY = MONDAY + 2 * DAY, MONDAY + 4 * DAY
EARLIER = MONDAY - 300 * DAY
NET = Policy(combine="net")
ONE = Policy(cardinality="ONE")


def projects(memory: Handle, **policy: Any) -> None:
    """Alice works on Borealis since Monday, on Atlas since Friday."""
    memory.predicates.declare("works_on", cardinality="ONE", at=EARLIER, **policy)
    monday, friday = (
        memory.episodes.add(episode_id="monday"),
        memory.episodes.add(episode_id="friday"),
    )
    memory.observe(
        "alice", "works_on", "Borealis", confidence=0.8, episode_id=monday, at=MONDAY, event_id="m"
    )
    memory.observe(
        "alice",
        "works_on",
        "Atlas",
        confidence=0.9,
        source_type="TOOL",
        episode_id=friday,
        at=FRIDAY,
        event_id="f",
    )


def beliefs(slot: Slot) -> dict[str, float]:
    return {c.object: c.belief for c in slot.candidates}


def test_the_walk_through_of_a_value_that_changes(memory: Handle) -> None:
    projects(memory)

    slot = memory.current("Alice", " WORKS_ON ")

    assert (slot.scope, slot.subject, slot.total) == ("global", "alice", 2)
    assert slot.policy == Policy(cardinality="ONE")
    assert list(beliefs(slot)) == ["Atlas", "Borealis"]
    assert beliefs(slot) == pytest.approx(
        {"Atlas": 0.9, "Borealis": 0.8 * math.exp(-3 * 0.9)}, abs=1e-12
    )
    assert not slot.ambiguous
    assert slot.leader == slot.candidates[0]
    atlas, borealis = slot.candidates
    assert (atlas.last_at, atlas.last_id, atlas.events) == (FRIDAY, "f", 1)
    assert (borealis.last_at, borealis.last_id, borealis.events) == (MONDAY, "m", 1)
    # Every event behind it.
    for candidate, event_id, source in ((atlas, "f", "TOOL"), (borealis, "m", "EXPLICIT")):
        [line] = memory.evidence_for(candidate.belief_id).lines
        assert (line.event_id, line.source_type) == (event_id, source)
    assert memory.beliefs.get(borealis.belief_id).belief == borealis.belief


def test_the_walk_through_as_of_wednesday(memory: Handle) -> None:
    projects(memory)
    slot = memory.current("alice", "works_on", as_of=AsOf(valid=WEDNESDAY))
    assert beliefs(slot) == {"Borealis": 0.8}
    assert slot.valid == WEDNESDAY
    # An event of the very instant is seen.
    assert len(memory.current("alice", "works_on", as_of=AsOf(valid=FRIDAY)).candidates) == 2
    just_before = AsOf(valid=FRIDAY - timedelta(microseconds=1))
    assert beliefs(memory.current("alice", "works_on", as_of=just_before)) == {"Borealis": 0.8}
    assert memory.current("alice", "works_on", as_of=AsOf(valid=EARLIER)).candidates == ()


def test_what_came_late_takes_its_place_by_the_time_it_happened(memory: Handle) -> None:
    projects(memory)
    before = memory.current("alice", "works_on")
    known = memory.evidence_for(before.candidates[0].belief_id).lines[0].recorded_at
    memory.observe("alice", "works_on", "Cygnus", confidence=1, at=WEDNESDAY)
    memory.observe("alice", "works_on", "Atlas", kind="refuting", confidence=0.5, at=MONDAY)

    after = memory.current("alice", "works_on")

    assert list(beliefs(after)) == ["Atlas", "Cygnus", "Borealis"]
    # What refuted Atlas before it was affirmed has no effect; Cygnus suppressed Borealis.
    assert beliefs(after)["Atlas"] == 0.9
    assert beliefs(after)["Borealis"] == pytest.approx(0.8 * math.exp(-3 * (1 - 1e-9 + 0.9)))
    then = memory.current("alice", "works_on", as_of=AsOf(known=known))
    assert then.candidates == before.candidates
    assert then.provisional
    assert not before.provisional


def test_three_pieces_of_one_episode_count_once_and_of_three_thrice(memory: Handle) -> None:
    memory.predicates.declare("likes", combine="net", at=EARLIER)
    for subject, episodes in (("echo", ("e1", "e1", "e1")), ("apart", ("e1", "e2", "e3"))):
        for episode in episodes:
            memory.episodes.add(episode_id=episode)
            memory.observe(subject, "likes", "tea", confidence=0.7, episode_id=episode, at=MONDAY)
    memory.observe_many(
        [{"subject": "alone", "predicate": "likes", "object": "tea", "confidence": 0.7}] * 3
    )

    [echo] = memory.current("echo", "likes").candidates
    [apart] = memory.current("apart", "likes").candidates
    [alone] = memory.current("alone", "likes").candidates

    assert (echo.reinforcement_count, echo.events) == (1, 3)
    assert echo.belief == pytest.approx(0.7, abs=1e-12)
    assert (apart.reinforcement_count, apart.events) == (3, 3)
    assert apart.belief == pytest.approx(0.973, abs=1e-12)
    # Without an episode each is an episode of its own.
    assert alone.reinforcement_count == 3
    assert alone.belief == pytest.approx(0.973, abs=1e-12)

    odds = Policy()
    [echo] = memory.current("echo", "likes", policy=odds).candidates
    [apart] = memory.current("apart", "likes", policy=odds).candidates
    assert echo.belief == pytest.approx(1 / 1.3, abs=1e-12)
    assert apart.belief == pytest.approx(1 / 1.027, abs=1e-12)
    assert apart.belief > echo.belief
    assert memory.beliefs.get(apart.belief_id, policy=odds).belief == apart.belief
    assert memory.beliefs.get(apart.belief_id).belief == pytest.approx(0.973, abs=1e-12)


@pytest.mark.parametrize(("other", "ambiguous"), [(0.805, True), (0.795, False)])
def test_values_nearer_than_the_margin_are_ambiguous(
    plain: Handle, other: float, *, ambiguous: bool
) -> None:
    """Without suppression the scores are the confidences; the margin is 0.1."""
    policy = Policy(cardinality="ONE", kappa=0)
    for value, confidence, days in (("Faro", other, 0), ("Porto", 0.9, 1)):
        at = MONDAY + days * DAY
        plain.observe("alice", "lives_in", value, confidence=confidence, at=at)
    assert plain.current("alice", "lives_in", policy=policy).ambiguous is ambiguous


@pytest.mark.parametrize(
    ("supporting", "refuting", "contested"),
    [(0.52, 0.52, True), (0.52, 0.5, False), (0.5, 0.52, False), (0.48, 0.9, False)],
)
def test_a_value_is_contested_when_more_than_half_speaks_on_each_side(
    plain: Handle, supporting: float, refuting: float, *, contested: bool
) -> None:
    for kind, confidence in (("supporting", supporting), ("refuting", refuting)):
        plain.observe("it", "is", "true", kind=kind, confidence=confidence, at=MONDAY)  # type: ignore[arg-type]
    [seen] = plain.current("it", "is").candidates
    assert (seen.positive, seen.negative) == pytest.approx((supporting, refuting))
    assert seen.contested is contested


def test_what_speaks_on_both_sides_is_shown_with_both_sides(memory: Handle) -> None:
    for n in range(3):
        memory.observe("it", "is", "true", confidence=0.8, at=MONDAY + n * DAY)
    memory.observe("it", "is", "true", confidence=0.6, kind="refuting", at=FRIDAY)
    [seen] = memory.current("it", "is").candidates
    assert (seen.supporting_episodes, seen.refuting_episodes, seen.contested) == (3, 1, True)
    assert seen.positive == pytest.approx(1 - 0.2**3)
    assert seen.negative == pytest.approx(0.6)
    assert seen.belief == pytest.approx(1 / (1 + 0.2**3 / 0.4))
    [net] = memory.current("it", "is", policy=NET).candidates
    assert net.belief == pytest.approx(1 - 0.2**3 - 0.6)
    kept = memory.beliefs.get(seen.belief_id)
    assert (kept.positive, kept.negative, kept.belief) == (
        seen.positive,
        seen.negative,
        seen.belief,
    )
    assert (kept.supporting_episodes, kept.refuting_episodes, kept.contested) == (3, 1, True)


def test_two_that_are_close_are_both_flagged(memory: Handle) -> None:
    memory.predicates.declare("in", cardinality="ONE", margin=0.1, at=EARLIER)
    for place, confidence in (("Porto", 0.8), ("Faro", 0.75), ("Lisbon", 0.3)):
        memory.observe("alice", "in", place, confidence=confidence, at=MONDAY)
    slot = memory.current("alice", "in")
    assert [(c.object, c.ambiguous) for c in slot.candidates] == [
        ("Porto", True),
        ("Faro", True),
        ("Lisbon", False),
    ]
    assert slot.ambiguous
    assert not memory.current(
        "alice", "in", policy=ONE.model_copy(update={"margin": 0.05})
    ).ambiguous
    # The best only, and still flagged; the others are counted.
    best = memory.current("alice", "in", limit=1)
    assert (len(best.candidates), best.total, best.ambiguous) == (1, 3, True)


def test_evidence_fades_when_its_policy_says_so(memory: Handle) -> None:
    projects(memory, decay_per_day=0.1)
    later = FRIDAY + 10 * DAY
    slot = memory.current("alice", "works_on", as_of=AsOf(valid=later))
    assert beliefs(slot)["Atlas"] == pytest.approx(0.9 * math.exp(-1))
    assert slot.candidates[0].score == 0.9
    assert memory.current("alice", "works_on", as_of=AsOf(valid=FRIDAY)).candidates[0].belief == 0.9


def test_a_slot_of_which_nothing_is_known_is_empty(memory: Handle) -> None:
    slot = memory.current(" Nobody ", "works_on")
    assert (slot.subject, slot.predicate, slot.scope) == ("Nobody", "works_on", "global")
    assert (slot.candidates, slot.total, slot.leader) == ((), 0, None)
    assert not slot.ambiguous
    assert slot.policy == Policy()


@pytest.mark.parametrize("policy", [Policy(), ONE], ids=["MANY", "ONE"])
def test_what_was_only_refuted_never_leads(memory: Handle, policy: Policy) -> None:
    memory.observe("alice", "in", "Porto", kind="refuting", confidence=0.9)
    slot = memory.current("alice", "in", policy=policy)
    assert slot.leader is None
    [porto] = slot.candidates
    assert (porto.last_at, porto.events) == (None, 1)
    assert porto.belief == pytest.approx(0 if policy is ONE else 0.1 / 1.1)


def test_what_was_superseded_does_not_lead(memory: Handle) -> None:
    projects(memory)
    atlas, borealis = memory.current("alice", "works_on").candidates
    memory.beliefs.revise(
        atlas.belief_id, subject="alice", predicate="works_on", object="Atlas 2", confidence=0.5
    )
    slot = memory.current("alice", "works_on")
    assert slot.candidates[0].status == "superseded"
    assert slot.leader is not None
    assert slot.leader.belief_id == borealis.belief_id


def test_the_own_scope_comes_first_and_the_shared_one_next(memory: Handle) -> None:
    alice, bob = memory.scope("alice"), memory.scope("bob")
    memory.observe("she", "likes", "tea", at=MONDAY)
    assert [h.current("she", "likes").scope for h in (memory, alice, bob)] == ["global"] * 3
    alice.observe("she", "likes", "coffee", at=WEDNESDAY)
    assert beliefs(alice.current("she", "likes")).keys() == {"coffee"}
    assert beliefs(bob.current("she", "likes")).keys() == {"tea"}
    assert beliefs(memory.current("she", "likes")).keys() == {"tea"}
    # She did not know it then.
    assert alice.current("she", "likes", as_of=AsOf(valid=MONDAY)).scope == "global"
    both = memory.scope("bob", read_scopes=["bob", "alice"])
    assert (both.current("she", "likes").scope, bob.current("she", "likes").scope) == (
        "alice",
        "global",
    )


def test_a_slot_is_its_own_tenants(memory: Handle) -> None:
    projects(memory)
    other = on_tenant(memory, fresh_tenant())
    assert other.current("alice", "works_on").candidates == ()
    other.observe("alice", "works_on", "Cygnus")
    slot = other.current("alice", "works_on")
    assert (list(beliefs(slot)), slot.policy.cardinality) == (["Cygnus"], Cardinality.MANY)
    assert list(beliefs(memory.current("alice", "works_on"))) == ["Atlas", "Borealis"]


def test_reading_writes_nothing(memory: Handle, look: Look, tenant: str) -> None:
    projects(memory)
    before = look.events(tenant), look.beliefs(tenant), look.count(tenant)
    slot = memory.current("alice", "works_on")
    memory.beliefs.list(include_superseded=True)
    memory.predicates.list()
    memory.beliefs.get(slot.candidates[0].belief_id)
    memory.evidence_for(slot.candidates[0].belief_id)
    memory.beliefs.what_if(slot.candidates[0].belief_id, [{"kind": "supporting", "strength": 0.9}])
    assert (look.events(tenant), look.beliefs(tenant), look.count(tenant)) == before


def test_nobody_knows_yet_what_will_be_known(memory: Handle) -> None:
    projects(memory)
    atlas = memory.current("alice", "works_on").candidates[0].belief_id
    tomorrow = AsOf(known=datetime.now(UTC) + DAY)
    for ask in (
        lambda: memory.current("alice", "works_on", as_of=tomorrow),
        lambda: memory.beliefs.get(atlas, as_of=tomorrow),
        lambda: memory.beliefs.list(as_of=tomorrow),
        lambda: memory.evidence_for(atlas, as_of=tomorrow),
        lambda: memory.beliefs.what_if(atlas, as_of=tomorrow),
    ):
        with pytest.raises(InvalidInputError, match="must not be in the future") as caught:
            ask()
        assert "valid" in caught.value.hint
    # What is to come in the world may be asked for.
    assert memory.current("alice", "works_on", as_of=AsOf(valid=FRIDAY + 10_000 * DAY)).leader


def test_nobody_knows_yet_what_will_be_known_of_an_empty_tenant(memory: Handle) -> None:
    tomorrow = AsOf(known=datetime.now(UTC) + DAY)
    for ask in (
        lambda: memory.beliefs.list(as_of=tomorrow),
        lambda: memory.beliefs.slots(as_of=tomorrow),
        lambda: memory.memories.list(as_of=tomorrow),
        lambda: memory.episodes.list(as_of=tomorrow),
        lambda: memory.recall("where?", as_of=tomorrow),
        lambda: memory.context("where?", as_of=tomorrow),
        lambda: memory.current("alice", "works_on", as_of=tomorrow),
    ):
        with pytest.raises(InvalidInputError, match="must not be in the future"):
            ask()


def test_beliefs_come_by_pages_newest_first(memory: Handle) -> None:
    done = [memory.observe(f"s{n}", "is", "here", at=MONDAY + n * DAY) for n in range(5)]
    old = memory.believe("It rains", at=MONDAY + timedelta(hours=1))
    memory.beliefs.revise(old, "It pours", at=MONDAY + timedelta(hours=2))
    wanted = [r.belief_id for r in reversed(done)]

    found: list[str] = []
    cursor = None
    while True:
        page = memory.beliefs.list(limit=2, cursor=cursor)
        found += [b.id for b in page.beliefs if b.statement != "It pours"]
        cursor = page.next_cursor
        if cursor is None:
            break

    assert found == wanted
    assert len(memory.beliefs.list().beliefs) == 6
    every = memory.beliefs.list(include_superseded=True).beliefs
    assert [b.statement for b in every][-3:] == ["It pours", "It rains", "s0 is here"]
    assert [b.status for b in every][-3:] == ["current", "superseded", "current"]
    then = memory.beliefs.list(as_of=AsOf(valid=MONDAY), include_superseded=True)
    assert [b.id for b in then.beliefs] == [done[0].belief_id]
