"""Conversations for a month: ordinary talk with a list of what recurs in it, and that of LoCoMo.

The ordinary talk is made from the templates of `month_talk.toml`. People come back to the same
things in other words, mention them in passing, change some, and talk about much else; others have
habits of the same kinds. Which turn states which fact is known from the making.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from graphmem.cli.conversation_files import Conversation
from graphmem.errors import ConfigurationError

PEOPLE = ("ana", "ben", "chloe")
SCOPES = tuple(f"user:{name}" for name in PEOPLE)
ASSISTANT = "assistant"
HOURS = (9, 13, 18)
"""Hours of a day's three sessions, one in each scope."""
TIMES = (6, 6, 5, 5, 5, 4, 4, 4, 3, 3, 2, 2, 1, 1)
"""Numbers of sessions in which a person states each lasting fact."""
CHANGED = (3, 4)
"""Numbers of sessions before and after a change, for each fact that changes."""
CHANGES = 2
"""Facts of a person that change."""
ENOUGH = 3
"""Number of sessions from which on a fact recurs."""
DECIDING = 7
"""Days between two sessions in which much is decided."""
DECISIONS = 5


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


@dataclass(frozen=True, slots=True)
class Recurring:
    """A fact that a person states in some sessions."""

    scope: str
    statement: str
    """The fact in one sentence, in words that no turn has."""
    sentences: frozenset[str]
    """Sentences that state it."""
    turns: frozenset[str]
    """Texts of the turns in which it is stated."""
    sessions: int
    """Number of sessions with such a turn."""
    holds: bool
    """Whether it is true at the end of the month."""

    @property
    def recurs(self) -> bool:
        """Return whether enough sessions state it for a belief."""
        return self.sessions >= ENOUGH


@dataclass(frozen=True, slots=True)
class Talk:
    """The sessions of a month, and what recurs in them if it is known."""

    visits: Sequence[Visit]
    facts: Sequence[Recurring] = ()


@dataclass(frozen=True, slots=True)
class _Planned:
    """One sentence of a day."""

    day: int
    text: str
    fact: str | None


@cache
def _templates() -> Mapping[str, Any]:
    with Path(__file__).with_suffix(".toml").open("rb") as file:
        return tomllib.load(file)


def ordinary(started: datetime, days: int, seed: int = 1) -> Talk:
    """Return a month of ordinary talk of three people with an assistant.

    Args:
        started: first day.
        days: number of days with a session of each person.
        seed: another one gives other facts, wordings and days.
    """
    visits: list[Visit] = []
    facts: list[Recurring] = []
    for place in range(len(PEOPLE)):
        person = _Person(place, days, Random(f"{seed} {PEOPLE[place]}"))  # noqa: S311
        visits += person.visits(started)
        facts += person.facts()
    return Talk(sorted(visits, key=lambda one: one.at), facts)


class _Person:
    """The month of one person."""

    def __init__(self, place: int, days: int, rng: Random) -> None:
        self._place, self._days, self._rng = place, days, rng
        self._sentences: dict[str, set[str]] = {}
        self._turns: dict[str, set[str]] = {}
        self._days_of: dict[str, set[int]] = {}
        self._over: set[str] = set()
        self._said: dict[int, list[_Planned]] = {day: [] for day in range(days)}
        # A template of single events comes back when all were used.
        self._events, self._decided = (
            itertools.cycle(rng.sample(_templates()[name], len(_templates()[name])))
            for name in ("events", "decided")
        )
        self._plan()

    def facts(self) -> list[Recurring]:
        """Return what the person states in the month."""
        return [
            Recurring(
                scope=SCOPES[self._place],
                statement=fact,
                sentences=frozenset(sentences),
                turns=frozenset(self._turns[fact]),
                sessions=len(self._days_of[fact]),
                holds=fact not in self._over,
            )
            for fact, sentences in self._sentences.items()
        ]

    def visits(self, started: datetime) -> list[Visit]:
        """Return the person's sessions, one a day."""
        return [
            _visit(started, day, self._place, f"{PEOPLE[self._place]} {day}", self._talk(day))
            for day in range(self._days)
        ]

    def _plan(self) -> None:
        kinds = list(_templates()["kind"])
        self._rng.shuffle(kinds)
        changing = [kind for kind in kinds if "change" in kind][:CHANGES]
        lasting = [kind for kind in kinds if kind not in changing][: len(TIMES)]
        for kind, times in zip(lasting, TIMES, strict=True):
            self._state(kind, self._slots(kind), self._rng.sample(range(self._days), times))
            self._mention_others(kind)
        for kind in changing:
            before, after = CHANGED
            turn = self._rng.randrange(self._days // 3, self._days // 2)
            old, new = self._slots(kind), self._slots(kind)
            while any(old[name] == new[name] for name in old):
                new = self._slots(kind)
            self._over.add(self._state(kind, old, self._rng.sample(range(turn), before)))
            fact = self._state(kind, new, self._rng.sample(range(turn + 1, self._days), after))
            [changed] = new.keys() & {"mode", "drink", "project", "day", "city"}
            told = kind["change"].format(**new, old=old[changed])
            self._say(turn, told, fact)
            self._mention_others(kind)

    def _slots(self, kind: Mapping[str, Any]) -> dict[str, str]:
        return {name: self._rng.choice(values) for name, values in kind["slots"].items()}

    def _state(self, kind: Mapping[str, Any], slots: Mapping[str, str], days: Sequence[int]) -> str:
        """Say a fact on these days, in other words each time; return the fact."""
        fact: str = kind["states"].format(name=PEOPLE[self._place].capitalize(), **slots)
        wordings = self._rng.sample(kind["wordings"], min(len(days), len(kind["wordings"])))
        for day, wording in zip(sorted(days), itertools.cycle(wordings), strict=False):
            self._say(day, wording.format(**slots), fact)
        return fact

    def _mention_others(self, kind: Mapping[str, Any]) -> None:
        for text in kind["other"]:
            slots = self._slots(kind) | {"friend": self._rng.choice(_templates()["friends"])}
            self._say(self._rng.randrange(self._days), text.format(**slots), None)

    def _say(self, day: int, text: str, fact: str | None) -> None:
        text = text[0].upper() + text[1:]
        self._said[day].append(_Planned(day, text, fact))
        if fact is not None:
            self._sentences.setdefault(fact, set()).add(text)
            self._days_of.setdefault(fact, set()).add(day)

    def _talk(self, day: int) -> list[tuple[str, str]]:
        rng = self._rng
        said = [(one.text, one.fact) for one in self._said[day]]
        said += [(self._small(), None) for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.5:
            said.append((self._filled(next(self._events)), None))
        rng.shuffle(said)
        if (day + 2 * self._place) % DECIDING == 0:
            said += [(self._filled(next(self._decided)), None) for _ in range(DECISIONS)]
        turns: list[tuple[str, str]] = []
        while said:
            text, fact = said.pop(0)
            if rng.random() < 0.3:
                text = f"{self._small()} {text}"
            if rng.random() < 0.3:
                text = f"{text} {rng.choice(_templates()['asks'])}"
            if fact is not None:
                self._turns.setdefault(fact, set()).add(text)
            turns.append((PEOPLE[self._place], text))
            turns.append((ASSISTANT, rng.choice(_templates()["assistant"])))
        return turns

    def _small(self) -> str:
        return self._filled(self._rng.choice(_templates()["small"]))

    def _filled(self, text: str) -> str:
        lists = {
            "thing": "things",
            "comment": "comments",
            "friend": "friends",
            "place": "places",
            "sum": "sums",
            "nth": "nths",
            "buy": "buys",
        }
        slots = {name: self._rng.choice(_templates()[many]) for name, many in lists.items()}
        return text.format(**slots, day=self._rng.randint(1, 28))


def locomo(talks: Sequence[Conversation], started: datetime, days: int) -> Talk:
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
    return Talk(
        [
            _visit(
                started,
                day,
                place,
                f"{PEOPLE[place]} {day}",
                [(one.name or "user", one.content) for one in chosen[place][day]],
            )
            for day, place in itertools.product(range(days), range(len(SCOPES)))
        ]
    )


def _visit(
    started: datetime, day: int, place: int, session: str, turns: Sequence[tuple[str, str]]
) -> Visit:
    at = started + timedelta(days=day, hours=HOURS[place])
    return Visit(day, at, SCOPES[place], session, tuple(turns))
