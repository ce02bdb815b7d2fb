"""Versions of one fact are found by their words, and nothing else is taken for one."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.english.versions import Statement, outdated, place_versions

START = datetime(2026, 3, 1, tzinfo=UTC)


def _stated(*texts: str, speaker: str | None = None) -> list[Statement]:
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
    ("Maria knows German.", "Maria knows Dutch."),
    ("I gave Anna a book.", "I gave Bruno a book."),
    ("My friend is Anna.", "My friend is Bruno."),
    ("We went to the lake on Monday.", "We went to the lake on Sunday."),
    ("I would pay 100 euros for the bike.", "I would pay 150 euros for the bike."),
    ("2 + 2 = 4", "3 + 3 = 6"),
    ("", ""),
    ("!!!", "???"),
]
"""Sentences that are not versions of one fact."""

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
        "Sprint 2 now ends on May 17, what do I plan?",
    ),
    (
        "When does sprint 1 end?",
        "Sprint 1 ends on May 3, what do I plan?",
        "We have now moved the end of sprint 2 to May 17, so what comes first?",
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
    assert outdated(_stated(older, newer), "anything") == {"0": "1"}


@pytest.mark.parametrize(("question", "older", "newer"), SAME_ANSWER)
def test_another_answer_to_the_question_is_a_newer_version(
    question: str, older: str, newer: str
) -> None:
    assert outdated(_stated(older, newer, speaker="Ana"), question) == {"0": "1"}


@pytest.mark.parametrize(("older", "newer"), DIFFERENT)
def test_another_fact_is_not_a_newer_version(older: str, newer: str) -> None:
    assert outdated(_stated(older, newer), "anything") == {}
    assert outdated(_stated(older, newer, speaker="Ana"), "anything") == {}


@pytest.mark.parametrize(("question", "older", "newer"), OTHER_QUESTION)
def test_an_answer_to_another_question_is_not_a_newer_version(
    question: str, older: str, newer: str
) -> None:
    assert outdated(_stated(older, newer, speaker="Ana"), question) == {}


def test_the_newest_of_several_versions_marks_each_older_one() -> None:
    found = outdated(_stated(*(f"The rate limit is {n} requests." for n in (3, 8, 5))), "limit")
    assert found == {"0": "2", "1": "2"}


def test_versions_of_one_time_are_not_marked() -> None:
    both = [Statement(str(n), f"The limit is {n} requests.", START) for n in range(2)]
    assert outdated(both, "limit") == {}
    undated = [Statement(str(n), f"The limit is {n} requests.", None) for n in range(2)]
    assert outdated(undated, "limit") == {}


def test_the_order_of_the_results_does_not_matter() -> None:
    both = _stated("The rate limit is 100 requests.", "The rate limit is 200 requests.")
    assert outdated(both[::-1], "limit") == outdated(both, "limit") == {"0": "1"}


@pytest.mark.parametrize(
    ("memory", "turn", "speaker", "marked"),
    [
        ("Anna lives in Porto.", "I live in Lisbon.", "Anna", True),
        ("Anna lives in Porto.", "I live in Lisbon.", "Bruno", False),
        ("The user lives in Porto.", "I live in Lisbon.", "user", True),
        ("Anna's phone number is 555-0100.", "My phone number is 555-0199.", "Anna", True),
    ],
)
def test_a_turn_in_the_first_person_is_about_its_speaker(
    memory: str, turn: str, speaker: str, *, marked: bool
) -> None:
    stored = Statement("m", memory, START)
    newer = Statement("t", turn, START + timedelta(days=1), True, speaker)
    assert outdated([stored, newer], "anything") == ({"m": "t"} if marked else {})


def test_turns_of_two_speakers_are_not_versions() -> None:
    first = Statement("0", "I live in Porto.", START, True, "Anna")
    second = Statement("1", "I live in Lisbon.", START + timedelta(days=1), True, "Bruno")
    assert outdated([first, second], "anything") == {}


def test_two_beliefs_with_slots_are_not_compared() -> None:
    both = [
        Statement(str(n), f"Anna lives in {place}", START + timedelta(days=n), slot=("Anna", "x"))
        for n, place in enumerate(("Porto", "Lisbon"))
    ]
    assert outdated(both, "anything") == {}


def test_a_recorded_successor_marks_without_a_comparison() -> None:
    old = Statement("old", "anything", None, heads=("gone", "new"))
    new = Statement("new", "something else", START)
    assert outdated([old, new], "") == {"old": "new"}
    assert outdated([old], "") == {}
    again = Statement("new", "something else", None, heads=("old",))
    assert outdated([old, again], "") == {"old": "new"}


def test_a_recorded_successor_may_be_outdated_itself() -> None:
    newer, newest = _stated("The rate limit is 100 requests.", "The rate limit is 200 requests.")
    old = Statement("old", "The rate limit is 50 requests.", None, heads=(newer.id,))
    assert outdated([old, newer, newest], "") == {"old": newest.id, newer.id: newest.id}


def test_code_and_captions_are_not_compared() -> None:
    assert (
        outdated(_stated("```\nlimit is 100 items\n```", "```\nlimit is 200 items\n```"), "x") == {}
    )
    assert outdated(_stated("[The limit is 100 items]", "[The limit is 200 items]"), "x") == {}


_WORDS = st.sampled_from(
    [
        *("the", "rate", "limit", "is", "now", "100", "200", "requests", "on", "Monday", "Tuesday"),
        *("Anna", "lives", "in", "Porto", "Lisbon", "not", "?", ".", "3", "pm", "May", "4", "50%"),
        *("reached", "my", "first", "sprint", "2", ",", "how", "many", "\n", "I"),
    ]
)
_TEXTS = st.lists(_WORDS, max_size=12).map(" ".join) | st.text(max_size=40)
_STATEMENTS = st.lists(
    st.tuples(_TEXTS, st.none() | st.integers(0, 5), st.sampled_from([None, "Anna", "user"])),
    max_size=8,
).map(
    lambda rows: [
        Statement(
            str(n),
            text,
            None if day is None else START + timedelta(days=day),
            speaker is not None,
            speaker,
        )
        for n, (text, day, speaker) in enumerate(rows)
    ]
)


@given(_STATEMENTS, _TEXTS)
def test_marks_lead_from_older_to_newer_and_end_there(found: list[Statement], asked: str) -> None:
    marks = outdated(found, asked)
    at = {one.id: one.at for one in found}
    for older, newer in marks.items():
        before, after = at[older], at[newer]
        assert before is not None
        assert after is not None
        assert before < after
        assert newer not in marks


@given(
    st.lists(st.integers(0, 20), unique=True, max_size=12),
    st.dictionaries(st.integers(0, 20), st.integers(0, 20), max_size=6),
)
def test_each_outdated_result_comes_after_its_newest_version(
    places: list[int], pairs: dict[int, int]
) -> None:
    ids = [str(place) for place in places]
    marks = {
        str(a): str(b)
        for a, b in pairs.items()
        if a != b and b not in pairs and a in places and b in places
    }
    order = place_versions(ids, marks)
    assert sorted(order) == sorted(ids)
    for older, newer in marks.items():
        assert order.index(newer) < order.index(older)
        if ids.index(older) < ids.index(newer):
            between = order[order.index(newer) + 1 : order.index(older)]
            assert all(marks.get(one) == newer for one in between)
    kept = [one for one in ids if one not in marks and one not in marks.values()]
    assert [one for one in order if one in kept] == kept
    assert place_versions(order, marks) == order


_LONG = 100_000


@pytest.mark.parametrize(
    "text",
    [
        "The limit is 100. " * (_LONG // 18),
        "1 " * (_LONG // 2),
        "[" * _LONG,
        "`" * _LONG,
        "a" * _LONG,
        "may 1, " * (_LONG // 7),
        "5:5:5 " * (_LONG // 6),
        "I live in Porto now; " * (_LONG // 21),
        "\n" * _LONG,
        "日本語" * (_LONG // 3),
        "\ud800" * 10,
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_a_long_text_takes_bounded_time(text: str) -> None:
    found = _stated(*(f"{n} {text}" for n in range(40)), speaker="Ana")
    started = time.thread_time()
    outdated(found, text)
    # At most a second of the processor.
    assert time.thread_time() - started < 10


@pytest.mark.parametrize("text", ["", " ", "\0", "?!…", "🙂" * 50, "-", "$", "# 1", "1:2:3", "'"])
def test_odd_texts_give_no_mark(text: str) -> None:
    assert outdated(_stated(text, text, text + " "), text) == {}
    assert outdated([], text) == {}


@pytest.mark.parametrize(
    ("place", "marked"),
    [(("e1", 2), True), (("e1", 3), False), (("e2", 2), False), (("e1", 0), False), (None, False)],
)
def test_a_fragment_patches_only_the_turn_before(
    place: tuple[str, int] | None, *, marked: bool
) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    said = [
        Statement("a", "Book the table for six people.", at, True, "user", place=("e1", 0)),
        Statement("b", "Wait, no, for eight.", at + timedelta(hours=1), True, "user", place=place),
    ]
    assert outdated(said, "For how many is the table?") == ({"a": "b"} if marked else {})
