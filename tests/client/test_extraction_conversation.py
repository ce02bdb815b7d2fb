"""A written conversation of thirty facts and ten updates: every slot's leader is right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import AsOf, Handle
from graphmem.model import Cardinality, Origin
from graphmem.testing import ScriptedLlm
from tests.plugins.clients import on
from tests.plugins.examples import examples
from tests.plugins.offers import answered

names = count()


class Fact(NamedTuple):
    """One thing that is said, and what it means."""

    day: datetime
    text: str
    quote: str
    subject: str
    predicate: str
    object: str
    when: str | None = None
    since: datetime | None = None
    """What `when` means on that day."""

    @property
    def at(self) -> datetime:
        return self.since or self.day


def day(month: int, of: int) -> datetime:
    return datetime(2024, month, of, 9, tzinfo=UTC)


PEOPLE = ("user", "Ana", "Ben", "Cleo", "Dora", "Emil")
FIRST = {
    "lives_in": ("Lisbon", "Oslo", "Quito", "Turin", "Lagos", "Perth"),
    "works_at": ("Acme", "Globex", "Initech", "Umbrella", "Hooli", "Stark"),
    "drives": ("a Fiat", "a Volvo", "a tram", "a Vespa", "a Lada", "a barge"),
    "plays": ("chess", "cello", "golf", "tennis", "poker", "harp"),
    "drinks": ("tea", "coffee", "mate", "cider", "water", "milk"),
}
SAID = {
    "lives_in": "{who} in {what}",
    "works_at": "{who} at {what}",
    "drives": "{who} {what}",
    "plays": "{who} {what}",
    "drinks": "mostly {who} {what}",
}
VERBS = {
    "lives_in": ("I live", "{} lives"),
    "works_at": ("I work", "{} works"),
    "drives": ("I drive", "{} drives"),
    "plays": ("I play", "{} plays"),
    "drinks": ("I drink", "{} drinks"),
}


def told(day: datetime, subject: str, predicate: str, what: str) -> Fact:
    first, third = VERBS[predicate]
    who = first if subject == "user" else third.format(subject)
    quote = SAID[predicate].format(who=who, what=what)
    text = f"Good morning. {quote[0].upper()}{quote[1:]}, you know. How are you?"
    quote = quote[0].upper() + quote[1:]
    return Fact(day, text, quote, subject, predicate, what.removeprefix("a "))


FACTS = [
    told(day(1 + n % 4, 1 + n % 28), subject, predicate, FIRST[predicate][m])
    for n, (m, subject, predicate) in enumerate(
        (m, subject, predicate) for m, subject in enumerate(PEOPLE) for predicate in FIRST
    )
]


def update(day: datetime, text: str, subject: str, predicate: str, what: str, *since: Any) -> Fact:
    when, at = since or (None, None)
    return Fact(day, text, text.rstrip("."), subject, predicate, what, when, at)


START = datetime(2024, 5, 1, tzinfo=UTC)
UPDATES = [
    update(
        day(6, 12), "Actually, Porto since May.", "user", "lives_in", "Porto", "since May", START
    ),
    update(day(6, 13), "I work at Wayne now.", "user", "works_at", "Wayne"),
    update(day(6, 14), "Ana moved to Bergen.", "Ana", "lives_in", "Bergen"),
    update(day(6, 15), "Ben sold it and drives a Saab.", "Ben", "drives", "Saab"),
    update(
        day(6, 16), "Cleo is at Tyrell since May.", "Cleo", "works_at", "Tyrell", "since May", START
    ),
    update(day(7, 17), "Dora plays squash.", "Dora", "plays", "squash"),
    update(day(7, 18), "Emil drinks rum.", "Emil", "drinks", "rum"),
    update(day(7, 19), "Ben drinks wine since last month.", "Ben", "drinks", "wine")._replace(
        when="since last month", since=datetime(2024, 6, 1, tzinfo=UTC)
    ),
    update(day(7, 20), "I play go.", "user", "plays", "go"),
    # Back to what it was.
    update(day(8, 21), "Ana is in Oslo again.", "Ana", "lives_in", "Oslo"),
]
DATES = (datetime(2024, 4, 30, tzinfo=UTC), datetime(2024, 6, 14, 12, tzinfo=UTC), day(7, 31), None)
SESSIONS: list[tuple[str, list[Fact]]] = [
    (
        f"{month}/{n % 2}",
        [f for m, f in enumerate(FACTS + UPDATES) if f.day.month == month and m % 2 == n],
    )
    for month in range(1, 9)
    for n in range(2)
]


def model(prompt: Any) -> Any:
    """A model that understands: for each message that it is to read, what is meant by it."""
    shown = prompt.user.split("<messages>")[1].split("</messages>")[0]
    known = {fact.text: fact for fact in FACTS + UPDATES}
    offers = []
    for key, text in re.findall(r'^(t\d) \S+ \S+ "(.*)"$', shown, re.MULTILINE):
        fact = known.get(text)
        if fact is not None:
            offers.append(
                {
                    "turn": key,
                    "quote": fact.quote,
                    "subject": fact.subject,
                    "predicate": fact.predicate,
                    "object": fact.object,
                    "confidence": 0.9,
                    "when": fact.when,
                }
            )
    return answered(*offers)


def expected(subject: str, predicate: str, at: datetime | None) -> str | None:
    """Who leads by the latest of what is said to hold since then."""
    said = [f for f in FACTS + UPDATES if (f.subject, f.predicate) == (subject, predicate)]
    seen = [f for f in said if at is None or f.at <= at]
    return max(seen, key=lambda f: f.at).object if seen else None


def test_the_conversation_is_what_it_says_it_is() -> None:
    assert (len(FACTS), len(UPDATES)) == (30, 10)
    assert sum(len(facts) for _, facts in SESSIONS) == 40
    assert len({(f.subject, f.predicate) for f in FACTS}) == 30
    changed = [expected("user", "lives_in", at) for at in DATES]
    assert changed == ["Lisbon", "Porto", "Porto", "Porto"]
    assert [expected("Ana", "lives_in", at) for at in DATES] == ["Oslo", "Bergen", "Bergen", "Oslo"]


@settings(max_examples=examples(2, 10, 50))
@given(order=st.permutations([one for one in SESSIONS if one[1]]))
def test_every_slots_leader_is_right_in_any_order_of_ingestion(
    plain: Handle, order: Sequence[tuple[str, list[Fact]]]
) -> None:
    memory = on(plain.scope(f"c{next(names)}"), llm=ScriptedLlm(model))
    for predicate in FIRST:
        memory.predicates.declare(
            predicate, cardinality="ONE", at=day(1, 1), origin=Origin(event_id=f"{predicate}")
        )
    for name, facts in order:
        messages = []
        for fact in sorted(facts, key=lambda one: one.day):
            later = fact.day + timedelta(minutes=1)
            messages += [
                {"role": "user", "content": fact.text, "at": fact.day},
                {"role": "assistant", "content": "Noted, and well.", "at": later},
            ]
        memory.session(name).add_messages(messages)
        done = memory.extract(session_id=name)
        assert (done.refused, done.unread) == ((), ())
        assert len(done.proposals) == len(facts)
    for subject in PEOPLE:
        for predicate in FIRST:
            for at in DATES:
                slot = memory.current(subject, predicate, as_of=AsOf(valid=at))
                assert slot.policy.cardinality is Cardinality.ONE
                leader = slot.leader.object if slot.leader else None
                assert leader == expected(subject, predicate, at), (subject, predicate, at)
