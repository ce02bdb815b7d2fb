"""Clauses of what people state, and which of them support a statement."""

from __future__ import annotations

import pytest

from graphmem.english import clauses
from graphmem.english.clauses import Clause, statement_clause


def clause(text: str, name: str | None = None) -> Clause:
    return statement_clause(text, name)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (
            "I volunteer at the homeless shelter, and it keeps me going.",
            "I volunteer at the homeless shelter",
        ),
        ("Sure, I play chess in the park on Sundays.", "I play chess in the park on Sundays."),
        ("Our boiler is serviced every autumn.", "Our boiler is serviced every autumn."),
        ("Well, the office closes at six on Fridays.", "the office closes at six on Fridays."),
    ],
)
def test_a_sentence_and_its_main_clauses_can_be_statements(text: str, stated: str) -> None:
    assert stated in [one.text for one in clauses.clauses(text, None) if one.states]


@pytest.mark.parametrize(
    "text",
    [
        "I won a chess tournament in the park last week.",
        "I would play chess in the park with friends.",
        "It keeps the chess club in the park alive.",
        "Hey Nate, long time no see in the park!",
        "Let's play chess in the park on Sundays.",
        "when I play chess in the park",
        "[image: a photo of my chess board in the park]",
        "```\nmy chess = park(board)\n```",
        "Do I play chess in the park on Sundays?",
        "I play chess in the park with you.",
        "That was a very lovely and amazing day for me.",
        # Past events, plans and requests.
        "I returned the red chess board to the shop.",
        "We agreed on a price for the old piano.",
        "I'll play chess in the park on Sundays.",
        "I'm gonna play chess in the park.",
        "Please shorten the long paragraph about my chess club.",
        "Give me three ideas for my chess club.",
        # A change is neither what was nor what is.
        "I've switched from black tea to strong coffee.",
        # An effect on the speaker, and a word that refers to another sentence.
        "The chess clock drives me mad at the club.",
        "I keep them in the wooden chess box.",
        # Praise and feelings, whatever they are about.
        "I'm truly grateful and proud of the club.",
        # Nothing but the name of a listener.
        "I'm with Caroline.",
    ],
)
def test_single_events_wishes_and_talk_are_no_statements(text: str) -> None:
    assert [one.text for one in clauses.clauses(text, None) if one.states] == []


@pytest.mark.parametrize(
    ("passage", "statement", "found"),
    [
        (
            "As for me, I've been volunteering at a homeless shelter",
            "I volunteer at the homeless shelter",
            True,
        ),
        ("I ran into Tom at the homeless shelter", "I volunteer at the homeless shelter", True),
        ("I volunteer at the library", "I volunteer at the homeless shelter", False),
        ("I never volunteer at the homeless shelter", "I volunteer at the homeless shelter", False),
        ("The train to work was late again", "I take the train to work", True),
        ("Yusuf goes to work by train", "I take the train to work", False),
        ("Yusuf helped me onto the train to work", "I take the train to work", False),
        ("I've switched from the train to the bus to work", "I take the train to work", False),
        ("My brother takes the train to work", "My train to work leaves at noon", False),
        ("I have an allergy to cats", "I'm allergic to cats", True),
        ("I ate no meat at the party", "I don't eat meat", True),
        ("I grow tomatoes and basil on the balcony", "I grow red basil", True),
        ("I grow tomatoes in a pot", "I grow red basil", False),
        # A day alone is too little.
        ("I see my dentist on Mondays", "I swim on Mondays", False),
        ("The homeless shelter has volunteers", "I volunteer at the homeless shelter", False),
        ("The rent is due on 11 May", "The rent is due on 4 May", False),
        ("The rent is due on 4 May", "The rent is due on 4 May", True),
        ("The rent is due soon", "The rent is due on 4 May", False),
        ("We have three cats at home", "We have two cats at home", False),
        ("My sister Anna lives near the harbour", "My sister Mary lives near the harbour", False),
        # One word of two, if it is similar enough.
        ("I grow tomatoes", "I grow roses", True),
        ("I grow red roses on the balcony", "I grow roses", True),
    ],
)
def test_a_clause_supports_a_statement_with_its_words_and_all_its_values(
    passage: str, statement: str, *, found: bool
) -> None:
    assert clauses.supports(clause(passage), clause(statement)) is found


def test_a_person_addressed_is_left_out_of_a_statement() -> None:
    for text in (
        "I play chess with my neighbour, Caroline.",
        "Hey Caroline, I play chess with my neighbour.",
        "Thanks, Caroline! I play chess with my neighbour.",
        "Hey Caroline! I play chess with my neighbour Caroline.",
    ):
        stems = {one.stems for one in clauses.clauses(text, None) if one.states}
        assert stems == {clause("I play chess with my neighbour.").stems}, text


def test_the_name_of_the_speaker_is_no_word_of_a_statement() -> None:
    assert clause("Ann: I grow roses.", "Ann").stems == clause("I grow roses.").stems
    assert clauses.coverage(clause("so it is"), clause("so it is")) == 0
