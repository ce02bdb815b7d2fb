"""A new value in the frame of an older statement, and near misses."""

from __future__ import annotations

from itertools import product

import pytest

from graphmem.english import frames
from graphmem.english.mentions import sentences

VALUES = (
    ("The allotment meeting is in {}.", "the barn", "the chapel"),
    ("My bike stands behind {}.", "the bakery", "the school"),
    ("Our choir sings at {}.", "St Anne", "St Paul"),
    ("The tram stop is called {}.", "Old Mill", "Harbour Gate"),
    ("The heating is set to {}.", "19 degrees", "21 degrees"),
    ("We pay {} for the garage.", "80 euros", "95 euros"),
    ("Our vegetable box comes on {}.", "Tuesdays", "Fridays"),
    ("I write my diary in {}.", "a notebook", "Quillpad"),
    ("The yearly fee is {}.", "40 euros", "55 euros"),
    ("My ferry leaves at {}.", "8:10", "9:25"),
    ("The standup is at {}.", "nine", "half past nine"),
)
SAID = (
    lambda text: text.replace(".", " now."),
    lambda text: text.replace(".", " again."),
    lambda text: text.replace(".", " these days."),
    lambda text: f"From now on {text[0].lower()}{text[1:]}",
    lambda text: f"Actually, {text[0].lower()}{text[1:]}",
    lambda text: f"Sorry, I looked at the wrong line. {text}",
    lambda text: f"No, I mixed that up, {text[0].lower()}{text[1:]}",
    lambda text: text.replace(".", " now, and the dog is happy."),
)
CASES = [
    (form.format(old), say(form.format(new)))
    for (form, old, new), say in product(VALUES, SAID)
    if not form.startswith("I ") or say is not SAID[3]
]


def renews(newer: str, older: str, *, reply: bool = False) -> bool:
    return frames.renews(reading(newer), reading(older), reply=reply)


def reading(text: str) -> frames.Reading:
    return frames.read([*sentences(text)])


@pytest.mark.parametrize(("older", "newer"), CASES)
def test_what_is_said_to_be_new_replaces_the_value(older: str, newer: str) -> None:
    assert renews(newer, older)
    assert not renews(older, newer)


@pytest.mark.parametrize(("form", "old", "new"), VALUES)
def test_another_value_alone_replaces_nothing(form: str, old: str, new: str) -> None:
    assert not renews(form.format(new), form.format(old))
    assert renews(form.format(new), form.format(old), reply=True)


@pytest.mark.parametrize("say", SAID)
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Anton trains on Mondays.", "Bela trains on Wednesdays."),
        ("The lamp in the study is at 40 percent.", "The lamp in the hall is at 60 percent."),
        ("I play the guitar.", "I play the banjo."),
        ("I take sugar in my coffee.", "I take milk in my coffee."),
        ("My sister is a nurse.", "My sister is tired."),
        ("We have a cat.", "We have a dog."),
        ("I like tea.", "I like coffee."),
        ("I am allergic to nuts.", "I am allergic to pollen."),
        ("I know Ada from work.", "I know Ada from the choir."),
        ("My aunt works with Bob.", "My aunt works with Eve."),
        ("I was in Rome.", "I was in Paris."),
        ("The bus leaves at 8 from the square.", "The tram leaves at 9 from the square."),
        ("Is the vet in Mill Street?", "Is the vet in Park Road?"),
        ("If it rains, we meet in the barn.", "If it rains, we meet in the hall."),
    ],
)
def test_another_fact_replaces_nothing(say: object, older: str, newer: str) -> None:
    assert callable(say)
    assert not renews(say(newer), older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My dentist is Dr Amadi, above the bank.", "I have a new dentist, Dr Brekke."),
        ("My physio is Mr Olu.", "My new physio is Ms Tran."),
        ("Our landlord is Mr Kay.", "Ms Ito is our new landlord."),
        ("Jonas is my tutor.", "We have found a new tutor called Pia."),
    ],
)
def test_a_new_holder_of_a_role_replaces_the_old_one(older: str, newer: str) -> None:
    assert renews(newer, older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My colleague Tom is tall.", "I have a new colleague, Bo."),
        ("My dentist is Dr Amadi.", "My sister has a new dentist."),
        ("My dentist is Dr Amadi.", "I have a new doctor, Dr Brekke."),
    ],
)
def test_another_role_replaces_nothing(older: str, newer: str) -> None:
    assert not renews(newer, older)


def test_other_clauses_are_no_part_of_a_value() -> None:
    assert renews("My desk is on floor 3 again.", "My desk is on floor 1 during the repairs.")
    built = "The barn was built in 1962 and has a new roof."
    assert renews("The barn was built in 1926, you swapped the digits.", built, reply=True)


def test_a_pronoun_means_what_its_sentence_is_about() -> None:
    older = "The guest network at home is called Heron."
    assert renews("I renamed the guest network at home, it is called Kingfisher now.", older)
    assert not renews("I renamed the printer at home, it is called Kingfisher now.", older)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Book the table for six people.", "Wait, no, for eight people, my cousins come too."),
        ("Pick me up at seven.", "Sorry, at eight."),
        ("The tickets are for Thursday.", "I mean Friday."),
        ("I need two litres of milk.", "Actually, three litres."),
        ("We fly on Monday.", "Hmm, no, on Tuesday."),
        ("The key is under the blue pot.", "Not under the blue pot, under the third step."),
    ],
)
def test_a_fragment_patches_the_statement_before(older: str, newer: str) -> None:
    assert frames.patches(reading(newer), reading(older))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Book the table for six people.", "Sorry, my phone rang."),
        ("I live in Rome.", "Wait, in a minute."),
        ("We fly on Monday.", "No, thanks."),
        ("We fly on Monday.", "No, on Monday."),
        ("The key is under the blue pot.", "Not in the car, under the seat."),
        ("Pick me up at seven.", "At eight I have a call."),
        ("Pick me up at seven.", "At eight."),
    ],
)
def test_other_words_patch_nothing(older: str, newer: str) -> None:
    assert not frames.patches(reading(newer), reading(older))
