"""Nothing is returned for a question that nothing stored is similar to."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from graphmem import Handle, RecallPolicy
from graphmem.rules import scoring

MAY = datetime(2025, 5, 5, tzinfo=UTC)
QUESTION = "The grey heron likes the old harbour"


@pytest.fixture
def filled(plain: Handle) -> Handle:
    """Two memories, one of them similar to the question."""
    plain.remember("The grey heron likes the old harbour.", at=MAY)
    plain.remember("Tickets cost nine euros.", at=MAY)
    return plain


def test_the_best_item_decides(filled: Handle) -> None:
    every = filled.recall(QUESTION)
    assert every.best_similarity == max(bite.similarity or -1 for bite in every.bites)
    assert (every.min_score, len(every.bites)) == (None, 2)
    reached = filled.recall(QUESTION, min_score=every.best_similarity)
    assert [bite.id for bite in reached.bites] == [bite.id for bite in every.bites]
    missed = filled.recall("zebra quartz", min_score=0.9)
    assert missed.bites == ()
    assert missed.best_similarity is not None
    assert missed.reason == (
        f"nothing is similar enough to the question ({missed.best_similarity:.2f}, below 0.90; "
        "a min_score of -1 shows the nearest)"
    )


def test_an_empty_context_says_so(filled: Handle) -> None:
    block = filled.context("zebra quartz", min_score=0.9)
    assert (block.text, block.ids) == ("", ())
    assert block.reason.startswith("nothing is similar enough to the question")


def test_the_argument_overrides_the_policy(filled: Handle) -> None:
    policy = RecallPolicy(min_score=0.9)
    assert not filled.recall("zebra quartz", policy=policy).bites
    assert filled.recall("zebra quartz", policy=policy, min_score=-1).bites


def test_a_model_with_a_known_floor_has_it_by_default(filled: Handle) -> None:
    context = filled._state.context
    model = context.model.model_copy(update={"name": "some-jar-1/e5-small-v2-q8"})
    known = type(filled)(replace(filled._state, context=replace(context, model=model)))
    found = known.recall("zebra quartz")
    assert found.min_score == scoring.relevance_floor(model.name, 2)
    assert found.best_similarity is not None
    assert (found.bites == ()) == (found.best_similarity < (found.min_score or 0))
    assert known.recall("zebra quartz", policy="trace").min_score is None


def test_the_floor_grows_with_the_number_of_texts() -> None:
    floors = [scoring.relevance_floor("e5-small-v2-q8", n) or 0 for n in (0, 1, 9, 200, 400)]
    assert floors == sorted(floors)
    assert (floors[0], floors[3], floors[4]) == (0, 0.352, 0.352)
    assert floors[2] == pytest.approx(0.153, abs=0.001)
    assert scoring.relevance_floor("openai/some", 200) is None


def test_nothing_is_refused_when_nothing_has_a_vector(plain: Handle) -> None:
    found = plain.recall("anything", min_score=0.9)
    assert found.reason == "nothing is stored in scope 'global'"
