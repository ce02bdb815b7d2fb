"""Statements that end something, sold, quit or cancelled, and the earlier ones that they end."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from graphmem.english import endings
from graphmem.english.mentions import sentences
from graphmem.english.versions import Statement, outdated

MAY = datetime(2025, 5, 5, tzinfo=UTC)

STATED = {
    "the Northwind Gazette": "I have a subscription to the Northwind Gazette, the paper edition.",
    "my gym membership": "I go to the gym twice a week.",
    "the choir": "I sing in the choir at St Mary.",
    "my old Volvo": "I drive an old Volvo.",
    "our allotment": "We have an allotment by the canal.",
    "the Dutch course": "I am taking a Dutch course on Tuesdays.",
}
ENDED = (
    "I cancelled {}.",
    "I have just quit {}, finally.",
    "I gave up {} last month.",
    "We dropped {} because of the costs.",
    "I got rid of {}, and I feel lighter.",
    "I've given up {}",
)
STAYS = (
    "I nearly cancelled {}.",
    "I didn't quit {}.",
    "Should I cancel {}?",
    "If I quit {}, I save money.",
    "My brother cancelled {}.",
    "I love {}.",
    "I cancelled a visit to {}.",
)


def marks(older: str, newer: str) -> bool:
    told = [
        Statement(str(n), text, MAY + n * timedelta(days=9), is_turn=True, speaker="user")
        for n, text in enumerate((older, newer))
    ]
    return outdated(told, "What about it?") == {"0": "1"}


@pytest.mark.parametrize(("thing", "ended"), [*itertools.product(STATED, ENDED)])
def test_what_is_ended_is_outdated(thing: str, ended: str) -> None:
    names = thing if "Gazette" not in thing else f"my subscription to {thing}"
    said = ended.format("St Mary and the choir" if "choir" in thing else names)
    assert marks(STATED[thing], said)


@pytest.mark.parametrize(("thing", "said"), [*itertools.product(STATED, STAYS)])
def test_what_is_not_ended_stays(thing: str, said: str) -> None:
    assert not marks(STATED[thing], said.format(thing))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I have two bikes.", "I sold a bike."),
        ("I have a blue car.", "I sold the red car."),
        ("I have a meeting with Ana on Monday.", "I cancelled the meeting."),
        (
            "My sister has a subscription to the Gazette.",
            "I cancelled my subscription to the Gazette.",
        ),
        ("I sold my car.", "I cancelled the sale of my car."),
        ("I went to the gym yesterday.", "I quit the gym."),
        ("The car stands by the bakery.", "I stopped the car by the bakery."),
        ("I cancelled my gym membership.", "I go to the gym again."),
    ],
)
def test_another_thing_stays(older: str, newer: str) -> None:
    assert not marks(older, newer)


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("I quit the gym.", {"gym"}),
        ("I stopped drinking coffee after lunch.", {"drink", "coffe"}),
        ("Our lease was cancelled.", {"leas"}),
        ("I sold one of them.", set()),
        ("I cancelled 2 orders.", set()),
        ("I stopped at the shop.", set()),
        ("He quit the gym.", set()),
    ],
)
def test_the_thing_is_named_after_the_verb(text: str, thing: set[str]) -> None:
    assert endings.ended(text) == thing


def test_one_clause_of_several_ends_it() -> None:
    assert marks("So I go to the gym twice a week.", "I quit the gym.")
    assert marks(
        "I have a Spotify account.", "The week was long, and I deleted my Spotify account."
    )


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (
            "I weigh 92 kilos, I am writing it down so that I cannot cheat.",
            "I weigh 88 kilos now, and I have seen one toe.",
        ),
        (
            "The team meeting is on Thursdays at nine.",
            "The team meeting is back on Mondays at nine.",
        ),
        (
            "The team meeting is on Thursdays at nine now.",
            "The team meeting is back on Mondays at nine.",
        ),
        (
            "My desk is in room 4, it is warm there.",
            "My desk is in room 9 now, and I can see the park.",
        ),
        (
            "My desk is in room 4, it is warm there.",
            "I can see the park, and my desk is in room 9.",
        ),
    ],
)
def test_clauses_are_compared(older: str, newer: str) -> None:
    assert marks(older, newer)


def test_a_value_that_returned_outdates_both() -> None:
    said = (
        "Our team meeting is on Mondays at nine.",
        "The team meeting is on Thursdays at nine now.",
        "The team meeting is back on Mondays at nine, people did not like the Thursdays.",
    )
    told = [
        Statement(str(n), text, MAY + n * timedelta(days=9), is_turn=True, speaker="user")
        for n, text in enumerate(said)
    ]
    assert outdated(told, "When is our team meeting?") == {"0": "2", "1": "2"}


def test_a_hostile_text_costs_linear_time() -> None:
    for piece in ("I quit ", "my the ", "I have just just ", ", and I", "gave up "):
        assert len(list(sentences(piece * 20_000))) <= 20
        endings.ended(piece * 20_000)
