"""The similarity of questions and texts, token by token."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model.terms import TokenStates
from graphmem.rules import late_interaction
from graphmem.rules.late_interaction import (
    BLOCK,
    ID_BYTES,
    MAX_QUESTION_TOKENS,
    MIN_IDF,
    max_sim,
    pack,
)

WIDTH = 16
"""Components of a state in these tests."""


def tokens(*ids: int, seed: int = 0) -> TokenStates:
    """Return tokens with random states of length 1; equal ids have equal states."""
    rows = [np.random.default_rng([seed, one]).normal(size=WIDTH) for one in ids]
    states = np.array(rows, dtype=np.float32).reshape(len(ids), WIDTH)
    return TokenStates(
        np.array(ids, dtype=np.int32), states / np.linalg.norm(states, axis=1, keepdims=True)
    )


def oracle(
    question: TokenStates, texts: list[TokenStates | None], before: list[TokenStates | None]
) -> list[tuple[float, float]]:
    """Return the two scores of each text, one token at a time."""
    # Equal texts count once.
    there = {pack(text): text for text in texts if text is not None and len(text.ids)}.values()
    weights = []
    for token in question.ids % 2**16:
        frequency = sum(token in text.ids % 2**16 for text in there)
        idf = math.log(1 + (len(there) - frequency + 0.5) / (frequency + 0.5))
        weights.append(max(idf, MIN_IDF))

    total = sum(weights)

    def score(*passages: np.ndarray) -> float:
        signs = np.where(np.concatenate(passages) > 0, 1, -1)
        best = [
            max(float(state @ row) / math.sqrt(WIDTH) for row in signs) for state in question.states
        ]
        return sum(w * x for w, x in zip(weights, best, strict=True)) / total

    found = []
    for text, previous in zip(texts, before, strict=True):
        own = passages(text)
        last = passages(previous)[-1:]
        found.append(
            (
                max((score(one) for one in own), default=math.nan),
                max((score(one, *last) for one in own), default=math.nan),
            )
        )
    return found


def passages(text: TokenStates | None) -> list[np.ndarray]:
    """Return the states of overlapping passages of 32 tokens."""
    if text is None or not len(text.ids):
        return []
    starts = range(0, max(len(text.ids) - BLOCK, 1), BLOCK)
    return [text.states[start : start + 2 * BLOCK] for start in starts]


ids = st.lists(st.integers(0, 100_000), max_size=6) | st.integers(1, 70).map(lambda n: [*range(n)])
maybe = st.none() | ids


@given(st.lists(st.integers(0, 100_000), min_size=1, max_size=6), st.lists(st.tuples(maybe, maybe)))
def test_scores_equal_those_of_one_token_at_a_time(
    question: list[int], texts: list[tuple[list[int] | None, list[int] | None]]
) -> None:
    asked = tokens(*question)
    own, before = (
        [None if one[side] is None else tokens(*one[side] or ()) for one in texts]
        for side in (0, 1)
    )
    found = max_sim(
        asked, [one and pack(one) for one in own], [one and pack(one) for one in before]
    )
    wanted = oracle(asked, own, before)
    assert found.own == pytest.approx([x for x, _ in wanted], abs=1e-5, nan_ok=True)
    assert found.context == pytest.approx([y for _, y in wanted], abs=1e-5, nan_ok=True)


def test_a_token_takes_two_bytes_and_one_bit_per_component() -> None:
    assert len(pack(tokens(1, 2, 3))) == 3 * (ID_BYTES + WIDTH // 8)
    assert pack(tokens()) == b""


def test_the_same_tokens_are_nearest() -> None:
    asked = tokens(5, 6, 7)
    found = max_sim(asked, [pack(tokens(1, 2, 3)), pack(tokens(7, 9, 6, 5))], [None, None]).own
    assert found[1] > found[0]


def test_a_rare_token_counts_more_than_a_common_one() -> None:
    asked = tokens(1, 2)
    common = [pack(tokens(1, n)) for n in range(10, 20)]
    found = max_sim(asked, [*common, pack(tokens(2, 30)), pack(tokens(1, 30))], [None] * 12).own
    assert found[10] > found[11]


@pytest.mark.parametrize("stored", [None, b"", b"\0", b"x" * 17, bytes(3)])
def test_what_cannot_be_read_has_no_score(stored: bytes | None) -> None:
    own, context = max_sim(tokens(4), [stored, pack(tokens(4))], [stored, stored])
    assert np.isnan([own[0], context[0]]).all()
    assert own[1] == context[1] == pytest.approx(1.0, abs=0.5)


def test_a_question_without_tokens_has_no_score() -> None:
    assert np.isnan(max_sim(tokens(), [pack(tokens(1))], [None]).own).all()


@pytest.mark.parametrize(("limit", "least"), [("SLICE", 20), ("SINGLE_THREADED", 100)])
def test_the_parts_in_which_it_is_computed_change_nothing(
    monkeypatch: pytest.MonkeyPatch, limit: str, least: int
) -> None:
    asked = tokens(*range(9))
    texts = [pack(tokens(*range(n, 2 * n))) for n in (1, 16, 17, 40, 90)]
    whole = max_sim(asked, texts, [None, *texts[:-1]])
    monkeypatch.setattr(late_interaction, limit, least)
    parts = max_sim(asked, texts, [None, *texts[:-1]])
    np.testing.assert_allclose(parts, whole, atol=1e-6)


def test_a_long_question_is_compared_by_its_rarest_tokens() -> None:
    common, rare = range(100, 100 + 2 * MAX_QUESTION_TOKENS), range(5)
    often = [pack(tokens(*common, 8_000 + n)) for n in range(3)]
    texts = [*often, *(pack(tokens(n, 9_000 + n)) for n in rare)]
    found = max_sim(tokens(*common, *rare), texts, [None] * len(texts)).own
    kept = tokens(*common[: MAX_QUESTION_TOKENS - len(rare)], *rare)
    np.testing.assert_allclose(found, max_sim(kept, texts, [None] * len(texts)).own, atol=1e-6)
    assert found[3:].min() > -1


def test_a_long_question_about_long_texts_takes_bounded_memory() -> None:
    rng = np.random.default_rng(1)
    ids, states = rng.integers(0, 2**16, 2_000), rng.normal(size=(2_000, 128))
    long = TokenStates(ids.astype(np.int32), states.astype(np.float32))
    texts = [pack(long)[18 * n :] for n in range(100)]
    tracemalloc.start()
    try:
        found = max_sim(long, texts, [None, *texts[:-1]])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert np.isfinite(found.context).all()
    # All products at once would take 1.6 GB.
    assert peak < 200_000_000
