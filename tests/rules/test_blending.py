"""Scores of recall candidates: the laws of each part."""

from __future__ import annotations

import math
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from graphmem.model import POLICIES, RecallPolicy, Score
from graphmem.rules import scoring
from tests.oracles import blending as blending_oracle
from tests.oracles.blending import Listed

NOW = datetime(2025, 5, 5, tzinfo=UTC)
WHOLE = RecallPolicy(vector_weight=0.8, recency_weight=0.4, access_weight=0.3, min_similarity=0.2)


def test_a_scale_by_hand() -> None:
    near = Listed({"a": 0.9, "b": 0.6, "c": 0.4}, floor=0.4)
    far = Listed({"d": 0.45, "e": -0.2})
    assert blending_oracle.scaled([near, far]) == [
        pytest.approx({"a": 1.0, "b": 0.4, "c": 0.0}),
        pytest.approx({"d": 0.5, "e": 0.0}),
    ]
    assert blending_oracle.scaled([]) == []
    assert blending_oracle.scaled([Listed({})]) == [{}]


def test_a_list_that_is_not_full_ends_with_what_fits() -> None:
    assert blending_oracle.floor({"a": 0.9, "b": 0.3}, 3) == 0.0
    assert blending_oracle.floor({"a": 0.9, "b": 0.3}, 2) == 0.3
    assert blending_oracle.floor({"a": 0.9, "b": -0.3}, 2) == 0.0


def test_recency_by_hand() -> None:
    assert blending_oracle.recency(NOW, NOW, 21) == 1
    assert blending_oracle.recency(NOW - timedelta(days=21), NOW, 21) == pytest.approx(1 / math.e)
    assert blending_oracle.recency(NOW - timedelta(hours=12), NOW, 1) == pytest.approx(
        math.exp(-0.5)
    )


def test_access_by_hand() -> None:
    assert blending_oracle.access({"a": 7, "b": 1, "c": 0}) == pytest.approx({"a": 1.0, "b": 1 / 3})
    assert blending_oracle.access({"a": 0}) == {}
    assert blending_oracle.access({}) == {}


def test_around_by_hand() -> None:
    turns = {("e", 0): 1.0, ("e", 1): 0.0, ("e", 2): 0.5, ("e", 3): 0.0, ("other", 1): 9.0}
    assert blending_oracle.around(turns, 0.3, 2) == pytest.approx(
        {
            ("e", 0): 0.5 * 0.09,
            ("e", 1): 0.3 + 0.15,
            ("e", 2): 0.09,
            ("e", 3): 0.15,
            ("other", 1): 0.0,
        }
    )
    assert set(blending_oracle.around(turns, 0.3, 0).values()) == {0.0}
    assert set(blending_oracle.around(turns, 0.0, 5).values()) == {0.0}


def test_a_turn_rises_towards_the_best_of_its_session() -> None:
    turns = {("e", 0): 1.0, ("e", 5): 0.2, ("other", 1): 0.4, ("other", 2): 0.0}
    assert blending_oracle.session(turns, 0.25) == pytest.approx(
        {("e", 0): 0.0, ("e", 5): 0.2, ("other", 1): 0.0, ("other", 2): 0.1}
    )
    assert set(blending_oracle.session(turns, 0.0).values()) == {0.0}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("default", 0.5 * (0.4 + 0.6 * 0.8)),
        ("engram", 0.5 * (0.4 + 0.6 * 0.8)),
        ("agent", 0.5 * (0.4 + 0.6 * 0.8)),
        ("esper", 0.4 * 0.5 + 0.6 * 0.8),
        ("flat", 0.5),
        ("trace", 0.5),
    ],
)
def test_how_much_belief_counts_by_each_policy(name: str, expected: float) -> None:
    assert blending_oracle.believed(0.5, 0.8, POLICIES[name]) == pytest.approx(expected)


@pytest.mark.parametrize("score", Score)
def test_only_what_a_score_ranks_by_is_sent(score: Score) -> None:
    by = scoring.score_params(WHOLE.model_copy(update={"score": score}))
    lists = {name: by[name] for name in ("vector", "words", "recency", "access")}
    extras = {name: by[name] for name in ("reach", "named", "dated", "machine")}
    match score:
        case Score.FUSED:
            assert lists == {"vector": 0.8, "words": 1.0, "recency": 0.4, "access": 0.3}
            assert by["score"] == str(score)
        case Score.BLENDED:
            assert lists == pytest.approx(
                {"vector": 0.32, "words": 0.4, "recency": 0.16, "access": 0.12}
            )
            assert by["score"] == str(score)
        case _:
            assert lists == {"vector": 1.0, "words": 0.0, "recency": 0.0, "access": 0.0}
            assert by["score"] == "plain"
    if score is Score.BLENDED:
        assert extras == {"reach": 1, "named": 0.3, "dated": 0.4, "machine": 0.7}
    else:
        assert extras == {"reach": 0, "named": 0.0, "dated": 0.0, "machine": 1.0}
    assert by["distance"] == (score in {Score.FLAT, Score.ESPER})
    assert by["adds"] == (score is Score.ESPER)
    assert by["min_similarity"] == 0.2


@given(st.text())
@example("Who is Zoë? zoë, ZOË!")
@example("İstanbul")
def test_the_words_of_a_question_come_once_and_in_lower_case(text: str) -> None:
    words = scoring.question_words(text)
    assert all(n == 1 for n in Counter(words).values())
    assert all(word and word == word.lower() and not word.isspace() for word in words)
    assert "".join(words).replace(" ", "") == "".join(words)
    assert scoring.question_words(text.lower()) == words


@given(st.lists(st.from_regex(r"[a-zà-öø-ÿ0-9_]{1,8}", fullmatch=True), unique=True))
def test_words_apart_are_found_whole_and_in_their_order(words: list[str]) -> None:
    assume(all(word.isprintable() for word in words))
    for between in ("?! ", ", "):
        found = scoring.question_words(between.join([*words, *words]))
        assert [word for word in found if word in words] == words


def test_a_word_is_found_with_what_belongs_to_it_too() -> None:
    assert scoring.question_words("Is Acme Inc. old?") == [
        "is",
        "acme",
        "inc",
        "old",
        "inc.",
        "old?",
    ]


def test_people_are_called_by_one_name_and_things_by_all_of_theirs() -> None:
    words = scoring.question_words("Does Bob Smith lead the French Republic?")
    assert blending_oracle.names(words, "bob jones", wholly=False)
    assert not blending_oracle.names(words, "bob jones", wholly=True)
    assert not blending_oracle.names(words, "czech republic", wholly=True)
    assert blending_oracle.names(words, "french republic", wholly=False)
    assert not blending_oracle.names(words, "", wholly=False)


def test_late_interaction_has_a_weight_only_if_there_are_token_states() -> None:
    with_tokens = scoring.score_params(RecallPolicy(), tokens=True)
    lists = ("vector", "words", "late", "late_context", "recency", "access")
    assert sum(with_tokens[name] for name in lists) == pytest.approx(1)
    assert with_tokens["late_context"] > with_tokens["vector"] > 0
    assert scoring.score_params(RecallPolicy())["late"] == 0
    nothing = RecallPolicy(vector_weight=0, words_weight=0, late_weight=0, late_context_weight=0)
    assert scoring.score_params(nothing, tokens=True)["words"] == 0
