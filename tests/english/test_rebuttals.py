"""Replies that reject what an assistant stated, and near misses of each kind."""

from __future__ import annotations

import itertools

import pytest

from graphmem.english.rebuttals import rejects

STATED = {
    "Your boiler is from Haldor and was serviced in spring.": (
        "It was not serviced at all, that is the whole problem.",
        "The boiler has not been serviced for three years.",
        "No, it's from Brandt.",
        "It wasn't serviced.",
    ),
    "Your lease ends in June.": (
        "No, it's in May.",
        "My lease ends in May, not June.",
        "Actually, it is May.",
        "That's wrong.",
        "My lease doesn't end in June.",
        "No, my lease ends in May.",
    ),
    "Your sister Ana is a nurse in Graz.": (
        "My sister is not a nurse.",
        "This is not true.",
        "No, in Linz.",
        "She isn't a nurse.",
    ),
    "You live in Riga.": (
        "I don't live in Riga.",
        "No, I live in Oslo.",
        "I never lived in Riga.",
        "You are mistaken.",
        "No, in Oslo.",
    ),
    "Your flight leaves at 9:40 on Tuesday.": (
        "No, at 10:15.",
        "No, on Wednesday.",
        "It does not leave on Tuesday.",
        "No, it's Thursday.",
        "You got that wrong.",
    ),
    "Your rent is 840 euros.": (
        "No, it's 910 euros.",
        "No, 910.",
        "My rent is not 840 euros.",
        "My rent is 910 euros, not 840.",
    ),
    "You have two cats. They are called Miso and Tofu.": (
        "No, three cats.",
        "I don't have two cats.",
        "That's incorrect.",
    ),
    "Your dentist is Doctor Moss.": ("My dentist is not Doctor Moss.", "No, that's not right."),
}
REJECTED = [(stated, reply) for stated, replies in STATED.items() for reply in replies]
LEADS = ("", "Sorry, but ")
CASES = [
    (stated, reply if not lead or reply.startswith("I ") else lead + reply[0].lower() + reply[1:])
    for (stated, reply), lead in itertools.product(REJECTED, LEADS)
    if not (lead and reply.startswith(("My", "You", "That")))
]
AGREES = (
    "Yes, that is right.",
    "Right.",
    "Thanks, that is all.",
    "No problem.",
    "No, that is all for today.",
    "Is that so?",
    "How do you know that?",
    "I don't know.",
    "Not that I can think of.",
    "Actually, can you remind me of it tomorrow?",
    "No thanks.",
    "I do not need anything else.",
)
OTHER = [
    ("Your boiler was serviced in spring.", "The radiator was not serviced."),
    ("Your boiler was serviced in spring.", "I did not pay for it yet."),
    ("Your boiler was serviced in spring. Shall I book the next one for May?", "No, in June."),
    ("Was your boiler serviced in spring?", "It was not serviced."),
    ("Your train leaves at 9:40. Do you need a taxi?", "No, on foot."),
    ("You like green tea.", "I don't like coffee."),
    ("You could have the boiler serviced.", "It has not been serviced."),
    ("Your sister lives in Graz.", "My brother does not live in Graz."),
    ("Your sister lives in Graz.", "My brother lives in Linz."),
    ("Your rent is 840 euros.", "My deposit is 900 euros."),
    ("Your lease ends in June.", "My contract ends in May."),
    ("Your flight leaves on Tuesday.", "I come back on Friday."),
    ("Your flight is not on Tuesday.", "It is not on Tuesday."),
    ("If your lease ends in June, write a letter.", "It does not end in June."),
    ("Your cat is called Miso.", "My dog is called Tofu."),
]
NEAR = [*((stated, reply) for stated in STATED for reply in AGREES), *OTHER]


@pytest.mark.parametrize(("stated", "reply"), CASES)
def test_what_is_denied_or_given_another_value_is_rejected(stated: str, reply: str) -> None:
    assert rejects(reply, stated)


@pytest.mark.parametrize(("stated", "reply"), NEAR)
def test_agreement_questions_and_other_things_reject_nothing(stated: str, reply: str) -> None:
    assert not rejects(reply, stated)
