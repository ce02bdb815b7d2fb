"""Conversations of any kind are stored and found, even if no rule reads a fact in them."""

from __future__ import annotations

from typing import Any

import pytest

from graphmem import Handle

LONG = 10_000


def close(memory: Handle, *messages: str | dict[str, Any]) -> list[str]:
    """Store a conversation, close it, and return the values and statements of its beliefs."""
    asked = [{"role": "user", "content": one} if isinstance(one, str) else one for one in messages]
    with memory.session("s1") as session:
        receipt = session.add_messages(asked)
    assert (receipt.added, receipt.skipped) == (len(asked), 0)
    [episode] = memory.episodes.list().episodes
    stored = memory.episodes.turns(episode.id).turns
    assert [turn.text for turn in stored] == [one["content"] for one in asked][: len(stored)]
    return [str(one.statement) for one in memory.beliefs.list().beliefs]


def found(memory: Handle, question: str) -> list[str]:
    return [bite.text for bite in memory.recall(question, limit=3).bites]


def test_one_message_is_a_conversation(memory: Handle) -> None:
    assert close(memory, "I live in Porto.") == ["user lives in Porto"]
    assert found(memory, "Where do I live?") == ["I live in Porto."]


def test_a_conversation_of_questions_states_nothing(memory: Handle) -> None:
    asked = (
        "Where is my key?",
        "Does Anna live in Ghent?",
        "Is my budget 150,000, or do I owe more?",
    )
    assert close(memory, *asked) == []
    assert "Does Anna live in Ghent?" in found(memory, "Was it asked where Anna lives?")


@pytest.mark.parametrize(
    ("code", "question"),
    [
        ("def total(x):\n    return sum(x)  # I live in x", "Which function sums?"),
        ("SELECT name FROM users WHERE city = 'I live in Rome';", "What selects names of users?"),
        ('{"me": "I live in Rome", "works_at": "Shell"}', "Which JSON has works_at?"),
        ("```\nI live in Rome.\n```", "What is in the block about Rome?"),
        ("$ git push --force origin main", "How was main pushed with force?"),
    ],
)
def test_a_conversation_of_code_states_nothing(memory: Handle, code: str, question: str) -> None:
    assert close(memory, code) == []
    assert found(memory, question) == [code]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("私は東京に住んでいます。", "東京に住んでいますか"),
        ("Я живу в Москве.", "Где я живу в Москве"),
        ("أعيش في القاهرة", "هل أعيش في القاهرة"),
        ("मैं दिल्ली में रहता हूँ।", "मैं दिल्ली में कहाँ रहता हूँ"),
        ("我的狗叫小白。", "我的狗叫什么"),
        ("Μένω στην Αθήνα.", "Μένω στην Αθήνα;"),
        ("🚀🚀 👩‍💻", "🚀🚀"),
    ],
)
def test_other_scripts_are_found(memory: Handle, text: str, question: str) -> None:
    close(memory, text)
    assert found(memory, question) == [text]


def test_two_speakers_of_one_name_are_kept_apart(memory: Handle) -> None:
    """Only what a person states is theirs, though the assistant has the same name."""
    person = {"role": "user", "name": "Alex", "content": "I live in Ghent."}
    machine = {"role": "assistant", "name": "Alex", "content": "I live in the cloud."}
    assert close(memory, person, machine) == ["Alex lives in Ghent"]
    trust = {bite.text: bite.trust for bite in memory.recall("Where does Alex live?").bites}
    assert trust[str(person["content"])] == "person"
    assert trust.get(str(machine["content"]), "model") == "model"
    [value] = memory.current("Alex", "lives_in").candidates
    assert value.object == "Ghent"


@pytest.mark.system
def test_ten_thousand_messages_are_one_conversation(memory: Handle) -> None:
    texts = [f"Message {n}: order {n * 7919 % 9973} is in hall {n % 97}." for n in range(LONG)]
    texts[LONG // 2] = "My locker code is 4471."
    speakers = "user", "assistant"
    messages = [{"role": speakers[n % 2], "content": text} for n, text in enumerate(texts)]
    assert close(memory, *messages) == ["user locker code 4471"]
    assert found(memory, "What is my locker code?")[0] == texts[LONG // 2]
    with memory.session("s1") as session:
        assert session.add_messages(messages).added == 0
