"""Sentences that restate one fact, and those that only look like it."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.two_things import RESTATED, cases
from graphmem.english import repeats
from graphmem.model import AnyBite, Reason
from graphmem.rules.one_list import collapse, join_repeats
from tests.plugins.bites import MAY, belief_bite, turn_bite

SAME = (
    (
        "I live in Marl.",
        "As always, I live in Marl.",
        "I am living in Marl, so the trip takes me an hour.",
        "My home is in Marl.",
        "Marl is where I live.",
        "Remember that I live in Marl!",
        "It takes an hour, because I live in Marl.",
        "I live in Marl, as you know.",
    ),
    (
        "The choir meets every other Monday.",
        "Our choir meets every second Monday.",
        "Every other Monday the choir meets.",
    ),
    (
        "The review is on Friday.",
        "Our review takes place on Friday.",
        "We hold the review on Friday.",
        "Do not forget, the review is on Friday.",
        "Friday is when the review takes place.",
    ),
    (
        "My dog is called Rex.",
        "Rex is my dog's name.",
        "The name of my dog is Rex.",
        "I have a dog named Rex.",
    ),
    (
        "I am allergic to walnuts.",
        "I have an allergy to walnuts.",
        "By the way, I have a walnut allergy.",
    ),
    ("My birthday is on 4 May.", "I was born on 4 May.", "Remember, my birthday is May 4th."),
    ("I work at Acme.", "I'm working for Acme.", "My employer is Acme."),
    (
        "My sister Runa lives in Oslo.",
        "Runa, my sister, lives in Oslo.",
        "Oslo is where my sister Runa lives.",
    ),
    (
        "The rent is 900 euros a month.",
        "We pay 900 euros per month in rent.",
        "Our rent costs 900 euros a month.",
    ),
    ("My favourite colour is green.", "Green is my favorite color."),
    ("I go swimming on Tuesdays.", "On Tuesdays I go swimming.", "I swim every Tuesday."),
    (
        "The project is due on 12 June.",
        "The deadline for the project is 12 June.",
        "Our project deadline is June 12.",
    ),
    ("The spare key is under the mat.", "We keep the spare key under the mat."),
    ("I have three cats.", "I own 3 cats.", "I still have three cats, so nothing is safe."),
)
"""Sentences of one speaker that state one fact."""
APART = (
    ("I live in Marl.", "My sister lives in Marl."),
    ("I live in Marl.", "I do not live in Marl."),
    ("I live in Marl.", "I lived in Marl."),
    ("I live in Marl.", "I used to live in Marl."),
    ("I live in Marl.", "I might live in Marl."),
    ("I live in Marl.", "If I live in Marl, I need a car."),
    ("I live in Marl.", "Do I live in Marl?"),
    ("I live in Marl.", "He claims that I live in Marl."),
    ("I live in Marl.", "It is not true that I live in Marl."),
    ("I live in Marl.", "I live in Marl, but only until May."),
    ("I live in Marl.", "I live near Marl."),
    ("I live in Marl.", "I live in Marl in summer."),
    ("The review is every other Friday.", "The review is every Friday."),
    ("The review is on Friday.", "The review was on Friday."),
    ("The review is on Friday.", "The budget review is on Friday."),
    ("The review is on Friday.", "“The review is on Friday.”"),
    ("My dog is called Rex.", "My sister's dog is called Rex."),
    ("I am Anna's mother.", "My mother is Anna."),
    ("Anna's brother is Ben.", "Anna is Ben's brother."),
    ("I know Anna.", "Anna knows me."),
    ("The cat chases the dog.", "The dog chases the cat."),
    ("The cat is on the mat.", "The mat is on the cat."),
    ("Not every dog is a pet.", "A pet is not every dog."),
    ("I have 2 dogs and 3 cats.", "I have 2 cats and 3 dogs."),
    (
        "The review is on Friday and the lunch on Monday.",
        "The lunch is on Friday and the review on Monday.",
    ),
    ("The train to Porto is at 8.", "The train from Porto is at 8."),
    ("Call me before 8.", "Call me after 8."),
    ("Anna is a doctor.", "Anna has a doctor."),
    ("I take my tea with sugar.", "I take my tea without sugar."),
    ("The plan is late.", "The plane is late."),
    ("My manager is Odette.", "My former manager is Odette."),
    ("She lives in Oslo.", "He lives in Oslo."),
    ("We pay 900 euros for the flat.", "We pay 900 euros for the garage."),
    ("I will work at Acme.", "I work at Acme."),
    ("I owe Ben 20 euros.", "Ben owes me 20 euros."),
    ("My first dog was Rex.", "My second dog was Rex."),
    ("I only drink tea.", "I drink tea."),
    ("Is IT late?", "Is it late?"),
)
"""Sentences that state two facts, or only one of them a fact."""


def are_one(a: str, b: str) -> bool:
    one, other = repeats.read(a), repeats.read(b)
    return one.restates(other) or other.restates(one)


@pytest.mark.parametrize("texts", SAME, ids=lambda texts: texts[0])
def test_other_words_for_a_fact_restate_it(texts: tuple[str, ...]) -> None:
    for text in texts[1:]:
        assert repeats.read(text).restates(repeats.read(texts[0])), text
        assert ("one", "other") in repeats.near_pairs({"one": text, "other": texts[0]}), text


@pytest.mark.parametrize("pair", APART, ids="|".join)
def test_another_value_person_or_thing_restates_nothing(pair: tuple[str, str]) -> None:
    assert not are_one(*pair)


def test_no_fact_restates_another_one() -> None:
    for one, other in itertools.combinations(SAME, 2):
        assert not any(are_one(a, b) for a, b in itertools.product(one, other))


def test_two_things_and_two_values_are_never_joined() -> None:
    wrong = [one for one in cases() if one.relation != RESTATED and are_one(one.first, one.second)]
    assert wrong == []


def test_the_result_that_is_shown_states_everything() -> None:
    short, long = "I live in Marl.", "I live in Marl. The rent is 900 euros."
    assert repeats.read(long).restates(repeats.read(short))
    assert not repeats.read(short).restates(repeats.read(long))


def listed(*bites: AnyBite) -> list[str]:
    return [bite.id for bite in join_repeats(bites, bites, 30)]


def test_a_fact_in_several_wordings_is_one_result() -> None:
    turns = [turn_bite(n, text, at=MAY + timedelta(days=n)) for n, text in enumerate(SAME[0][:4])]
    others = [turn_bite(9, "It rains.")]
    [one, other] = join_repeats((turns[1], *others, turns[3], turns[0]), turns, 30)
    assert (one.id, set(one.covers)) == (turns[3].id, {turns[0].id, turns[1].id})
    assert other.id == others[0].id
    # The one that states more is shown, though it is older.
    assert listed(turns[3], turns[2]) == [turns[2].id]
    assert listed(turns[2], turns[3]) == [turns[2].id]


def test_two_speakers_state_two_facts() -> None:
    both = turn_bite(1, SAME[0][0]), turn_bite(2, SAME[0][1], name="Ben")
    assert len(listed(*both)) == 2
    assert len(listed(turn_bite(1, SAME[0][0]), turn_bite(2, SAME[0][1], role="assistant"))) == 2


def test_what_is_outdated_stands_for_nothing_that_is_not() -> None:
    old = turn_bite(1, SAME[0][2]).model_copy(update={"outdated_by": "t_9"})
    new = turn_bite(2, SAME[0][0], at=MAY + timedelta(days=1))
    assert listed(old, new) == [old.id, new.id]
    same = turn_bite(1, SAME[0][1]).model_copy(update={"outdated_by": "t_9"})
    assert listed(same, new) == [new.id]


def test_a_mark_names_the_result_that_is_shown() -> None:
    first, again = (turn_bite(n, SAME[0][n], at=MAY + timedelta(days=n)) for n in (0, 1))
    old = turn_bite(5, "I live in Ulm.").model_copy(update={"outdated_by": first.id})
    [shown, outdated] = join_repeats((first, old, again), (first, old, again), 30)
    assert (shown.id, outdated.outdated_by) == (again.id, again.id)


def test_a_belief_stands_for_what_restates_its_source() -> None:
    said, again = (turn_bite(n, SAME[0][n]) for n in (0, 1))
    quoted = Reason(event_id="e", type="EVIDENCE", at=MAY, trust="person", turn_id=said.id)
    belief = belief_bite(1, "user lives in Marl", reasons=(quoted,), trust="tool")
    found = belief, said, turn_bite(2, SAME[0][1], at=MAY - timedelta(days=1))
    shown = collapse(found, "Where?", 30)
    [one] = join_repeats(shown, found, 30)
    assert (one.id, set(one.covers)) == (belief.id, {said.id, found[2].id})
    lost = belief.model_copy(update={"ambiguous": True, "covers": (said.id,)})
    assert len(join_repeats((lost, again), found, 30)) == 2


LEADS = ("", "As always, ", "Remember that ", "By the way, ", "Yes, ")
TAILS = ("", ", so the trip is long", ", because I like it", ", as you know")
PEOPLE = {"i": ("I live in {}", "my home is in {}"), "sister": ("my sister lives in {}",)}
PLACES = ("Marl", "Ulm", "New Marl")
STATED = st.tuples(
    st.sampled_from(LEADS),
    st.sampled_from([(who, text) for who, texts in PEOPLE.items() for text in texts]),
    st.sampled_from(PLACES),
    st.sampled_from(TAILS),
    st.booleans(),
)


@given(st.lists(STATED, max_size=9), st.integers(1, 6))
def test_joined_results_state_one_value_and_the_first_do_not_depend_on_the_rest(
    drawn: list[tuple[str, tuple[str, str], str, str, bool]], compared: int
) -> None:
    bites: list[AnyBite] = []
    facts = {}
    for n, (lead, (who, frame), place, tail, is_denied) in enumerate(drawn):
        text = frame.format(place)
        if is_denied:
            text = text.replace(" live ", " do not live ").replace(" lives ", " does not live ")
            text = text.replace(" is in ", " is not in ")
        one = turn_bite(n, f"{lead}{text}{tail}.", at=MAY + timedelta(hours=n * 7 % 5))
        bites.append(one)
        facts[one.id] = who, place, is_denied
    shown = join_repeats(bites, bites, compared)
    named = [one for bite in shown for one in (bite.id, *bite.covers)]
    assert sorted(named) == sorted(facts)
    assert all(facts[one] == facts[bite.id] for bite in shown for one in bite.covers)
    for more in range(compared, len(bites)):
        first = [bite.id for bite in join_repeats(bites[:more], bites, compared)]
        assert [bite.id for bite in shown][: len(first)] == first
