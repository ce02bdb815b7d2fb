"""Nothing in a synthesised statement is new: names, numbers, dates and negations have a source."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.consolidation import rules, synthesis

FACTS = (
    (
        "Ana goes to work by tram.",
        ("I take the tram to work.", "The tram to work was late again.", "I came by tram to work."),
        "Ana does not go to work by tram.",
    ),
    (
        "Ben runs along the river in the morning.",
        (
            "I run along the river before breakfast.",
            "Ran my usual loop along the river this morning.",
        ),
        "Ben never runs along the river.",
    ),
    (
        "Chloe has a cat called Miso.",
        ("My cat Miso woke me at five.", "I have a cat, Miso, who hates the hoover."),
        "Chloe has no cat called Miso.",
    ),
    (
        "Dina bakes rye bread on Saturdays.",
        ("I bake rye bread on Saturdays.", "It's Saturday, so I bake rye bread."),
        "Dina no longer bakes rye bread on Saturdays.",
    ),
    (
        "Omar pays 40 euros for the gym.",
        (
            "I pay 40 euros for the gym.",
            "The gym costs me 40 euros.",
            "I pay forty euros at my gym.",
        ),
        "Omar doesn't pay 40 euros for the gym.",
    ),
)
DENIED = (
    (
        "Ana eats no meat.",
        ("I don't eat meat.", "I never eat meat.", "I haven't eaten meat since then."),
        "Ana eats meat.",
    ),
    (
        "Ben does not drink coffee after two.",
        ("I don't drink coffee after two.", "I never drink coffee after two."),
        "Ben drinks coffee after two.",
    ),
    (
        "Chloe takes no meetings before ten.",
        ("I don't take meetings before ten.", "I never take meetings before ten."),
        "Chloe takes meetings before ten.",
    ),
)
NAMES = ("Bob", "Zoë", "O'Neill", "Kyoto", "Initech", "Dr. Smith", "McDonald's", "Москва", "田中")
VALUES = (
    *NAMES,
    *("seventeen", "three hundred", "2.75", "€99", "15%", "ninth", "a dozen", "half", "thousands"),
    *("May", "March", "Tuesday", "summer", "2019", "4 July", "noon", "7 pm", "the nineties"),
)
FRAMES = ("{} with {}.", "{} since {}.", "{}, says {}.", "{} ({}).", "{} near {}.")


ASKED = (
    ("Give me three ideas for a present.", "three times"),
    ("Please book two seats.", "two times"),
    ("Could you write to Bob for me?", "with Bob"),
    ("Remind me of Kyoto tomorrow.", "near Kyoto"),
)


def refused(statement: str, name: str, texts: tuple[str, ...]) -> tuple[str, str] | None:
    return synthesis.ungrounded(statement, [(name, text) for text in texts])


@pytest.mark.parametrize(("statement", "texts", "changed"), [*FACTS, *DENIED])
def test_what_the_sources_state_is_accepted_and_its_denial_refused(
    statement: str, texts: tuple[str, ...], changed: str
) -> None:
    name = statement.split()[0]
    assert refused(statement, name, texts) is None
    code, problem = refused(changed, name, texts) or ("", "")
    assert code == "refused"
    assert "negated" in problem


@pytest.mark.parametrize("added", VALUES)
@given(st.sampled_from(FACTS), st.sampled_from(FRAMES))
def test_an_added_name_number_or_date_is_refused(
    added: str, fact: tuple[str, tuple[str, ...], str], frame: str
) -> None:
    statement, texts, _ = fact
    code, problem = refused(
        frame.format(statement.rstrip("."), added), statement.split()[0], texts
    ) or ("", "")
    assert code == "refused"
    assert "occurs in nothing" in problem


@given(st.sampled_from(FACTS), st.one_of(st.integers(101, 10**6), st.dates()))
def test_any_number_and_any_date_is_refused(
    fact: tuple[str, tuple[str, ...], str], added: object
) -> None:
    statement, texts, _ = fact
    assert refused(f"{statement.rstrip('.')} since {added}.", statement.split()[0], texts)


@given(st.sampled_from(FACTS), st.sampled_from(ASKED))
def test_a_request_is_no_source(
    fact: tuple[str, tuple[str, ...], str], asked: tuple[str, str]
) -> None:
    statement, texts, _ = fact
    request, added = asked
    said = tuple(f"{text} {request}" for text in texts)
    assert refused(statement, statement.split()[0], said) is None
    assert refused(f"{statement.rstrip('.')} {added}.", statement.split()[0], said) is not None


@given(st.sampled_from(FACTS), st.sampled_from(NAMES))
def test_an_added_name_is_refused_at_the_start_too(
    fact: tuple[str, tuple[str, ...], str], added: str
) -> None:
    statement, texts, _ = fact
    assert refused(f"{added} and {statement}", statement.split()[0], texts) is not None


@given(st.sampled_from(FACTS), st.sampled_from(("every day", "each week", "in the evening")))
def test_how_often_something_happens_is_concluded(
    fact: tuple[str, tuple[str, ...], str], often: str
) -> None:
    statement, texts, _ = fact
    assert refused(f"{statement.rstrip('.')} {often}.", statement.split()[0], texts) is None


@pytest.mark.parametrize(
    ("statement", "texts", "accepted"),
    [
        # Another word denies, too.
        ("Ana avoids meat.", ("I don't eat meat.", "I never eat meat."), True),
        ("Ana eats no meat.", ("I avoid meat.", "I stay away from meat."), True),
        # A negation about something else.
        ("Ana takes no tram.", ("I take the tram to work. I don't like the soup.",), False),
        ("Ana takes the tram.", ("I take the tram to work. I don't like the soup.",), True),
        # Most of the sources count.
        ("Ana eats meat.", ("I eat meat.", "I eat meat on Sundays.", "I don't eat meat."), True),
        ("Ana eats meat.", ("I eat meat.", "I never eat meat.", "I don't eat meat."), False),
        ("Ana eats no meat.", ("I eat meat.", "I eat meat, not fish.", "I don't eat meat."), False),
    ],
)
def test_a_negation_counts_where_it_stands(
    statement: str, texts: tuple[str, ...], *, accepted: bool
) -> None:
    assert (rules.changed_negation(statement, texts) is None) is accepted


@pytest.mark.parametrize(
    ("statement", "speaker", "expected"),
    [
        ("Ana goes by tram.", "Ana", "I goes by tram."),
        ("Ana Silva goes by tram.", "ana silva", "I goes by tram."),
        ("The user goes by tram.", None, "I goes by tram."),
        ("Anabel goes by tram.", "Ana", "Anabel goes by tram."),
        ("The tram takes Ana to work.", "Ana", "The tram takes Ana to work."),
    ],
)
def test_a_statement_about_the_speaker_is_put_in_the_first_person(
    statement: str, speaker: str | None, expected: str
) -> None:
    assert rules.first_person(statement, speaker) == expected
