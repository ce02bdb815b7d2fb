"""Facts that really changed: what holds now is answered, and what held before is marked."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem import BeliefBite, Handle, RecallPolicy, Recollection, model
from graphmem.model import AsOf
from tests.plugins.clients import on_tenant
from tests.plugins.graph import fresh_tenant
from tests.plugins.samples import on_each

pytestmark = on_each(
    ("file", "count", "changed", "returning"),
    "dyknow/slots.json",
    sample=(8, 7, 3),
    real=(64, 57, 17),
)
INSTANT = timedelta(microseconds=1)
EVERY = RecallPolicy(beliefs=50)
"""Looks at the evidence of more beliefs than any slot has values."""
OF_GROUP = {"athletes_byPayment": "team", "companies_byRevenue": "chief executive officer"}
"""What is asked about those of whom the data name one property only."""


@dataclass(frozen=True)
class Slot:
    """What one subject's property came to be, and when, oldest first."""

    subject: str
    predicate: str
    values: tuple[tuple[datetime, str], ...]
    wordings: tuple[str, ...]
    """The question in plain words, and as the data put it."""

    def at(self, when: datetime) -> set[str]:
        """Return what was said by then."""
        return {value for since, value in self.values if since <= when}

    def changes(self) -> list[tuple[datetime, datetime, str]]:
        """Return from when until when a value was the newest; those of one instant are left out."""
        groups = [
            (since, [value for _, value in together])
            for since, together in itertools.groupby(self.values, key=lambda one: one[0])
        ]
        return [
            (since, later, held[0])
            for (since, held), (later, _) in itertools.pairwise(groups)
            if len(set(held)) == 1
        ]


def read(tree: Mapping[str, Any], *path: str) -> Iterator[Slot]:
    """Yield the slots at any depth; a month or a day that nobody knows counts as the first."""
    for key, node in tree.items():
        if "answers" not in node:
            yield from read(node, *path, key)
            continue
        group, subject, *named = (*path, key)
        predicate = named[0] if named else OF_GROUP[group]
        asked = node["questions"]
        yield Slot(
            subject,
            predicate,
            tuple(sorted(filter(None, map(dated, node["answers"])))),
            (f"{subject} {predicate}?", asked.get("contextualized") or asked["generic"]),
        )


def dated(answer: str) -> tuple[datetime, str] | None:
    """Return since when a value held, and the value; None when nobody knows since when."""
    value, *marks = (part.strip() for part in answer.split("|"))
    for mark in marks:
        if mark.startswith("S:"):
            day = mark[2:].strip().lstrip("+").partition("T")[0]
            year, month, day_of = (int(part) for part in day.split("-"))
            return datetime(year, month or 1, day_of or 1, tzinfo=UTC), value
    return None


@dataclass(frozen=True)
class Facts:
    """Slots, and how many of them at least change, and come back to what they were."""

    slots: tuple[Slot, ...]
    changed: int
    returning: int


@pytest.fixture(scope="module")
def facts(file: Path, count: int, changed: int, returning: int) -> Facts:
    """Every slot of a file of DyKnow."""
    slots = tuple(read(json.loads(file.read_text("utf-8"))))
    assert len(slots) == count
    return Facts(slots, changed, returning)


@pytest.fixture(scope="module")
def slots(facts: Facts) -> Sequence[Slot]:
    """Those slots alone."""
    return facts.slots


@pytest.fixture(scope="module")
def told(client: Handle, slots: Sequence[Slot]) -> Handle:
    """A tenant that was told all values of all slots, newest first, one by one and in batches."""
    memory = on_tenant(client, fresh_tenant())
    rows: list[tuple[int, dict[str, Any]]] = [
        (n, {"subject": slot.subject, "predicate": slot.predicate, "object": value, "at": since})
        for slot in slots
        for n, (since, value) in enumerate(reversed(slot.values))
    ]
    for n, row in rows:
        if n % 2 == 0:
            memory.observe(**row)
    memory.observe_many([row for n, row in rows if n % 2])
    # Declared after all evidence was written, and for every time.
    for predicate in {slot.predicate for slot in slots}:
        memory.predicates.declare(predicate, cardinality="ONE")
    return memory


def first(found: Recollection) -> BeliefBite:
    bite = found.bites[0]
    assert isinstance(bite, BeliefBite)
    return bite


def beliefs(found: Recollection) -> list[BeliefBite]:
    return [bite for bite in found.bites if isinstance(bite, BeliefBite)]


def slot_of(bite: BeliefBite) -> tuple[str | None, str | None]:
    return bite.belief.subject, bite.belief.predicate


def others(bite: BeliefBite, slot: model.Slot, said: set[str]) -> set[str]:
    """Return the values shown with the leader: all, or 20 that include the one that matched."""
    leader, *rest = [one for one in slot.candidates if one.last_at is not None]
    assert {leader.object, *(one.object for one in rest)} == said
    matched = [one for one in rest[19:] if one.belief_id == bite.found_by] or rest[19:20]
    return {str(one.object) for one in rest[:19] + matched}


def test_there_is_something_to_be_told(facts: Facts) -> None:
    """All slots of the data, with values that change, and with values that come back."""
    slots = facts.slots
    assert len({(slot.subject, slot.predicate) for slot in slots}) == len(slots)
    # Which value is the newest is never in doubt.
    assert all(slot.values[-1][0] not in dict(slot.values[:-1]) for slot in slots)
    names = [[value for _, value in slot.values] for slot in slots]
    returns = [[v for v, _ in itertools.groupby(said)] for said in names]
    assert sum(len(said) > len(set(said)) for said in returns) >= facts.returning
    assert sum(len(set(said)) > 1 for said in names) >= facts.changed


@pytest.mark.parametrize("wording", [0, 1], ids=["plain", "as the data ask"])
def test_the_newest_value_answers_and_the_older_ones_stand_beside_it(
    told: Handle, slots: Sequence[Slot], wording: int
) -> None:
    wrong = {}
    for slot in slots:
        newest = slot.values[-1][1]
        bite = first(told.recall(slot.wordings[wording], kinds=("belief",)))
        now = told.current(slot.subject, slot.predicate)
        leader = now.leader
        assert leader is not None
        assert leader.object == newest
        shown = [other.object for other in bite.others]
        rest = others(bite, now, slot.at(datetime.now(UTC)))
        if not (
            (slot_of(bite), bite.belief.object) == ((slot.subject, slot.predicate), newest)
            and (bite.id, bite.lost, bite.head_ids) == (leader.belief_id, False, ())
            and (set(shown), len(shown)) == (rest, len(rest))
            and [o.last_at for o in bite.others]
            == sorted((o.last_at for o in bite.others), reverse=True)
        ):
            wrong[slot.subject, slot.predicate] = bite.text
    assert wrong == {}


def test_no_value_that_lost_is_shown_unless_asked_for(told: Handle, slots: Sequence[Slot]) -> None:
    newest = {(slot.subject, slot.predicate): slot.values[-1][1] for slot in slots}
    for slot in slots:
        found = told.recall(slot.wordings[0], kinds=("belief",), limit=50)
        shown = {slot_of(bite): bite.belief.object for bite in beliefs(found)}
        assert len(shown) == len(found.bites)
        assert shown.items() <= newest.items()


@pytest.mark.parametrize("policy", ["default", EVERY], ids=["default", "every"])
def test_an_old_value_is_marked_with_what_stands_in_its_place(
    told: Handle, slots: Sequence[Slot], policy: Any
) -> None:
    """By default the evidence of the 20 most relevant beliefs is read; some slots have more."""
    wrong = {}
    for slot in slots:
        newest = slot.values[-1][1]
        found = told.recall(
            slot.wordings[0], kinds=("belief",), include_hidden=True, limit=1_000, policy=policy
        )
        ours = [b for b in beliefs(found) if slot_of(b) == (slot.subject, slot.predicate)]
        marks = {str(bite.belief.object): (bite.lost, bite.head_ids) for bite in ours}
        leader = told.current(slot.subject, slot.predicate).candidates[0].belief_id
        expected: dict[str, Any] = {value: (True, (leader,)) for _, value in slot.values} | {
            newest: (False, ())
        }
        if policy == "default":
            # Whatever is left out, what holds now is not.
            expected = {value: expected[value] for value in {*marks, newest}}
            assert len(marks) >= min(len(set(dict(slot.values).values())), 10)
        if marks != expected:
            wrong[slot.subject, slot.predicate] = marks
    assert wrong == {}


def test_the_leader_of_every_past_period_is_what_held_then(
    told: Handle, slots: Sequence[Slot]
) -> None:
    periods = [(slot, *change) for slot in slots for change in slot.changes()]
    wrong = []
    for slot, since, later, held in periods:
        amid = since + (later - since) / 2
        leader = told.current(slot.subject, slot.predicate, as_of=amid).leader
        if leader is None or leader.object != held:
            wrong.append((slot.subject, slot.predicate, amid))
    assert wrong == []


@pytest.mark.parametrize("which", ["before the last change", "amid", "at the first change"])
def test_what_held_then_answers_and_what_came_later_is_not_there(
    told: Handle, facts: Facts, which: str
) -> None:
    wrong, asked = {}, 0
    for slot in facts.slots:
        changes = slot.changes()
        if not changes:
            continue
        asked += 1
        since, later, held = changes[
            {"before the last change": -1, "amid": len(changes) // 2, "at the first change": 0}[
                which
            ]
        ]
        when = {
            "before the last change": later - INSTANT,
            "amid": since + (later - since) / 2,
            "at the first change": since,
        }[which]
        then = AsOf(valid=when)
        bite = first(told.recall(slot.wordings[0], kinds=("belief",), as_of=then))
        past = told.current(slot.subject, slot.predicate, as_of=then)
        leader = past.candidates[0]
        every = told.recall(
            slot.wordings[0], kinds=("belief",), include_hidden=True, limit=50, as_of=then
        )
        seen = {b.belief.object for b in beliefs(every) if slot_of(b) == slot_of(bite)}
        if not (
            (slot_of(bite), bite.belief.object) == ((slot.subject, slot.predicate), held)
            and (bite.id, bite.lost) == (leader.belief_id, False)
            and {other.object for other in bite.others} == others(bite, past, slot.at(when))
            and seen <= slot.at(when)
        ):
            wrong[slot.subject, slot.predicate] = (when, held, bite.text)
    assert wrong == {}
    assert asked >= facts.changed
