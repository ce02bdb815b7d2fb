"""Scores by words depend on the texts of the reader only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Handle, RecallPolicy
from graphmem.model import Kind, TurnBite
from tests.oracles import words as oracle
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import fresh_tenant
from tests.plugins.histories import clocked

MAY = datetime(2025, 5, 5, tzinfo=UTC)
WORDS = ("deploy", "alice", "limit", "queue", "bluefin", "zoë", "100", "naïve", "漢字", "the", "of")
STOPPED = {"the", "of"}
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5, unique=True).map(" ".join)
SMALL = RecallPolicy(pool=3, mark_outdated=False)
"""Reads at most 15 matches of words per kind."""


def stored(memory: Handle, texts: list[str]) -> None:
    """Store each text as a memory, a turn and a belief, with a number so that none is a repeat."""
    numbered = [f"{text} n{i}" for i, text in enumerate(texts)]
    memory.remember_many(numbered)
    memory.observe_many(
        {"subject": f"s{i}", "predicate": "says", "object": text} for i, text in enumerate(numbered)
    )
    with memory.session("s") as session:
        session.add_messages(
            [
                {"role": "user", "content": text, "name": ("Alice", "Bo")[i % 2], "id": f"{i}"}
                for i, text in enumerate(numbered)
            ]
        )


def answered(memory: Handle, question: str, policy: RecallPolicy, limit: int) -> list[Any]:
    return [
        (bite.id, bite.score, bite.parts, bite.bm25, bite.bm25_rank)
        for bite in memory.recall(question, policy=policy, limit=limit).bites
    ]


@settings(max_examples=examples(5, 30, 250))
@given(
    own=st.lists(SENTENCES, min_size=1, max_size=30),
    theirs=st.lists(SENTENCES, min_size=1, max_size=20),
    question=SENTENCES,
)
def test_what_others_store_moves_no_score_and_no_order(
    plain: Handle, own: list[str], theirs: list[str], question: str
) -> None:
    memory = clocked(on_tenant(plain, fresh_tenant()), MAY)
    stored(memory, own)
    cases = [(SMALL, 3), (RecallPolicy(vector_weight=0.0, pool=3), 3), (RecallPolicy(), 100)]
    before = [answered(memory, question, policy, limit) for policy, limit in cases]

    # Guesses: the words of the question, and others.
    guesses = [question] * 5 + theirs
    stored(on_tenant(memory, fresh_tenant()), guesses)
    stored(memory.scope("user:other"), guesses)

    assert [answered(memory, question, policy, limit) for policy, limit in cases] == before


@settings(max_examples=examples(5, 30, 250))
@given(own=st.lists(SENTENCES, min_size=1, max_size=12), question=SENTENCES)
def test_scores_by_words_are_those_of_the_oracle(
    plain: Handle, own: list[str], question: str
) -> None:
    memory = on_tenant(plain, fresh_tenant())
    stored(memory, own)

    kinds: tuple[Kind, ...] = ("memory", "belief", "turn")
    found = memory.recall(question, limit=1_000, kinds=kinds, include_hidden=True).bites

    texts = {bite.id: {*bite.text.split()} - STOPPED for bite in found}
    names = {b.id: {str(b.turn.name).lower()} for b in found if isinstance(b, TurnBite)}
    asked = [word for word in question.split() if word not in STOPPED]
    assert len(found) == 3 * len(own)
    assert {b.id: b.bm25 for b in found if b.bm25 is not None} == pytest.approx(
        oracle.bm25(asked, texts, names, {b.id: len(b.text) for b in found}), abs=1e-9
    )


def test_a_long_question_finds_every_word_of_it(memory: Handle) -> None:
    memory.remember_many(["The ox is brown", "Elephants are grey", "a text of something else"])
    question = " ".join([*(f"unrelated{n}" for n in range(40)), "elephants", "ox"])
    matched = {bite.text for bite in memory.recall(question).bites if bite.bm25 is not None}
    assert matched == {"The ox is brown", "Elephants are grey"}


def test_a_text_with_more_of_the_question_without_spaces_is_better(memory: Handle) -> None:
    memory.remember_many(
        ["我住在波尔图已经有三年了", "我喜欢喝绿茶也喜欢喝咖啡", "他在里斯本工作已经有五年了"]
    )
    best = [b.text for b in memory.recall("你住在波尔图吗").bites if b.bm25_rank == 1]
    assert best == ["我住在波尔图已经有三年了"]


def test_one_word_that_more_texts_contain_than_are_read_is_no_help(memory: Handle) -> None:
    memory.remember_many([f"tulips and{n}" for n in range(10, 50)])
    policy = SMALL.model_copy(update={"pool": 1})
    some = memory.recall("tulips", policy=policy, limit=1).bites
    assert [bite.bm25 for bite in some] == [None]
    every = memory.recall("tulips", policy=policy, limit=20).bites
    assert {bite.bm25_rank for bite in every} == {1}
