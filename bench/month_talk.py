"""Conversations for a month: invented ones, and those of LoCoMo on other days."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from graphmem.adapters.conversations import Conversation
from graphmem.errors import ConfigurationError

PEOPLE = ("ana", "ben", "chloe")
SCOPES = tuple(f"user:{name}" for name in PEOPLE)
HOURS = (9, 13, 18)
"""Hours of a day's three sessions, one in each scope."""
HABITS = (
    "I water the tomatoes on the balcony every evening.",
    "I play chess at the library on Wednesdays.",
    "I bake rye bread on Saturday mornings.",
)
"""One for each person, repeated in other words every third day."""
LOVED = ("fresh figs", "brass bands", "long ferry rides")
AGAIN = ("{}", "As always, {}", "Again, {}", "Yes, {}")
SUBJECTS = (
    *("the bus", "this soup", "that film", "the news", "our printer", "the rain", "the lift"),
    *("the queue at the bakery", "my old umbrella", "the neighbour's dog", "this chair"),
)
COMMENTS = (
    *("is rather slow", "makes me smile", "could be worse", "puzzles everybody", "smells odd"),
    *("seems fine", "bores me a little", "has its charm", "needs some patience", "is too loud"),
    *("looks funny", "never changes", "sounds strange"),
)
"""Small talk is a subject with a comment; each pair recurs after 143 sentences."""
PLACES = ("Harbour Street", "Mill Lane", "Porto", "Lyon", "Castle Square", "Riga")
FRIENDS = ("Olga", "Marek", "Ines", "Tom", "Yusuf", "Greta")
THINGS = ("the flat", "the old van", "a cello", "the garden plot", "a used camera", "the boat")


@dataclass(frozen=True, slots=True)
class Visit:
    """One session."""

    day: int
    """Day of the month, from 0."""
    at: datetime
    scope: str
    session: str
    turns: tuple[tuple[str, str], ...]
    """Name of the speaker and text of each message."""


def invented(started: datetime, days: int) -> list[Visit]:
    """Return sessions of three people: small talk, habits, and days on which much is decided."""
    return [
        _visit(started, day, place, f"{PEOPLE[place]} {day}", _said(place, day))
        for day, place in itertools.product(range(days), range(len(PEOPLE)))
    ]


def locomo(talks: Sequence[Conversation], started: datetime, days: int) -> list[Visit]:
    """Return the sessions of the three longest conversations, one of each on every day.

    Raises:
        ConfigurationError: three of them have too few sessions.
    """
    split = [
        [list(turns) for _, turns in itertools.groupby(talk.messages, lambda one: one.session)]
        for talk in talks
    ]
    chosen = sorted(split, key=len, reverse=True)[: len(SCOPES)]
    if len(chosen) < len(SCOPES) or len(chosen[-1]) < days:
        raise ConfigurationError(f"Three conversations with {days} sessions are needed.")
    return [
        _visit(
            started,
            day,
            place,
            f"{PEOPLE[place]} {day}",
            [(one.name or "user", one.content) for one in chosen[place][day]],
        )
        for day, place in itertools.product(range(days), range(len(SCOPES)))
    ]


def _visit(
    started: datetime, day: int, place: int, session: str, turns: Sequence[tuple[str, str]]
) -> Visit:
    at = started + timedelta(days=day, hours=HOURS[place])
    return Visit(day, at, SCOPES[place], session, tuple(turns))


def _said(place: int, day: int) -> list[tuple[str, str]]:
    name, turn = PEOPLE[place], day + 2 * place
    first = 3 * day + 47 * place
    chat = [_chat(n) for n in range(first, first + 3)]
    texts = [chat[0]]
    if turn % 3 == 0:
        texts.append(AGAIN[day % len(AGAIN)].format(HABITS[place]))
    if turn % 7 == 2:
        texts.append(f"I love {LOVED[place]}.")
    if turn % 5 == 1:
        texts.append(f"Yesterday I met {FRIENDS[turn % len(FRIENDS)]} after work.")
    if turn % 5 == 3:
        texts += _decided(turn)
    if turn % 5 == 4:
        texts += _decided(turn)[: 1 + turn % 3]
    return [(name, text) for text in (*texts, *chat[1:])]


def _chat(n: int) -> str:
    # The summary of a conversation leaves the question out, so it is shorter than the talk.
    line = f"{SUBJECTS[n % len(SUBJECTS)]} {COMMENTS[n % len(COMMENTS)]}"
    return f"How was the rest of your day? Well, {line}."


def _decided(turn: int) -> list[str]:
    friend, place = FRIENDS[turn % len(FRIENDS)], PLACES[turn % len(PLACES)]
    thing = THINGS[turn % len(THINGS)]
    return [
        f"I decided to buy {thing} near {place}, together with {friend}.",
        f"The papers are due on {1 + turn % 28} May, and {friend} signed them yesterday.",
        f"We moved the meeting with {friend} from Monday to {1 + turn % 27} June.",
        f"I will call {friend} tomorrow about the price, which is {100 * (1 + turn)} euros.",
        f"I no longer plan to go to {PLACES[(turn + 1) % len(PLACES)]} next month.",
    ]
