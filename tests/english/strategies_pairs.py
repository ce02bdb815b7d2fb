"""Pairs of texts made by rule: changed facts, repeats, and hypothesis strategies over them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

from hypothesis import strategies as st


class Pair(NamedTuple):
    """Two texts and in what the second differs from the first."""

    kind: str
    first: str
    second: str


NUMBER_FRAMES = (
    "The rate limit is {} requests per minute.",
    "Maria's team has {} engineers now",
    "the flat costs {} euros a month",
    "We keep backups for {} days, then delete them.",
    "User wants {} reminders before each appointment",
    "Test coverage reached {}% after the last sprint.",
)
NUMBERS = (
    ("100", "200"),
    ("8", "10"),
    ("1,000", "1,200"),
    ("2.5", "25"),
    ("three", "four"),
    ("twelve", "twenty"),
    ("5", "seven"),
    ("2k", "3k"),
)
DATE_FRAMES = (
    "The review with Tomás was set for {}.",
    "{} is when the lease ends",
    "we fly to Oslo {} with the whole family",
    "Her dentist appointment: {}, at the old clinic.",
    "Submit the draft by {} please",
    "the boiler was checked {} by Mr Ito",
)
DATES = (
    ("5 May", "6 May"),
    ("March 15, 2024", "March 15, 2025"),
    ("Apr 1", "Apr 5"),
    ("2024-06-01", "2024-07-01"),
    ("3 PM", "4:30 PM"),
    ("yesterday", "tomorrow"),
    ("next week", "next month"),
    ("in June", "in July"),
)
WEEKDAYS = (
    ("Monday", "Tuesday"),
    ("Tuesday", "Wednesday"),
    ("on Friday", "on Thursday"),
    ("Sat", "Sun"),
    ("next Wednesday", "next Thursday"),
    ("every Monday", "every Friday"),
)
NAME_FRAMES = (
    "{} leads the payments project.",
    "I moved to {} with my sister",
    "The dog's vet is in {}, near the station",
    "user's favourite author is {}",
    "Deploys go through {} since the spring.",
    "Call {} first, then the office",
)
NAMES = (
    ("Lisbon", "Porto"),
    ("Alice", "Anna"),
    ("PostgreSQL", "MySQL"),
    ("O'Brien", "O'Neill"),
    ("Müller", "Möller"),
    ("X-22", "X-23"),
    ("東京", "大阪"),
    ("berlin", "bern"),
)
NEGATIONS = (
    ("I like hiking in the rain.", "I don't like hiking in the rain."),
    ("The server accepts uploads over 1 GB", "The server never accepts uploads over 1 GB"),
    ("Ben is coming to the wedding", "Ben is not coming to the wedding"),
    ("She eats meat and fish.", "She eats neither meat nor fish."),
    ("He can drive.", "He cannot drive."),
    ("I take my coffee with sugar", "I take my coffee without sugar"),
    ("The contract has a notice period.", "The contract has no notice period."),
    ("Nina works for the city council", "Nina no longer works for the city council"),
    ("Dogs are allowed in the office", "Dogs aren't allowed in the office"),
    ("Everybody in the team speaks French.", "Nobody in the team speaks French."),
    ("Pavel smokes on weekends", "Pavel stopped smoking on weekends"),
    ("We will renew the domain", "We won't renew the domain"),
    ("I have been to Japan", "I have never been to Japan"),
    ("The tests run in CI.", "The tests do not run in CI."),
    ("My phone has a headphone jack", "My phone lacks a headphone jack"),
    ("Rosa did finish the report.", "Rosa didn't finish the report."),
)
NEGATED_FRAMES = (
    "Ivo {} in the garden.",
    "our neighbour {} for the parish",
    "The old pump {} fine",
)
NEGATED = (
    ("works", "never works"),
    ("is working", "isn't working"),
    ("can work", "can't work"),
    ("works", "no longer works"),
    ("did work", "did not work"),
    ("will work", "won't work"),
    ("works", "hardly works"),
)
VALUES = (
    ("User prefers tea in the morning", "User prefers coffee in the morning"),
    ("i moved to porto in spring", "i moved to lisbon in spring"),
    ("Dark mode is enabled for the editor", "Dark mode is disabled for the editor"),
    ("Sales increased after the launch", "Sales decreased after the launch"),
    ("Lena is happy with her new job", "Lena is sad with her new job"),
    ("Turn left at the bridge", "Turn right at the bridge"),
    ("Take the pill before dinner", "Take the pill after dinner"),
    ("Alice manages Bob", "Bob manages Alice"),
    ("The train goes from Ulm to Bonn", "The train goes from Bonn to Ulm"),
    ("i like tea more than coffee", "i like coffee more than tea"),
    ("I work at the harbour", "I worked at the harbour"),
    ("The shop is open all night", "The shop was open all night"),
    ("He has a cat", "He has cats"),
    ("Build with make", "Build with ninja"),
    ("The key lies under the mat", "The key lies on the mat"),
    ("You can pay by card", "You must pay by card"),
)
REPEATED = (
    "I don't like waiting in queues.",
    "She's working at the harbour office in Porto",
    "The deploy is on Tuesday at 3 PM",
    "We've booked the flat for two weeks, starting 5 May.",
    "Omar can't eat peanuts",
    "It's the third time the build broke this week.",
    "My sister lives in Lyon and my brother lives in Ghent.",
    "The API key rotates every 90 days",
    "They won't renew the contract with Acme",
    "User prefers short answers, and no bullet points.",
    "I've never been to Japan",
    "The limit is 1,000 requests per minute.",
    "Lena and Tom are getting married in June",
    "The backup runs at 02:30 every night",
)
LONG_FORMS = (
    ("don't", "do not"),
    ("can't", "cannot"),
    ("won't", "will not"),
    ("She's ", "She is "),
    ("It's ", "It is "),
    ("We've ", "We have "),
    ("I've ", "I have "),
)


def changed_facts() -> list[Pair]:
    """Return pairs that differ in one number, date, weekday, name, negation or value."""
    framed = (
        ("number", NUMBER_FRAMES, NUMBERS),
        ("date", DATE_FRAMES, DATES),
        ("weekday", DATE_FRAMES, WEEKDAYS),
        ("name", NAME_FRAMES, NAMES),
        ("negation", NEGATED_FRAMES, NEGATED),
    )
    made = [
        Pair(kind, frame.format(old), frame.format(new))
        for kind, frames, changes in framed
        for frame, (old, new) in itertools.product(frames, changes)
    ]
    made += [Pair("negation", *pair) for pair in NEGATIONS]
    return made + [Pair("value", *pair) for pair in VALUES]


def lightly_reworded() -> list[Pair]:
    """Return the changed facts with case, punctuation or fillers of one side changed too."""
    wordings = itertools.cycle(WORDINGS.values())
    return [Pair(p.kind, p.first, next(wordings)(p.second)) for p in changed_facts()]


def repeats() -> list[Pair]:
    """Return texts and themselves in another wording that changes nothing."""
    made = [
        Pair(name, text, reword(text)) for name, reword in WORDINGS.items() for text in REPEATED
    ]
    return made + [
        Pair("contraction", text, text.replace(short, long))
        for text in REPEATED
        for short, long in LONG_FORMS
        if short in text
    ]


def _lowered_first(text: str) -> str:
    return text[0].lower() + text[1:]


WORDINGS: dict[str, Callable[[str], str]] = {
    "lower case": str.lower,
    "upper case": str.upper,
    "punctuation": lambda text: f"{text.rstrip('.')}!",
    "quotes": lambda text: f"“{text.replace(chr(39), '’')}”",
    "white space": lambda text: f"  {text.replace(' ', '  ')}\n",
    "filler first": lambda text: f"Well, {_lowered_first(text)}",
    "filler inside": lambda text: text.replace(" ", " really ", 1),
    "link": lambda text: f"And {_lowered_first(text)}",
}


_VOCABULARY = st.sampled_from(
    [word for text in (*REPEATED, *(p.first for p in changed_facts())) for word in text.split()]
)
texts = st.one_of(
    st.lists(_VOCABULARY, max_size=12).map(" ".join),
    st.text(max_size=60),
    st.sampled_from([text for pair in changed_facts() for text in pair[1:]]),
)
"""Texts made of the words above, of real sentences, and of anything at all."""
