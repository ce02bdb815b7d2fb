"""Versions of one fact are found by their words, and nothing else is taken for one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.rules import versions
from graphmem.rules.versions import Statement, outdated, place_versions

START = datetime(2026, 3, 1, tzinfo=UTC)


def _said(*texts: str, speaker: str | None = None) -> list[Statement]:
    return [
        Statement(str(n), text, START + timedelta(days=n), speaker is not None, speaker)
        for n, text in enumerate(texts)
    ]


SAME_SENTENCE = [
    ("The rate limit is 100 requests per minute.", "The rate limit is 200 requests per minute."),
    ("The rate limit is 100 requests.", "The rate limit is now 250 requests."),
    ("Dana's standup is on Tuesday.", "Dana's standup is on Wednesday."),
    ("The release is planned for 4 May.", "The release is planned for 11 May."),
    ("The office opens at 8 am.", "The office opens at 9:30 am."),
    ("The rent is 900 euros a month.", "The rent is 950 euros a month."),
    ("Anna lives in Porto.", "Anna lives in Lisbon."),
    ("I live in Porto.", "I now live in Braga."),
    ("Marco works at Initech.", "Marco works at Globex."),
    ("My favourite colour is green.", "My favourite colour is blue."),
    ("The status of the ticket is open.", "The status of the ticket is closed."),
    ("The default branch is master.", "The default branch is main."),
    ("The owner of the billing service is Priya.", "The owner of the billing service is Tom."),
    ("My phone number is 555-0100.", "My phone number is 555-0199."),
    ("We use Postgres for the billing service.", "We now use MySQL for the billing service."),
    ("The team meets in room Aspen.", "The team now meets in room Birch."),
    ("The server listens on port 8080.", "The server listens on port 9090."),
    ("The backup takes twelve minutes.", "The backup takes twenty minutes."),
    ("The user eats meat.", "The user does not eat meat."),
    (
        "The staging cluster is reachable from home.",
        "The staging cluster is not reachable from home.",
    ),
    ("I eat gluten bread.", "I no longer eat gluten bread."),
    ("The build passes on Windows.", "The build no longer passes on Windows."),
    ("Our budget is $3,000.", "Our budget is $4k."),
    ("The cache keeps entries for 60 seconds.", "The cache keeps entries for 90 seconds."),
    ("The dentist appointment is on 3 June.", "The dentist appointment is moved to 10 June."),
    ("Lena's job is teacher.", "Lena's job is headmaster."),
    ("The wifi password is hunter2.", "The wifi password is correcthorse."),
]
"""Older and newer sentences that differ only in a value."""

SAME_ANSWER = [
    (
        "How many chapters have I drafted for the novel?",
        "I've drafted 7 chapters of the novel, can you suggest a title?",
        "The novel is coming along and I have now drafted 9 chapters, so what about the ending?",
    ),
    (
        "How many subscribers does the newsletter have?",
        "My newsletter has 310 subscribers, how do I thank them?",
        "What do I write to the subscribers of my newsletter, which have just reached 420?",
    ),
    (
        "When is the review meeting with Professor Okoye?",
        "I have a review meeting with Professor Okoye on May 3, what do I bring?",
        "Please remind me that the meeting with Professor Okoye was rescheduled to May 9.",
    ),
    (
        "What time is the call with the caterer?",
        "My call with the caterer is at 3 PM, what should I ask?",
        "I had to move the call with the caterer to 5:30 PM, is that too late?",
    ),
    (
        "What is my weekly running distance target?",
        "I aim for a weekly running target of 20 kilometers, is that fine?",
        "My coach changed the weekly running target to 26 kilometers.",
    ),
    (
        "What is the battery capacity percentage of the drone?",
        "The drone's battery has a capacity of 84% after the winter.",
        "After calibration the capacity of the drone's battery improved to 91%.",
    ),
    (
        "What deadline applies to the grant application?",
        "The deadline of the grant application is June 1, so I need a plan.",
        "There's a new deadline of June 15 for the grant application.",
    ),
    (
        "How much is the budget for the kitchen renovation?",
        "We have a budget of $8,000 for the kitchen renovation, where do we start?",
        "The kitchen renovation budget was increased to $9,500, can we afford an island?",
    ),
    (
        "How many plants are on my balcony?",
        "There are 6 plants on my balcony, do they need more water?",
        "I've added two pots, so I have a total of 8 plants on the balcony.",
    ),
    (
        "How many volunteers signed up for the beach cleanup?",
        "12 volunteers signed up for the beach cleanup.",
        "The number of volunteers for the beach cleanup has grown to 19 volunteers.",
    ),
    (
        "How many recipes are in my cookbook collection?",
        "My cookbook collection has 45 recipes, sorted by season.",
        "I've put 52 recipes in my cookbook collection, how do I index them?",
    ),
    (
        "which version of Django does the shop use",
        "The shop uses Django with 40 tests.",
        "The shop uses Django with 55 tests.",
    ),
    (
        "When does the first milestone end?",
        "The first milestone ends on March 29, what comes first?",
        "I noticed that the first milestone now targets completion by April 2.",
    ),
]
"""Questions, and older and newer turns that answer them differently."""

DIFFERENT = [
    ("I visited Rome.", "I visited Paris."),
    ("I like tea.", "I like coffee."),
    ("Anna likes hiking.", "Anna likes chess."),
    ("Bob met Anna in Rome.", "Bob met Carla in Rome."),
    ("I ran 5 miles with the club.", "I ran 7 miles with the club."),
    ("I bought 3 books at the fair.", "I bought 2 books at the fair."),
    ("Anna lives in Porto.", "Bruno lives in Lisbon."),
    ("Anna has 3 cats at home.", "Bruno has 4 cats at home."),
    ("Chapter 3 is finished.", "Chapter 4 is finished."),
    ("The first sprint is on schedule.", "The second sprint is on schedule."),
    ("Server 12 is down.", "Server 14 is down."),
    ("Yesterday I slept 7 hours.", "Yesterday I slept 6 hours."),
    ("I won the chess game on Friday.", "I won the chess game on Saturday."),
    ("Is the limit 100 requests?", "Is the limit 200 requests?"),
    ("If the limit is 100 requests, we wait.", "If the limit is 200 requests, we wait."),
    ("My dog is cute.", "My dog is funny."),
    ("Anna is a doctor.", "Anna is a mother."),
    ("The trip was amazing.", "The trip was exhausting."),
    ("The limit is 100.", "The limit is 100!"),
    ("The limit is one hundred requests.", "The limit is 100 requests."),
    ("The rate limit is 100 requests.", "The page limit is 200 requests."),
    ("The oven is at 200 degrees.", "The fridge is at 4 degrees."),
    ("Tom's birthday party is on 3 May.", "Ida's birthday party is on 9 May."),
    ("I paid 20 dollars for parking on 3 May.", "I paid 25 dollars for parking on 4 May."),
    ("Last week I read 2 books.", "Last week I read 4 books."),
    ("We saw 3 dolphins at the pier.", "We saw 5 dolphins at the pier."),
    ("Here is a photo of 2 dogs.", "Here is a photo of 3 dogs."),
    ("The kids love the swings.", "The kids love the slides."),
    ("My sister plays the violin.", "My sister plays tennis."),
    ("I want to learn Spanish.", "I want to learn Italian."),
    ("Thanks, that helps!", "Thanks, that really helps!"),
    ("Berlin has 3 airports.", "Paris has 2 airports."),
    ("I finished the marathon in 4 hours and was happy.", "I did a triathlon in 6 hours."),
    ("Body Paragraph 1", "Body Paragraph 2"),
    ("Step 3: mix the flour.", "Step 4: mix the flour."),
    ("The 3rd edition is on the shelf.", "The 4th edition is on the shelf."),
    ("Maria speaks German.", "Maria speaks Dutch."),
    ("I gave Anna a book.", "I gave Bruno a book."),
    ("My friend is Anna.", "My friend is Bruno."),
    ("We went to the lake on Monday.", "We went to the lake on Sunday."),
    ("I would pay 100 euros for the bike.", "I would pay 150 euros for the bike."),
    ("2 + 2 = 4", "3 + 3 = 6"),
    ("", ""),
    ("!!!", "???"),
]
"""Sentences that are no versions of one fact."""

OTHER_QUESTION = [
    (
        "How many people came to the workshop?",
        "I booked 3 rooms for the workshop in May.",
        "I've now booked 5 rooms for the workshop in May.",
    ),
    (
        "Can you summarise my chess training?",
        "I've solved 40 chess puzzles in my training, what comes next?",
        "After a month I've now solved 65 chess puzzles, and my rating rose.",
    ),
    (
        "How many puzzles did I solve between March and May?",
        "I've solved 40 chess puzzles in March.",
        "I've now solved 65 chess puzzles in May.",
    ),
    (
        "When is the book festival?",
        "I met a poet at the book festival on May 18.",
        "I'm invited to read at the book festival on October 20.",
    ),
    (
        "When does sprint 1 end?",
        "Sprint 1 ends on May 3, what do I plan?",
        "We changed the plan so that sprint 2 ends on May 17.",
    ),
    (
        "What time is the call with Ines?",
        "The call with Ines is at 3 PM, what do I ask?",
        "The call with Omar was moved to 5 PM, what do I ask?",
    ),
    (
        "What is the test coverage of the parser?",
        "The test coverage of the parser has reached 65%, is that enough?",
        "I now want to achieve 100% test coverage of the parser.",
    ),
    (
        "Have I ever collected stamps from Peru?",
        "I have 12 stamps from Peru, can you value them?",
        "My uncle sent me some, so I now have 15 stamps from Peru.",
    ),
]
"""Questions that do not ask for the value in which two turns differ."""


@pytest.mark.parametrize(("older", "newer"), SAME_SENTENCE)
def test_a_sentence_with_another_value_is_a_newer_version(older: str, newer: str) -> None:
    assert outdated(_said(older, newer), "anything") == {"0": "1"}


@pytest.mark.parametrize(("question", "older", "newer"), SAME_ANSWER)
def test_another_answer_to_the_question_is_a_newer_version(
    question: str, older: str, newer: str
) -> None:
    assert outdated(_said(older, newer, speaker="Ana"), question) == {"0": "1"}


@pytest.mark.parametrize(("older", "newer"), DIFFERENT)
def test_another_fact_is_no_newer_version(older: str, newer: str) -> None:
    assert outdated(_said(older, newer), "anything") == {}
    assert outdated(_said(older, newer, speaker="Ana"), "anything") == {}


@pytest.mark.parametrize(("question", "older", "newer"), OTHER_QUESTION)
def test_an_answer_to_another_question_is_no_newer_version(
    question: str, older: str, newer: str
) -> None:
    assert outdated(_said(older, newer, speaker="Ana"), question) == {}
