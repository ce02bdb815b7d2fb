"""Where a list of results ends: never before the best one, and never in a request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import AnyBite
from graphmem.rules import cutoff
from tests.plugins.bites import turn_bite

FIT = cutoff.FITS["e5-small-v2-q8"]
ASKED = "What is my blood type?"


def result(
    n: int, similarity: float | None, score: float, text: str = "It often rains here."
) -> AnyBite:
    return turn_bite(n, text).model_copy(update={"similarity": similarity, "score": score})


def ended(bites: tuple[AnyBite, ...], late: list[float], question: str = ASKED) -> cutoff.Ending:
    by_id = {bite.id: value for bite, value in zip(bites, late, strict=True)}
    return cutoff.end(bites, question, cutoff.Likeness(by_id, 50, FIT))


def test_of_improbable_results_three_are_shown() -> None:
    bites = tuple(result(n, 0.3, 1 - n / 10) for n in range(6))
    ending = ended(bites, [0.3] * 6)
    assert (ending.bites, ending.left_out) == (bites[:3], 3)
    assert ending.improbable is not None
    assert ending.improbable < cutoff.IMPROBABLE
    assert cutoff.reason(ending).startswith("probably nothing")
    assert cutoff.reason(ending).endswith("a limit shows 3 more")
    few = ended(bites[:2], [0.3] * 2)
    assert (few.left_out, cutoff.reason(few).count("more")) == (0, 0)


def test_after_a_certain_answer_the_noise_is_left_out() -> None:
    bites = result(1, 0.6, 1.0), result(2, 0.4, 0.45), result(3, 0.2, 0.4), result(4, 0.1, 0.3)
    ending = ended(bites, [0.6, 0.45, 0.2, 0.15])
    assert (ending.bites, ending.left_out, ending.improbable) == (bites[:2], 2, None)
    assert cutoff.reason(ending) == ""
    # A result with a score near the best is shown, whatever its words are.
    near = result(4, 0.1, 0.6)
    assert ended((*bites[:3], near), [0.6, 0.45, 0.2, 0.15]).left_out == 0


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("What are the names of my children?", 6),
        ("Which pets do we have?", 6),
        ("What instruments do I play?", 6),
        ("Which bus do I take?", 3),
        ("What class does she teach?", 3),
        ("Where do I live?", 3),
    ],
)
def test_a_question_for_several_values_is_cut_later(question: str, shown: int) -> None:
    bites = tuple(result(n, 0.38, 1.0) for n in range(6))
    assert len(ended(bites, [0.35] * 6, question).bites) == shown
    assert len(ended(bites, [0.2] * 6, question).bites) == 3


def test_a_doubtful_answer_ends_no_list() -> None:
    bites = result(1, 0.45, 1.0), *(result(n, 0.1, 0.2) for n in range(2, 9))
    assert ended(bites, [0.42, *[0.1] * 7]).left_out == 0


def test_a_question_answers_no_other_one() -> None:
    asking = result(1, 0.6, 1.0, "What is my brother's blood type? Do you know?")
    others = tuple(result(n, 0.2, 0.5) for n in range(2, 9))
    assert len(ended((asking, *others), [0.6, *[0.2] * 7]).bites) == 3
    stating = result(1, 0.6, 1.0, "What is my blood type? It is zero.")
    assert ended((stating, *others), [0.6, *[0.2] * 7]).improbable is None
    # Among questions the nearest one counts.
    assert ended((asking,), [0.6]).improbable is None


@pytest.mark.parametrize(
    "question",
    [
        "What is my blood type?",
        "When does Runa visit?",
        "In which room is the workshop",
        "Do I eat meat?",
        "Could you remind me what my blood type is?",
        "Welche Blutgruppe habe ich?",
    ],
)
def test_a_question_for_a_fact_is_cut(question: str) -> None:
    assert cutoff.asks_fact(question)


@pytest.mark.parametrize(
    "request_text",
    [
        "Suggest a cake that Tova can eat.",
        "Plan a dinner for Friday.",
        "What should I pack?",
        "Can I take this pill with juice?",
        "Which tyres would fit?",
        "tea",
    ],
)
def test_a_request_is_never_cut(request_text: str) -> None:
    bites = tuple(result(n, 0.1, 0.1) for n in range(6))
    assert not cutoff.asks_fact(request_text)
    assert ended(bites, [0.1] * 6, request_text) == (bites, 0, None)


@pytest.mark.parametrize(
    "idle", ["Noted.", "Yes, sure!", "What is the plural of cactus?", "Oh dear."]
)
@pytest.mark.parametrize("question", ["Where do I live?", "Suggest a cake."])
def test_turns_that_state_nothing_are_listed_among_the_first_only(question: str, idle: str) -> None:
    texts = "It rains.", idle, "I live here.", idle, "My bus is late.", "At 8, Ana."
    bites = tuple(result(n, 0.5, 1.0, text) for n, text in enumerate(texts))
    ending = ended(bites, [0.7] * 6, question)
    assert [bite.text for bite in ending.bites] == [texts[n] for n in (0, 1, 2, 4, 5)]
    assert ending.left_out == 1


def test_a_model_that_states_nothing_is_listed_alone_only() -> None:
    idle = turn_bite(0, "Noted.", role="assistant").model_copy(update={"similarity": 0.6})
    answer = result(1, 0.6, 0.5)
    assert ended((idle, answer), [0.6, 0.6]).bites == (answer,)
    assert ended((idle,), [0.6]).bites == (idle,)


def test_an_answer_comes_before_a_question_that_is_a_little_more_like_the_question() -> None:
    texts = "How do I sort a list?", "Noted.", "I cycle to work.", "My bus is late."
    scores = 1.0, 0.9, 0.85, 0.7
    bites = tuple(result(n, 0.5, *one) for n, one in enumerate(zip(scores, texts, strict=True)))
    shown = cutoff.stating_first(bites, "How do I get to work?")
    assert [bite.text for bite in shown] == [texts[n] for n in (2, 0, 1, 3)]
    assert cutoff.stating_first(bites, "What did I ask about the list?") == bites
    owned = result(9, 0.5, 1.0, "I have 9 lists, how do I sort them?"), *bites[2:]
    assert cutoff.stating_first(owned, "How do I get to work?") == owned


NUMBERS = st.floats(-1, 1)
RESULTS = st.lists(st.tuples(NUMBERS, st.none() | NUMBERS, st.floats(0, 2)), max_size=12)


@given(RESULTS, st.sampled_from([ASKED, "Suggest a tea."]), st.integers(0, 10_000))
def test_the_first_results_stay_in_order_and_the_best_is_one_of_them(
    drawn: list[tuple[float, float | None, float]], question: str, candidates: int
) -> None:
    bites = tuple(result(n, one, score) for n, (_, one, score) in enumerate(drawn))
    late = {bite.id: one for bite, (one, _, _) in zip(bites, drawn, strict=True)}
    ending = cutoff.end(bites, question, cutoff.Likeness(late, candidates, FIT))
    assert ending.bites == bites[: len(ending.bites)]
    assert len(ending.bites) + ending.left_out == len(bites)
    assert ending.bites[:1] == bites[:1]
    if ending.improbable is not None:
        assert len(ending.bites) <= cutoff.MAX_IMPROBABLE


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 200))
def test_what_is_more_like_the_question_is_more_probable(
    late: float, similarity: float, candidates: int
) -> None:
    least = FIT.probability(late, similarity, candidates)
    assert 0 <= least <= 1
    assert FIT.probability(late + 0.1, similarity, candidates) >= least
    assert FIT.probability(late, similarity + 0.1, candidates) >= least
