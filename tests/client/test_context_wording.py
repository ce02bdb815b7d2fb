"""Eleven situations as a language model reads them, compared with the text that was reviewed."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graphmem import Context, Handle, RecallPolicy
from graphmem.conversation import blocks
from tests.plugins.clients import by

REVIEWED = Path(__file__).with_name("context_situations.txt")
MARCH = datetime(2025, 3, 3, 9, tzinfo=UTC)
JUNE = datetime(2025, 6, 12, 9, tzinfo=UTC)
HOME = "where does the user live?"


def said(memory: Handle, session: str, text: str, at: datetime, name: str | None = None) -> None:
    """Store a message of a user, and extract evidence from it by rules."""
    with memory.session(session) as s:
        s.add_messages([{"role": "user", "content": text, "at": at, "name": name}])
        assert len(s.extract(extractor="rules").proposals) == 1


def a_plain_statement_of_the_user(memory: Handle) -> Context:
    memory.predicates.declare("lives_in", cardinality="ONE", at=MARCH)
    said(memory, "s1", "I live in Porto.", JUNE)
    return memory.context(HOME)


def said_in_three_conversations(memory: Handle) -> Context:
    for n in range(3):
        said(memory, f"s{n}", "I live in Porto.", MARCH + timedelta(days=50 * n))
    return memory.context(HOME)


def a_value_that_changed(memory: Handle) -> Context:
    memory.predicates.declare("lives_in", cardinality="ONE", at=MARCH)
    said(memory, "s1", "I live in Lisbon.", MARCH)
    said(memory, "s2", "I live in Porto.", JUNE)
    return memory.context(HOME)


def two_values_as_likely(memory: Handle) -> Context:
    memory.predicates.declare("lives_in", cardinality="ONE", at=MARCH)
    memory.observe("user", "lives_in", "Lisbon", confidence=0.8, at=JUNE)
    memory.observe("user", "lives_in", "Porto", confidence=0.8, at=JUNE)
    return memory.context(HOME, limit=1)


def contradicted(memory: Handle) -> Context:
    memory.observe("user", "likes", "tea", confidence=0.8, at=MARCH, source_type="TOOL")
    memory.observe("user", "likes", "tea", kind="refuting", confidence=0.6, at=JUNE)
    return memory.context("does the user like tea?")


def values_that_nobody_declared(memory: Handle) -> Context:
    memory.observe("user", "plays", "chess", at=MARCH)
    memory.observe("user", "plays", "go", at=JUNE)
    return memory.context("which games does the user play?", limit=1)


def contradicted_weakly(memory: Handle) -> Context:
    for n in range(3):
        at = MARCH + timedelta(hours=n)
        memory.observe("user", "likes", "tea", confidence=0.8, at=at, source_type="TOOL")
    memory.observe("user", "likes", "tea", kind="refuting", confidence=0.1, at=MARCH + timedelta(1))
    return memory.context("does the user like tea?")


def guessed_by_a_model(memory: Handle) -> Context:
    memory.observe("user", "likes", "tea", confidence=0.5, at=JUNE, source_type="CLASSIFIER")
    return memory.context("does the user like tea?")


def a_hypothesis_under_test(memory: Handle) -> Context:
    pool = memory.believe("The pool should have 4 threads", confidence=0.6, at=MARCH)
    for n in range(2):
        memory.add_evidence(pool, "refuting", 0.85, at=JUNE + timedelta(days=n))
    queue = memory.believe("The queue should be bounded", confidence=0.6, at=MARCH)
    for n in range(2):
        memory.add_evidence(queue, "supporting", 0.85, at=JUNE + timedelta(days=n))
    memory.believe("The pool should be shared", at=MARCH)
    return memory.context("threads of the pool and the queue")


BY_MEANING = RecallPolicy(words_weight=0.0)
"""The order by words depends on the texts of other tests, with which the index is shared."""


def sentences_and_their_versions(memory: Handle) -> Context:
    memory.remember("The planning meeting is on Tuesday.", at=MARCH)
    memory.remember("The planning meeting is on Wednesday.", at=JUNE)
    memory.remember("The planning meeting is on Wednesday.", at=JUNE + timedelta(days=1))
    memory.remember("The planning room is full.", at=JUNE)
    memory.remember("The planning room is loud.", at=JUNE, source="conversation", actor="Zoë")
    agent = by(memory, "model")
    agent.remember("The planning room has a view.", at=JUNE, source="mcp", actor="planner")
    question = "is the planning meeting on Wednesday, and is the planning room full?"
    return memory.context(question, policy=BY_MEANING)


def words_of_a_conversation(memory: Handle) -> Context:
    memory.session("s1").add_messages(
        [
            {"role": "user", "content": "Does the train stop in Porto?", "at": MARCH},
            {"role": "assistant", "content": "Yes, the train stops in Porto.", "at": MARCH},
            {"role": "tool", "content": "train: stops in Porto", "at": MARCH},
            {"role": "user", "content": "The train is late.", "at": MARCH, "name": 'Ann "A"'},
        ]
    )
    return memory.context("where does the train stop?", policy=BY_MEANING)


def nothing_to_show(memory: Handle) -> Context:
    memory.memories.deprecate(str(memory.remember("The user lives in Porto").memory_id))
    return memory.context(HOME)


SITUATIONS: tuple[Callable[[Handle], Context], ...] = (
    a_plain_statement_of_the_user,
    said_in_three_conversations,
    a_value_that_changed,
    two_values_as_likely,
    contradicted,
    contradicted_weakly,
    values_that_nobody_declared,
    guessed_by_a_model,
    a_hypothesis_under_test,
    sentences_and_their_versions,
    words_of_a_conversation,
    nothing_to_show,
)


def rendered(made: Context) -> str:
    """Return the lines of a block in the order of their ids' kinds, ids numbered; or the reason."""
    if not made.text:
        return f"({made.reason})\n"
    first, head, *between, last = made.text.split("\n")
    assert (first, last) == (blocks.OPEN, blocks.CLOSE)
    assert head.startswith(blocks.HEAD)
    numbers = {item_id: n for n, item_id in enumerate(made.ids, 1)}
    names = {one: f"{one[0]}{numbers[item_id]}" for one, item_id in made.shown.items()}
    return "".join(
        re.sub(r"\[(\w_[\da-f]+)\]", lambda m: f"[{names.get(m[1], 'other')}]", line) + "\n"
        for line in between
    )


def reviewed() -> dict[str, str]:
    """Return the reviewed text of each situation."""
    parts = re.split(r"^# (.+)\n", REVIEWED.read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_situation_reads_as_reviewed(
    memory: Handle, situation: Callable[[Handle], Context]
) -> None:
    text = rendered(situation(memory))
    assert text == reviewed()[situation.__name__.replace("_", " ")].rstrip("\n") + "\n"
    assert not re.search(r"belief 0|\b0\.\d", text), "words instead of bare numbers"


def test_every_situation_was_reviewed() -> None:
    assert [s.__name__.replace("_", " ") for s in SITUATIONS] == list(reviewed())
    assert len(SITUATIONS) == 12
