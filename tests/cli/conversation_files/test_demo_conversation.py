"""The conversation that graphmem ships has everything the demonstration shows."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from importlib.resources import as_file, files
from itertools import pairwise

import pytest

from graphmem.cli.conversation_files import read_conversations
from graphmem.model import Message
from graphmem.rules.duplicates import difference
from graphmem.rules.hygiene import default_rules, rejection_reasons
from graphmem.rules.identity import content_hash

DATA = files("graphmem") / "data"


@pytest.fixture(scope="module")
def demo() -> tuple[Message, ...]:
    with as_file(DATA / "demo.jsonl") as path:
        (conversation,) = read_conversations(path, strict=True).conversations
    return conversation.messages


@pytest.fixture(scope="module")
def user_messages(demo: tuple[Message, ...]) -> list[Message]:
    """Messages of the user."""
    return [message for message in demo if message.role == "user"]


def test_it_is_one_talk_of_two_over_half_a_year(demo: tuple[Message, ...]) -> None:
    assert 140 <= len(demo) <= 160
    assert {(m.role, m.name) for m in demo} == {("user", "Alice"), ("assistant", "Wren")}
    assert len({m.session for m in demo}) >= 10
    instants = [m.at for m in demo if m.at]
    assert len(instants) == len(demo)
    assert all(a < b for a, b in pairwise(instants))
    assert instants[-1] - instants[0] >= timedelta(days=150)
    assert {at.year for at in instants} == {2026}


def test_every_line_has_an_id_of_its_own_and_sessions_do_not_mix(demo: tuple[Message, ...]) -> None:
    lines = [json.loads(line) for line in (DATA / "demo.jsonl").read_text("utf-8").splitlines()]
    assert [line["id"] for line in lines] == [m.id for m in demo]
    assert len({m.id for m in demo}) == len(demo)
    sessions = [m.session for m in demo]
    changes = sum(a != b for a, b in pairwise(sessions))
    assert changes == len(set(sessions)) - 1


def test_things_are_said_again_in_later_sessions(user_messages: list[Message]) -> None:
    sessions: dict[str, set[str | None]] = {}
    for message in user_messages:
        sessions.setdefault(content_hash(message.content), set()).add(message.session)
    repeated = [hashed for hashed, where in sessions.items() if len(where) > 1]
    assert len(repeated) >= 10
    spellings = {m.content for m in user_messages if content_hash(m.content) in repeated}
    assert len(spellings) > len(repeated), "one repeat differs in white space only"


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("feb04-06", "apr02-09"),
        ("feb04-07", "jun24-07"),
        ("feb17-12", "jun09-11"),
        ("jan20-07", "jul09-04"),
        ("jan20-08", "mar20-12"),
        ("mar05-04", "jul09-03"),
        ("mar05-08", "may11-05"),
        ("mar05-09", "jun09-09"),
    ],
)
def test_things_are_said_nearly_again(user_messages: list[Message], first: str, again: str) -> None:
    by_id = {m.id: m for m in user_messages}
    one, other = by_id[first], by_id[again]
    assert user_messages.index(one) < user_messages.index(other)
    assert content_hash(one.content) != content_hash(other.content)
    assert one.session != other.session
    assert difference(one.content, other.content) == frozenset()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I deploy Tidepool from Borealis.", "I deploy Tidepool from Atlas."),
        ("meeting is on Tuesday at 10:00.", "meeting is on Wednesday at 10:00."),
        ("API is 100 requests", "API is 200 requests"),
        ("I live in Lisbon", "I live in Porto"),
        ("The worker pool has 4 threads.", "The worker pool has 8 threads."),
        ("Tomás is on call", "Priya is on call"),
        ("launch is on 5 May.", "launch is on 11 June."),
        ("Rua Augusta is on 12 March", "Rua Augusta is on 19 March"),
        ("My manager is Helena.", "My manager is Joost."),
        ("runs on Postgres 15,", "runs on Postgres 16,"),
        ("I cycle to the office", "I no longer cycle to the office"),
        # A contradiction: neither is called an update of the other.
        ("raw events for 30 days.", "raw events for 90 days."),
    ],
)
def test_facts_change_once_and_for_all(
    user_messages: list[Message], before: str, after: str
) -> None:
    old = [n for n, m in enumerate(user_messages) if before in m.content]
    new = [n for n, m in enumerate(user_messages) if after in m.content]
    assert old
    assert new
    assert max(old) < min(new)
    assert difference(user_messages[max(old)].content, user_messages[min(new)].content)
    assert user_messages[max(old)].session != user_messages[min(new)].session


def test_one_value_comes_back(user_messages: list[Message]) -> None:
    kept = [m.content for m in user_messages if m.content.startswith("The cache keeps entries for")]
    assert [text.split()[-2] for text in kept] == ["60", "300", "60"]


def test_some_lines_are_none_that_a_memory_should_keep(user_messages: list[Message]) -> None:
    rules = default_rules(min_chars=3, max_chars=8_000)
    refused = [
        (m.content, *rejection_reasons(m.content, rules))
        for m in user_messages
        if rejection_reasons(m.content, rules)
    ]
    assert [reason for _, *reason in refused] == [
        ["only_punctuation"],
        ["too_short"],
        ["only_punctuation"],
        ["secret"],
    ]
    # The key of public documentation, known to every scanner as an example.
    assert "AKIAIOSFODNN7EXAMPLE" in refused[-1][0]


def test_every_question_names_lines_that_answer_it(user_messages: list[Message]) -> None:
    questions = json.loads((DATA / "demo_questions.json").read_text("utf-8"))
    by_id = {m.id: m.content for m in user_messages}
    assert len(questions) >= 6
    for question in questions:
        assert set(question) == {"question", "answer", "expected"}
        assert question["expected"]
        for expected in question["expected"]:
            assert re.search(rf"\b{question['answer']}\b", by_id[expected])
