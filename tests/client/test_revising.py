"""Beliefs that take the place of others: revised, split, merged, and never in a ring."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import Handle
from graphmem.errors import (
    EventConflictError,
    ForeignScopeError,
    InvalidInputError,
    NotFoundError,
    SelfSupersessionError,
    SupersededBeliefError,
)
from graphmem.model import Origin, ReplacementReceipt
from graphmem.rules import claims
from tests.plugins.clients import Door
from tests.plugins.examples import examples
from tests.plugins.graph import Look, has_cycle
from tests.plugins.origins import with_origin

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
FOUR, EIGHT, TWELVE = (f"The worker pool should have {n} threads" for n in (4, 8, 12))
TRIALS = examples(8, 40, 40)


def statuses(memory: Handle) -> dict[str, str]:
    return {
        b.statement: b.status
        for b in memory.beliefs.list(include_superseded=True, limit=1_000).beliefs
    }


def id_of(statement: str, scope: str = "global") -> str:
    return claims.statement_claim(scope, statement).id


def test_a_demoted_belief_is_revised(memory: Handle, look: Look, tenant: str) -> None:
    old = memory.believe(FOUR, confidence=0.6, at=MAY)
    for n in range(2):
        memory.add_evidence(old, "refuting", 0.85, at=MAY + n * HOUR)
    assert memory.beliefs.get(old).verdict.revise_due

    done = memory.beliefs.revise(
        old,
        EIGHT,
        reason="the queue grew",
        confidence=0.7,
        at=MAY + 9 * HOUR,
        origin=Origin(actor="bob", event_id="r1"),
    )

    assert done == ReplacementReceipt(
        event_id="r1", newer_ids=(id_of(EIGHT),), older_ids=(old.belief_id,)
    )
    assert statuses(memory) == {FOUR: "superseded", EIGHT: "current"}
    new = memory.beliefs.get(done.newer_ids[0])
    assert (new.initial_confidence, new.belief, new.created_at) == (0.7, 0.7, MAY + 9 * HOUR)
    assert (new.verdict.status, new.verdict.evidence) == ("accumulating", 0)
    # The older stays readable with its evidence.
    assert memory.beliefs.get(old).verdict.evidence == 2
    [edge] = look.edges(tenant)
    assert (edge.newer, edge.older, edge.event_id) == (id_of(EIGHT), old.belief_id, "r1")
    assert (edge.occurred_at, edge.in_force) == (MAY + 9 * HOUR, True)
    event = look.events(tenant)["r1"]
    assert (event["type"], event["actor"]) == ("REVISE", "bob")
    assert json.loads(event["payload"]) == {
        "newer_ids": [id_of(EIGHT)],
        "older_ids": [old.belief_id],
        "note": "the queue grew",
    }
    assert sorted(e[2] for e in event["edges"]) == sorted([id_of(EIGHT), old.belief_id])
    assert {e[0] for e in event["edges"]} == {"CONCERNS"}
    assert look.beliefs(tenant)[id_of(EIGHT)]["embedding"]
    assert look.count(tenant) == {"Belief": 2, "Event": 5}


def test_a_triple_is_revised_to_another(memory: Handle) -> None:
    old = memory.observe("alice", "works_on", "Borealis")
    done = memory.beliefs.revise(old, subject="alice", predicate="works_on", object="Atlas")
    new = memory.beliefs.get(done.newer_ids[0])
    assert (new.statement, new.object) == ("alice works on Atlas", "Atlas")
    assert memory.beliefs.get(old).status == "superseded"
    reworded = memory.beliefs.revise(done.newer_ids[0], "Alice is with Atlas now")
    assert memory.beliefs.get(reworded.newer_ids[0]).subject is None


def test_one_is_split_into_several(memory: Handle, look: Look, tenant: str) -> None:
    old = memory.believe("Alice likes tea and coffee")
    done = memory.beliefs.split(
        old,
        ["Alice likes tea", "Alice likes coffee", "Alice  likes tea"],
        reason="two things",
        at=datetime.now(UTC),
        origin=Origin(source="review", event_id="s1"),
    )
    assert done.newer_ids == (id_of("Alice likes tea"), id_of("Alice likes coffee"))
    assert statuses(memory) == {
        "Alice likes tea and coffee": "superseded",
        "Alice likes tea": "current",
        "Alice likes coffee": "current",
    }
    assert {(e.newer, e.older) for e in look.edges(tenant)} == {
        (newer, old.belief_id) for newer in done.newer_ids
    }
    events = look.events(tenant)
    assert sorted(e["type"] for e in events.values()) == ["BELIEVE"] * 3 + ["SPLIT"]
    assert {e["source"] for e in events.values()} == {"manual", "review"}


def test_several_are_merged_into_one(memory: Handle, look: Look, tenant: str) -> None:
    old = [memory.believe(f"Alice likes tea {n}") for n in range(3)]
    there = memory.believe("Alice likes tea", confidence=0.9)
    done = memory.beliefs.merge(
        [old[0], old[1].belief_id, memory.beliefs.get(old[2]), old[0]],
        "Alice likes tea",
        reason="same",
    )
    assert done.newer_ids == (there.belief_id,)
    assert done.older_ids == tuple(o.belief_id for o in old)
    assert {b.status for b in (memory.beliefs.get(o) for o in old)} == {"superseded"}
    assert memory.beliefs.get(there).status == "current"
    assert memory.beliefs.get(there).initial_confidence == 0.9
    assert len(look.edges(tenant)) == 3


def test_an_old_wording_comes_back_without_a_ring(memory: Handle, look: Look, tenant: str) -> None:
    first = memory.believe(FOUR)
    second = memory.beliefs.revise(first, EIGHT).newer_ids[0]
    third = memory.beliefs.revise(second, TWELVE).newer_ids[0]
    back = memory.beliefs.revise(third, FOUR)
    assert back.newer_ids == (first.belief_id,)
    assert statuses(memory) == {FOUR: "current", EIGHT: "superseded", TWELVE: "superseded"}
    assert len(look.edges(tenant)) == 3
    assert [e.in_force for e in look.edges(tenant)].count(True) == 2
    assert not has_cycle(look.edges(tenant))
    # And away again.
    memory.beliefs.revise(first, EIGHT)
    assert statuses(memory) == {FOUR: "superseded", EIGHT: "current", TWELVE: "superseded"}
    assert not has_cycle(look.edges(tenant))


@pytest.mark.parametrize("ids", [("a", "b"), ("b", "a")])
def test_of_one_instant_the_larger_id_has_the_last_word(
    memory: Handle, look: Look, tenant: str, ids: tuple[str, str]
) -> None:
    first = memory.believe(FOUR, at=MAY)
    second = memory.beliefs.revise(
        first, EIGHT, at=MAY + HOUR, origin=Origin(event_id=ids[0])
    ).newer_ids[0]
    memory.beliefs.revise(second, FOUR, at=MAY + HOUR, origin=Origin(event_id=ids[1]))
    last = FOUR if ids[1] == "b" else EIGHT
    assert statuses(memory) == {
        FOUR: "current" if last == FOUR else "superseded",
        EIGHT: "current" if last == EIGHT else "superseded",
    }
    assert not has_cycle(look.edges(tenant))


REPLACING: dict[str, Callable[[Handle, Any], Any]] = {
    "revise": lambda m, b: m.beliefs.revise(b, TWELVE),
    "split": lambda m, b: m.beliefs.split(b, [TWELVE, EIGHT]),
    "merge": lambda m, b: m.beliefs.merge([b, id_of("Something else")], TWELVE),
}


@pytest.mark.parametrize("name", REPLACING)
def test_what_was_superseded_is_not_superseded_again(
    memory: Handle, look: Look, tenant: str, name: str
) -> None:
    memory.believe("Something else")
    old = memory.believe(FOUR)
    memory.beliefs.revise(old, EIGHT)
    before = look.events(tenant), look.count(tenant)
    with pytest.raises(SupersededBeliefError) as caught:
        REPLACING[name](memory, old)
    assert caught.value.code == "superseded_belief"
    assert old.belief_id in caught.value.message
    assert "head of its chain" in caught.value.hint
    assert (look.events(tenant), look.count(tenant)) == before


@pytest.mark.parametrize(
    "call",
    [
        lambda m, b: m.beliefs.revise(b, FOUR),
        lambda m, b: m.beliefs.revise(b, f"  {FOUR}\n"),
        lambda m, b: m.beliefs.split(b, [FOUR, EIGHT]),
        lambda m, b: m.beliefs.merge([b, m.believe(EIGHT, event_id="8")], FOUR),
    ],
    ids=["revise", "space", "split", "merge"],
)
def test_nothing_takes_its_own_place(
    memory: Handle, look: Look, tenant: str, call: Callable[[Handle, Any], Any]
) -> None:
    old = memory.believe(FOUR)
    memory.believe(EIGHT, event_id="8")
    before = look.events(tenant)
    with pytest.raises(SelfSupersessionError) as caught:
        call(memory, old)
    assert caught.value.code == "self_supersession"
    assert "differs" in caught.value.hint
    assert look.events(tenant) == before


def test_a_private_handle_revises_nothing_shared(memory: Handle, look: Look, tenant: str) -> None:
    shared = memory.believe(FOUR)
    alice = memory.scope("alice")
    hers = alice.believe(EIGHT)
    before = look.events(tenant)
    with pytest.raises(ForeignScopeError, match="belongs to scope 'global'"):
        alice.beliefs.merge([hers, shared], TWELVE)
    with pytest.raises(NotFoundError):
        memory.beliefs.merge([shared, hers], TWELVE)
    assert look.events(tenant) == before
    assert alice.beliefs.revise(hers, FOUR).newer_ids == (id_of(FOUR, "alice"),)


def test_a_merge_names_two_and_a_split_makes_two(memory: Handle, look: Look, tenant: str) -> None:
    old = memory.believe(FOUR)
    calls: tuple[Callable[[], object], ...] = (
        lambda: memory.beliefs.merge([old], EIGHT),
        lambda: memory.beliefs.merge([old, old.belief_id], EIGHT),
        lambda: memory.beliefs.merge([], EIGHT),
        lambda: memory.beliefs.split(old, [EIGHT]),
        lambda: memory.beliefs.split(old, [EIGHT, f" {EIGHT} "]),
        lambda: memory.beliefs.split(old, []),
    )
    for call in calls:
        with pytest.raises(InvalidInputError, match=r"[Tt]wo"):
            call()
    assert look.count(tenant) == {"Belief": 1, "Event": 1}


SENT: dict[str, Callable[..., ReplacementReceipt]] = {
    "revise": lambda m, **x: m.beliefs.revise(
        id_of(FOUR), **with_origin({"statement": EIGHT, **x})
    ),
    "split": lambda m, **x: m.beliefs.split(
        id_of(FOUR), **with_origin({"statements": [EIGHT, TWELVE], **x})
    ),
    "merge": lambda m, **x: m.beliefs.merge(
        **with_origin({"beliefs": [id_of(FOUR), id_of("Something else")], "statement": EIGHT, **x})
    ),
}


@pytest.mark.parametrize("name", SENT)
def test_a_repeated_id_gives_the_first_outcome_again(
    memory: Handle, look: Look, tenant: str, name: str
) -> None:
    memory.believe(FOUR)
    memory.believe("Something else")
    first = SENT[name](memory, event_id="x1", reason="why", at=MAY)
    before = look.events(tenant), look.beliefs(tenant), look.edges(tenant)
    again = SENT[name](memory, event_id="x1", reason="why", at=MAY)
    assert again == first.model_copy(update={"repeated": True})
    assert (look.events(tenant), look.beliefs(tenant), look.edges(tenant)) == before

    for other in (
        {"reason": "another"},
        {"at": None},
        {"source": "hook"},
        {"actor": "bob"},
        {"artifact_ref": "x"},
        {"episode_id": "doc"},
        {"statements": [EIGHT, "x y"]} if name == "split" else {"statement": TWELVE},
        {"beliefs": [id_of(FOUR), "b_"]} if name == "merge" else {"turn_id": "t"},
    ):
        with pytest.raises(EventConflictError):
            SENT[name](memory, **{"event_id": "x1", "reason": "why", "at": MAY, **other})
    assert look.events(tenant) == before[0]


@pytest.mark.parametrize("name", SENT)
def test_what_is_said_of_where_it_comes_from_is_kept(
    memory: Handle, look: Look, tenant: str, name: str
) -> None:
    memory.believe(FOUR, event_id="b1")
    memory.believe("Something else", event_id="b2")
    with memory.session("s") as session:
        done = SENT[name](session, artifact_ref="notes", actor="bob", note="because", event_id="x1")
    events = look.events(tenant)
    assert events["x1"]["artifact_ref"] == "notes"
    assert json.loads(events["x1"]["payload"])["note"] == "because"
    made = [e for key, e in events.items() if key not in ("b1", "b2", "x1")]
    assert len(made) == len(done.newer_ids)
    for event in made:
        assert (event["type"], event["actor"], event["artifact_ref"]) == ("BELIEVE", "bob", "notes")
        assert ["OCCURRED_IN", "Episode", session.episode_id] in event["edges"]


def test_an_earlier_correction_that_comes_late_changes_nothing_newer(
    memory: Handle, look: Look, tenant: str
) -> None:
    """Corrections take their places by the time they happened."""
    first = memory.believe(FOUR, at=MAY)
    second = memory.beliefs.revise(first, EIGHT, at=MAY + 9 * HOUR).newer_ids[0]
    late = memory.beliefs.revise(second, FOUR, at=MAY + 5 * HOUR)
    assert late.newer_ids == (first.belief_id,)
    assert statuses(memory) == {FOUR: "superseded", EIGHT: "current"}
    edges = {e.newer: e.in_force for e in look.edges(tenant)}
    assert edges == {second: True, first.belief_id: False}


@pytest.mark.usefixtures("both_clients")
def test_mutual_revision_at_once_leaves_no_ring(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    """Each is revised to the words of the other, at once, in many pairs."""

    def revise(old: str, new: str) -> Callable[[Any], Any]:
        return lambda m: m.beliefs.revise(old, new)

    pairs = [(f"a {n}", f"b {n}") for n in range(TRIALS)]
    for pair in pairs:
        for statement in pair:
            memory.believe(statement)

    for some in range(0, TRIALS, 8):
        calls = [
            revise(id_of(old), new)
            for a, b in pairs[some : some + 8]
            for old, new in ((a, b), (b, a))
        ]
        results = door.together(memory, calls)
        # The slower one may meet a belief that the faster one has superseded.
        refused = [r for r in results if isinstance(r, Exception)]
        assert {type(r) for r in refused} <= {SupersededBeliefError}

    edges = look.edges(tenant)
    assert not has_cycle(edges)
    found = statuses(memory)
    for a, b in pairs:
        assert sorted((found[a], found[b])) == ["current", "superseded"]


@pytest.mark.usefixtures("both_clients")
def test_one_belief_revised_by_many_at_once_is_revised_once(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    for n in range(8):
        old = memory.believe(f"start {n}").belief_id
        results = door.together(memory, [_revise(old, f"end {n} {k}") for k in range(8)])
        done = [r for r in results if isinstance(r, ReplacementReceipt)]
        assert len(done) == 1
        assert {type(r) for r in results if r not in done} == {SupersededBeliefError}
    assert len(look.edges(tenant)) == 8
    assert look.count(tenant) == {"Belief": 16, "Event": 24}


def _revise(old: str, new: str) -> Callable[[Any], Any]:
    return lambda m: m.beliefs.revise(old, new)


@pytest.mark.usefixtures("both_clients")
def test_rings_of_many_at_once_leave_no_ring(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    """Merges and splits among three, at random and at once; whatever is refused, no ring."""
    for trial in range(TRIALS // 4):
        names = [f"{word} {trial}" for word in ("sun", "moon", "star")]
        for name in names:
            memory.believe(name)
        ids = [id_of(name) for name in names]
        calls: list[Callable[[Any], Any]] = []
        for n in range(3):
            older, others = ids[n], [names[(n + 1) % 3], names[(n + 2) % 3]]
            calls += [
                lambda m, b=older, o=others: m.beliefs.revise(b, o[0]),  # type: ignore[misc]
                lambda m, b=older, o=others: m.beliefs.split(b, o),  # type: ignore[misc]
                lambda m, n=n, i=ids, w=names: m.beliefs.merge(
                    [i[n], i[(n + 1) % 3]], w[(n + 2) % 3]
                ),  # type: ignore[misc]
            ]
        results = door.together(memory, calls)
        refused = {type(r) for r in results if isinstance(r, Exception)}
        assert refused <= {SupersededBeliefError}
    assert not has_cycle(look.edges(tenant))
    found = statuses(memory)
    for trial in range(TRIALS // 4):
        assert "current" in {found[f"{word} {trial}"] for word in ("sun", "moon", "star")}
