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
NEAR = 1e-12
SHARES = st.floats(0, 1)
POINTS = st.dictionaries(st.sampled_from("abcdef"), st.floats(-1, 50), max_size=6)
FLOORS = st.sampled_from([0.0, 0.25, 3.0])
LISTS = st.lists(st.builds(Listed, POINTS, FLOORS), max_size=3)
PLACES = st.dictionaries(
    st.tuples(st.sampled_from(["e1", "e2"]), st.integers(0, 12)), st.floats(0, 2), max_size=12
)
WHOLE = RecallPolicy(vector_weight=0.8, recency_weight=0.4, access_weight=0.3, min_similarity=0.2)


@given(LISTS)
def test_a_scale_is_from_the_floor_of_its_list_to_the_best_of_all(lists: list[Listed]) -> None:
    scaled = blending_oracle.scaled(lists)
    top = max((p for one in lists for p in one.points.values()), default=0.0)
    assert len(scaled) == len(lists)
    for one, put in zip(lists, scaled, strict=True):
        assert put.keys() == one.points.keys()
        for item, points in one.points.items():
            assert 0 <= put[item] <= 1
            assert (put[item] == 0) == (points <= one.floor) or points - one.floor < 1e-300
            if points == top > one.floor:
                assert put[item] == 1
        best_first = sorted(one.points, key=lambda item: -one.points[item])
        values = [put[item] for item in best_first]
        assert values == sorted(values, reverse=True)


def test_a_scale_by_hand() -> None:
    near = Listed({"a": 0.9, "b": 0.6, "c": 0.4}, floor=0.4)
    far = Listed({"d": 0.45, "e": -0.2})
    assert blending_oracle.scaled([near, far]) == [
        pytest.approx({"a": 1.0, "b": 0.4, "c": 0.0}),
        pytest.approx({"d": 0.5, "e": 0.0}),
    ]
    assert blending_oracle.scaled([]) == []
    assert blending_oracle.scaled([Listed({})]) == [{}]


@given(POINTS, st.integers(1, 8))
@example({}, 1)
def test_a_list_has_a_floor_when_it_is_full(points: dict[str, float], pool: int) -> None:
    if not points:
        return
    floor = blending_oracle.floor(points, pool)
    assert floor >= 0
    assert floor in {0.0, *points.values()}
    assert floor == (max(0.0, *sorted(points.values())[:1]) if len(points) >= pool else 0.0)


def test_a_list_that_is_not_full_ends_with_what_fits() -> None:
    assert blending_oracle.floor({"a": 0.9, "b": 0.3}, 3) == 0.0
    assert blending_oracle.floor({"a": 0.9, "b": 0.3}, 2) == 0.3
    assert blending_oracle.floor({"a": 0.9, "b": -0.3}, 2) == 0.0


@given(st.timedeltas(timedelta(0), timedelta(days=900)), st.floats(0.1, 1_000))
def test_recency_fades_by_e_in_its_days(age: timedelta, days: float) -> None:
    fades = blending_oracle.recency(NOW - age, NOW, days)
    assert 0 <= fades <= 1
    older = blending_oracle.recency(NOW - age - timedelta(days=days), NOW, days)
    assert older == pytest.approx(fades / math.e, rel=1e-6, abs=1e-300)


def test_recency_by_hand() -> None:
    assert blending_oracle.recency(NOW, NOW, 21) == 1
    assert blending_oracle.recency(NOW - timedelta(days=21), NOW, 21) == pytest.approx(1 / math.e)
    assert blending_oracle.recency(NOW - timedelta(hours=12), NOW, 1) == pytest.approx(
        math.exp(-0.5)
    )


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 10**9), max_size=6))
def test_the_most_opened_has_all_and_what_was_never_opened_nothing(counts: dict[str, int]) -> None:
    shares = blending_oracle.access(counts)
    assert shares.keys() == {item for item, n in counts.items() if n}
    for item, share in shares.items():
        assert 0 < share <= 1
        assert (share == 1) == (math.log1p(counts[item]) == math.log1p(max(counts.values())))
        for other in shares:
            if counts[other] > counts[item]:
                assert shares[other] >= share


def test_access_by_hand() -> None:
    assert blending_oracle.access({"a": 7, "b": 1, "c": 0}) == pytest.approx({"a": 1.0, "b": 1 / 3})
    assert blending_oracle.access({"a": 0}) == {}
    assert blending_oracle.access({}) == {}


@given(PLACES, st.floats(0, 0.99), st.integers(0, 5))
def test_what_is_given_to_neighbours_is_what_they_get(
    relevance: dict[tuple[str, int], float], share: float, reach: int
) -> None:
    got = blending_oracle.around(relevance, share, reach)
    assert got.keys() == relevance.keys()
    for (episode, at), whole in got.items():
        by_hand = sum(
            points * share ** abs(other - at)
            for (elsewhere, other), points in relevance.items()
            if elsewhere == episode and 0 < abs(other - at) <= reach
        )
        assert whole == pytest.approx(by_hand, abs=1e-9)
    given_ = sum(
        points
        * sum(
            share**away * ((episode, at + away) in relevance)
            + share**away * ((episode, at - away) in relevance)
            for away in range(1, reach + 1)
        )
        for (episode, at), points in relevance.items()
    )
    assert sum(got.values()) == pytest.approx(given_, abs=1e-9)


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


@given(st.floats(0, 3), st.floats(0, 3), SHARES, SHARES, st.sampled_from(list(POLICIES.values())))
def test_more_relevant_or_more_believed_never_ranks_lower(
    relevance: float, more: float, belief: float, surer: float, policy: RecallPolicy
) -> None:
    relevance, more = sorted((relevance, more))
    belief, surer = sorted((belief, surer))
    score = blending_oracle.believed(relevance, belief, policy)
    assert 0 <= score <= blending_oracle.believed(more, surer, policy) + NEAR
    if policy.score is not Score.ESPER:
        assert score <= relevance + NEAR


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


@given(SHARES, st.floats(0, 3), SHARES)
def test_a_blend_of_one_forgets_belief(belief: float, relevance: float, other: float) -> None:
    policy = RecallPolicy(blend=1.0)
    expected = blending_oracle.believed(relevance, other, policy)
    assert (
        blending_oracle.believed(relevance, belief, policy) == pytest.approx(expected) == relevance
    )


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
