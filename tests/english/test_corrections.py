"""Statements that name their correction, and near misses of each kind."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from graphmem.english.versions import Statement, outdated

AT = datetime(2026, 1, 1, tzinfo=UTC)
THINGS = ("offsite", "workshop", "flea market", "tasting", "rehearsal")
PLACES = ("Leeds", "York", "Kassel", "Graz")
DAYS = ("Monday", "Friday", "4 May", "11 June")


def is_marked(older: str, newer: str, question: str = "What about it?") -> bool:
    said = [
        Statement("a", older, AT, is_turn=True, speaker="user"),
        Statement("b", newer, AT + timedelta(days=3), is_turn=True, speaker="user"),
    ]
    found = outdated(said, question)
    assert found in ({}, {"a": "b"})
    return bool(found)


MOVED = [
    (f"The {thing} is {at} {old}.", f"{newer.format(thing=thing, at=at, old=old, new=new)}")
    for thing, (at, old, new), newer in itertools.product(
        THINGS,
        [("in", *PLACES[:2]), ("on", *DAYS[:2]), ("on", *DAYS[2:])],
        [
            "The {thing} has moved from {old} to {new}.",
            "The {thing} is not {at} {old} but {at} {new}.",
            "Wait, no, the {thing} is {at} {new}.",
            "The {thing} was moved to {new}.",
        ],
    )
]
ENDED = [
    (f"I {does} {more}.", f"{start}{does}{end}.")
    for does, more in (
        ("play squash", "with Ivo on Wednesdays"),
        ("drive a van", "to work"),
        ("teach Latin", "at a school in Graz"),
        ("keep bees", "behind the barn"),
    )
    for start, end in (
        ("I don't ", " any more"),
        ("I no longer ", ""),
        ("I do not ", " any longer"),
    )
]


BACK = [
    ("Our internet is from Telnor.", "We switched our internet to Fiberly."),
    ("We switched our internet to Fiberly.", "We went back to Telnor for the internet."),
    ("The fair was moved to Tuesday.", "The fair was moved to Thursday."),
    ("My aunt is a teacher.", "Wait, no, my aunt is a nurse."),
    ("I am a member of the rowing club.", "I left the rowing club, my back hurts."),
    ("I sing in the choir of St Olaf.", "I've left the choir of St Olaf."),
]
STAYS = [
    ("Our internet is from Telnor.", "We switched our power to Fiberly."),
    ("We switched our power to Wattly.", "We went back to Telnor for the internet."),
    ("The fair was moved to Tuesday.", "The tasting was moved to Thursday."),
    ("I love the house.", "I left the house."),
    ("I sing in the choir of St Olaf.", "I left the choir of St Anne."),
]


@pytest.mark.parametrize(("older", "newer"), MOVED + ENDED + BACK)
def test_a_corrected_statement_is_outdated(older: str, newer: str) -> None:
    assert is_marked(older, newer)


OTHER_THING = [
    (older.replace(thing, other), newer)
    for (older, newer), (thing, other) in itertools.product(
        MOVED, [(thing, other) for thing, other in itertools.pairwise(THINGS)]
    )
    if thing in older
]
NEAR = [
    ("The picnic is in Leeds.", "Is the picnic moved from Leeds to York?"),
    ("The picnic was in Leeds last year.", "The picnic has moved from Leeds to York."),
    ("The picnic is in York.", "The picnic has moved from Leeds to York."),
    ("The picnic is in Leeds.", "If it rains, the picnic is moved to York."),
    ("I bought a lamp in Leeds.", "Our office moved from Leeds to York."),
    ("The train from Leeds to York is slow.", "The picnic has moved from Leeds to York."),
    ("I drive a van to work.", "I don't drive a bus any more."),
    ("I play squash with Ivo.", "I don't play squash on Fridays."),
    ("Ivo plays squash.", "I don't play squash any more."),
    ("I played squash with Ivo yesterday.", "I don't play squash any more."),
    ("The picnic costs 12 euros.", "The picnic has moved to Friday."),
    ("Anna's picnic is on Monday.", "Our picnic has been moved to Friday."),
    ("The picnic is on Monday.", "Not only the picnic but the market is on Friday."),
    ("I moved to Leeds.", "I moved the sofa to the window."),
]


@pytest.mark.parametrize(("older", "newer"), OTHER_THING + NEAR + STAYS)
def test_other_things_stay(older: str, newer: str) -> None:
    assert not is_marked(older, newer)
