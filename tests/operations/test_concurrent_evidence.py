"""Many writers of evidence at once, by threads and on one loop."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import Handle
from graphmem.errors import EventConflictError, SupersededBeliefError
from graphmem.model import EvidenceReceipt, Origin, Policy, ReplacementReceipt, Slot
from graphmem.rules import claims
from graphmem.rules.formulas import Evidence
from graphmem.settings import SOURCE_WEIGHTS
from tests.oracles import projection
from tests.plugins.clients import Door, on, on_tenant
from tests.plugins.examples import examples
from tests.plugins.faults import Holding
from tests.plugins.graph import Look, has_cycle
from tests.plugins.texts import unlike

in_both_clients = pytest.mark.usefixtures("both_clients")

WRITERS, READERS = examples(8, 16, 16), examples(4, 8, 8)
EACH = examples(6, 10, 10)
"""Acts of one writer, and reads of one reader."""
TRIALS = examples(20, 80, 80)
AT_ONCE = examples(5, 8, 8)
"""Trials of a race that run at the same time, so that they get into one another's way."""
MAY = datetime(2025, 5, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)
OBJECTS = ("Atlas", "Borealis", "Cygnus", "Draco")

Call = Callable[[Any], Any]


def raised(results: Iterable[Any]) -> list[Exception]:
    return [result for result in results if isinstance(result, Exception)]


def in_turn(door: Door, calls: Iterable[Call]) -> Call:
    """One call that makes the calls one after another, and returns what each gave."""
    calls = list(calls)
    if door.name == "blocking":
        return lambda m: [call(m) for call in calls]

    async def awaited(m: Any) -> list[Any]:
        return [await call(m) for call in calls]

    return awaited


def writing(writer: int, belief: str) -> list[Call]:
    """What one writer does: it observes, alone and in batches, and testifies."""
    chance = random.Random(writer)

    def seen() -> dict[str, Any]:
        return {
            "subject": chance.choice(("alice", "ALICE")),
            "predicate": "works_on",
            "object": chance.choice(OBJECTS),
            "kind": chance.choice(("supporting", "supporting", "refuting")),
            "confidence": chance.random(),
            "source_type": chance.choice(sorted(SOURCE_WEIGHTS)),
            "episode_id": chance.choice(("monday", "friday", None)),
        }

    def act(n: int) -> Call:
        event_id = f"{writer}-{n}"
        match n % 4:
            case 0:
                batch = [seen() | {"event_id": f"{event_id}-{k}"} for k in range(5)]
                return lambda m: m.observe_many(batch)
            case 1:
                strength = chance.random()
                return lambda m: m.add_evidence(belief, "supporting", strength, event_id=event_id)
            case 2:
                one = seen()
                return lambda m: m.observe(**one)
            case _:
                other = seen() | {"event_id": event_id}
                return lambda m: m.observe(**other)

    return [act(n) for n in range(EACH)]


def reading(belief: str) -> list[Call]:
    """What one reader does."""
    every: list[Call] = [
        lambda m: m.current("alice", "works_on"),
        lambda m: m.beliefs.get(belief),
        lambda m: m.evidence_for(belief, limit=1_000),
        lambda m: m.beliefs.list(),
    ]
    return [every[n % len(every)] for n in range(2 * EACH)]


def acknowledged(results: Iterable[Any]) -> list[str]:
    """Ids of all events that writers were told of."""
    flat: list[EvidenceReceipt] = []
    for result in results:
        for one in result:
            flat += [one] if isinstance(one, EvidenceReceipt) else one
    return [one.event_id for one in flat]


@in_both_clients
def test_writers_and_readers_of_one_slot_lose_nothing_and_meet_no_error(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    memory.predicates.declare("works_on", cardinality="ONE", at=MAY)
    for name in ("monday", "friday"):
        memory.episodes.add(episode_id=name)
    belief = memory.observe("alice", "works_on", "Atlas", event_id="first").belief_id
    writers = [in_turn(door, writing(n, belief)) for n in range(WRITERS)]
    readers = [in_turn(door, reading(belief)) for _ in range(READERS)]

    results = door.together(memory, writers + readers)

    assert raised(results) == []
    sent = acknowledged(results[:WRITERS])
    # Each batch has five.
    assert len(sent) == WRITERS * (EACH + 4 * len(range(0, EACH, 4)))
    events = {k: e for k, e in look.events(tenant).items() if e["type"] == "EVIDENCE"}
    assert Counter(sent) == Counter(events.keys() - {"first"})
    for result in results[WRITERS:]:
        slots = [one for one in result if isinstance(one, Slot)]
        counted = [sum(c.events for c in slot.candidates) for slot in slots]
        assert counted == sorted(counted)

    slot = memory.current("alice", "works_on")
    assert sum(c.events for c in slot.candidates) == len(events)
    expected = projection.one(
        [evidence(name, event) for name, event in events.items()], slot.valid, **terms(slot.policy)
    )
    assert [c.belief_id for c in slot.candidates] == [c.claim for c in expected]
    assert [c.score for c in slot.candidates] == pytest.approx([c.score for c in expected])
    assert memory.admin.verify().wrong == ()


def evidence(name: str, event: dict[str, Any]) -> Evidence:
    """Return an event of the graph as the oracle takes it."""
    [claim] = [to for kind, _, to in event["edges"] if kind in ("SUPPORTS", "REFUTES")]
    return Evidence(
        id=name,
        claim=claim,
        polarity=event["polarity"],
        confidence=event["confidence"],
        weight=SOURCE_WEIGHTS[event["source_type"]],
        episode=event.get("episode_id"),
        at=event["occurred_at"].to_native(),
    )


def terms(policy: Policy) -> dict[str, float]:
    assert policy.tau_days is None
    return {"kappa": policy.kappa, "margin": policy.margin}


def test_the_first_evidence_of_many_at_once_is_of_one_belief(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    """Each spells the subject in its own way; the earliest words it, and is what is embedded."""
    spelt: list[Callable[[str], str]] = [str, str.upper, str.title, "  {}".format]

    def observe(trial: int, n: int) -> Call:
        subject = spelt[n % 4](f"subject {trial}")
        return lambda m: m.observe(
            subject, "is", "here", at=MAY - n * HOUR, event_id=f"{trial}-{n}"
        )

    for trial in range(0, TRIALS // 10, 2):
        calls = [observe(one, n) for one in (trial, trial + 1) for n in range(AT_ONCE)]
        assert raised(door.together(memory, calls)) == []

    assert look.count(tenant) == {"Belief": TRIALS // 10, "Event": TRIALS // 10 * AT_ONCE}
    for kept in look.beliefs(tenant).values():
        trial = kept["subject"].split()[-1]
        assert kept["subject"] == spelt[(AT_ONCE - 1) % 4](f"subject {trial}").strip()
        assert kept["created_at"].to_native() == MAY - (AT_ONCE - 1) * HOUR
        assert kept.get("unembedded") is None
        alone = on_tenant(memory, f"{tenant}-alone")
        again = alone.observe(kept["subject"], "is", "here").belief_id
        assert look.beliefs(f"{tenant}-alone")[again]["embedding"] == kept["embedding"]


def test_one_id_sent_by_many_at_once_is_written_once(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    target = memory.believe("It rains", event_id="base").belief_id
    calls: dict[str, tuple[int, Call]] = {
        "observe": (1, lambda m: m.observe("a", "b", "c", event_id="o")),
        "observe_many": (
            2,
            lambda m: m.observe_many(
                [
                    {"subject": "a", "predicate": "b", "object": f"{n}", "event_id": f"m{n}"}
                    for n in (1, 2)
                ]
            ),
        ),
        "believe": (1, lambda m: m.believe("It pours", event_id="h")),
        "evidence": (1, lambda m: m.add_evidence(target, "supporting", 0.7, event_id="t")),
        "retract": (
            1,
            lambda m: m.beliefs.retract("o", missing_ok=True, origin=Origin(event_id="r")),
        ),
        "revise": (2, lambda m: m.beliefs.revise(target, "It is wet", origin=Origin(event_id="v"))),
        "predicate": (
            1,
            lambda m: m.predicates.declare("b", cardinality="ONE", origin=Origin(event_id="p")),
        ),
    }
    events = 1
    for name, (made, call) in calls.items():
        results = door.together(memory, [call] * WRITERS)
        assert raised(results) == [], name
        events += made
        assert look.count(tenant)["Event"] == events, name
        if name not in ("observe_many", "predicate"):
            assert [r.repeated for r in results].count(False) == 1, name
    retraction = look.events(tenant)["r"]
    assert retraction["edges"] == [["RETRACTS", "Event", "o"]]


def test_one_id_for_different_things_at_once_is_taken_by_one(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    belief = memory.believe("It rains").belief_id
    text = memory.remember("The pump in the cellar is red").memory_id
    old = [memory.believe(f"old {trial}").belief_id for trial in range(TRIALS // 2)]

    def calls(trial: int) -> list[Call]:
        event_id = f"e{trial}"
        return [
            lambda m: m.believe(f"It rains {trial}", event_id=event_id),
            lambda m: m.predicates.declare("b", kappa=trial, origin=Origin(event_id=event_id)),
            lambda m: m.beliefs.revise(
                old[trial], f"new {trial}", origin=Origin(event_id=event_id)
            ),
            lambda m: m.observe("a", "b", f"x {trial}", event_id=event_id),
            lambda m: m.observe("a", "b", f"y {trial}", event_id=event_id),
            lambda m: m.observe_many(
                [{"subject": "a", "predicate": "b", "object": f"z {trial}", "event_id": event_id}]
            ),
            lambda m: m.add_evidence(belief, "supporting", 0.7, event_id=event_id),
            lambda m: m.beliefs.retract(
                "nothing", origin=Origin(event_id=event_id), missing_ok=True
            ),
            lambda m: m.remember(unlike(trial), event_id=event_id),
            lambda m: m.memories.deprecate(text, origin=Origin(event_id=event_id)),
        ]

    for some in range(0, TRIALS // 2, AT_ONCE):
        trials = range(some, some + AT_ONCE)
        results = door.together(memory, [call for trial in trials for call in calls(trial)])
        for n in range(AT_ONCE):
            own = results[10 * n : 10 * n + 10]
            assert len(raised(own)) == 9
            assert {type(error) for error in raised(own)} == {EventConflictError}
    events = look.events(tenant)
    assert {f"e{trial}" for trial in range(TRIALS // 2)} <= events.keys()
    # What was there before, one each, and what a revision believes from then on.
    revised = [e for e in events.values() if e["type"] == "REVISE"]
    assert len(events) == 2 + TRIALS + len(revised)


def test_a_retraction_at_the_time_of_what_it_retracts_is_always_linked_once(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    """An observation, its retraction and the retraction of that, all at once."""
    memory.believe("It rains", event_id="base")
    belief = claims.statement_claim("global", "It rains").id

    def race(trial: int) -> list[Call]:
        name = f"x{trial}"
        seen: Call = lambda m: m.observe("a", "b", "c", event_id=name, at=MAY)  # noqa: E731
        if trial % 3 == 1:
            seen = lambda m: m.add_evidence(belief, "supporting", 0.7, event_id=name, at=MAY)  # noqa: E731
        elif trial % 3 == 2:
            seen = lambda m: m.observe_many(  # noqa: E731
                [{"subject": "a", "predicate": "b", "object": "c", "event_id": name, "at": MAY}]
            )
        return [
            seen,
            lambda m: m.beliefs.retract(
                name, missing_ok=True, origin=Origin(event_id=f"{name} r"), at=MAY + HOUR
            ),
            lambda m: m.beliefs.retract(
                f"{name} r",
                missing_ok=True,
                origin=Origin(event_id=f"{name} rr"),
                at=MAY + 2 * HOUR,
            ),
        ]

    chance = random.Random(7)
    for some in range(0, TRIALS, AT_ONCE):
        calls = [call for trial in range(some, some + AT_ONCE) for call in race(trial)]
        chance.shuffle(calls)
        assert raised(door.together(memory, calls)) == []

    events = look.events(tenant)
    for trial in range(TRIALS):
        name = f"x{trial}"
        assert events[f"{name} r"]["edges"] == [["RETRACTS", "Event", name]]
        assert events[f"{name} rr"]["edges"] == [["RETRACTS", "Event", f"{name} r"]]
    # All of them were brought back.
    [kept] = memory.current("a", "b").candidates
    assert kept.events + memory.beliefs.get(belief).verdict.evidence == TRIALS


@pytest.mark.parametrize("first", ["observe", "observe_many", "evidence", "retract"])
def test_of_an_observation_and_its_retraction_the_second_waits_for_the_first(
    plain: Handle, look: Look, tenant: str, first: str
) -> None:
    """However they overlap: one comes while the other has written and not yet committed."""
    belief = plain.believe("It rains", event_id="base")
    acts: dict[str, Callable[[Handle], Any]] = {
        "observe": lambda m: m.observe("a", "b", "c", event_id="x"),
        "observe_many": lambda m: m.observe_many(
            [
                {"subject": "a", "predicate": "b", "object": f"c{n}", "event_id": f"x{n}"}
                for n in (1, 2)
            ]
            + [{"subject": "a", "predicate": "b", "object": "c", "event_id": "x"}]
        ),
        "evidence": lambda m: m.add_evidence(belief, "supporting", 0.7, event_id="x"),
        "retract": lambda m: m.beliefs.retract("x", missing_ok=True, origin=Origin(event_id="r")),
    }
    second = acts["observe" if first == "retract" else "retract"]
    with ThreadPoolExecutor(1) as pool:
        waiting: list[Future[Any]] = []

        def come() -> None:
            waiting.append(pool.submit(second, plain))
            while not waiting[0].done() and not is_blocked(look, tenant):
                pass

        after = "belief/retract" if first == "retract" else "belief/append"
        graph = Holding(plain._state.context.services.graph, after, come)
        acts[first](on(plain, graph=graph))
        waiting[0].result()
    assert look.events(tenant)["r"]["edges"] == [["RETRACTS", "Event", "x"]]


def is_blocked(look: Look, tenant: str) -> bool:
    """Whether a transaction of the tenant waits for a lock of another."""
    rows = look.rows(
        "SHOW TRANSACTIONS YIELD status, parameters WHERE status STARTS WITH 'Blocked' "
        "RETURN parameters"
    )
    return any(tenant in str(row["parameters"]) for row in rows)


def test_batches_of_the_same_events_in_any_order_at_once_are_kept_once(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    batch = [
        {
            "subject": f"s{n % 60}",
            "predicate": "is",
            "object": "here",
            "event_id": f"e{n:03}",
            "at": MAY,
        }
        for n in range(240)
    ]

    def send(writer: int) -> Call:
        mine = random.Random(writer).sample(batch, len(batch))
        return lambda m: m.observe_many(mine)

    def retract(writer: int) -> Call:
        return in_turn(door, [_retract(f"e{n:03}", f"r{n:03}") for n in range(writer, 240, 40)])

    results = door.together(memory, [send(n) for n in range(8)] + [retract(n) for n in range(4)])

    assert raised(results) == []
    assert look.count(tenant) == {"Belief": 60, "Event": 240 + 24}
    assert sum(not r.repeated for done in results[:8] for r in done) == 240
    assert all(b.get("unembedded") is None for b in look.beliefs(tenant).values())
    retracted = [e for e in look.events(tenant).values() if e["type"] == "RETRACT"]
    assert [e["edges"] for e in retracted] == [
        [["RETRACTS", "Event", e["target_id"]]] for e in retracted
    ]
    assert sum(b.verdict.evidence for b in memory.beliefs.list(limit=100).beliefs) == 240 - 24


def _retract(target: str, event_id: str) -> Call:
    return lambda m: m.beliefs.retract(target, missing_ok=True, origin=Origin(event_id=event_id))


def test_what_is_stated_and_replaced_at_once_is_as_its_events_say(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    """Evidence takes no lock, and what changes lineage does: caches follow from the events."""

    def acts(trial: int) -> list[Call]:
        rain, pour = f"It rains {trial}", f"It pours {trial}"
        old = claims.statement_claim("global", rain).id
        return [
            lambda m: m.believe(rain, at=MAY + 2 * HOUR),
            lambda m: m.beliefs.revise(old, pour, at=MAY + HOUR),
            lambda m: m.add_evidence(old, "refuting", 0.9),
            lambda m: m.believe(pour, at=MAY - HOUR),
            lambda m: m.beliefs.split(old, [pour, f"It is wet {trial}"], at=MAY + HOUR),
        ]

    for some in range(0, TRIALS // 2, AT_ONCE):
        for trial in range(some, some + AT_ONCE):
            memory.believe(f"It rains {trial}", at=MAY)
        trials = range(some, some + AT_ONCE)
        results = door.together(memory, [call for trial in trials for call in acts(trial)])
        assert {type(error) for error in raised(results)} <= {SupersededBeliefError}
        assert sum(isinstance(r, ReplacementReceipt) for r in results) >= AT_ONCE

    assert not has_cycle(look.edges(tenant))
    assert memory.admin.verify().wrong == ()
    found = memory.beliefs.list(include_superseded=True, limit=1_000).beliefs
    assert {b.statement: b.status for b in found if b.statement.startswith("It rains")} == {
        f"It rains {trial}": "current" for trial in range(TRIALS // 2)
    }


def test_declarations_at_once_leave_the_newest_in_force(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    def declare(n: int) -> Call:
        return lambda m: m.predicates.declare(
            "is", kappa=n, at=MAY + n * HOUR, template=f"{n} {{subject}} {{object}}"
        )

    order = random.Random(3).sample(range(WRITERS), WRITERS)
    results = door.together(memory, [declare(n) for n in order])
    assert raised(results) == []
    [found] = memory.predicates.list()
    assert found.policy.kappa == WRITERS - 1
    assert found.template == f"{WRITERS - 1} {{subject}} {{object}}"
    assert look.count(tenant) == {"Predicate": 1, "Event": WRITERS}
