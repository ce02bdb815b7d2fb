"""Each named policy ranks by what its name promises, and by nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import Handle, MemoryBite, RecallPolicy, Recollection
from graphmem.model import POLICIES
from graphmem.testing import FrozenClock
from tests.plugins.clients import Door
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
DAY = timedelta(days=1)
QUESTION = "When is the deploy window?"
LEAST = 0.25


def texts(found: Recollection) -> list[str]:
    return [bite.text for bite in found.bites]


@pytest.fixture
def dated(door: Door, memory: Handle) -> Handle:
    """A memory on a clock that stands in May."""
    return door.on(memory, clock=FrozenClock(MAY))


@pytest.fixture
def windows(dated: Handle) -> Handle:
    """Three memories that fit alike, the first of them said last, and one that does not fit."""
    for days, name in enumerate(("Atlas", "Borealis", "Cygnus")):
        dated.remember(f"The deploy window of {name} is Friday", at=MAY - days * 30 * DAY)
    dated.remember(unlike(1), at=MAY)
    return dated


@pytest.mark.parametrize("policy", POLICIES)
def test_what_fits_comes_before_what_does_not(windows: Handle, policy: Any) -> None:
    found = windows.recall(QUESTION, policy=policy)
    assert all(text.startswith("The deploy window") for text in texts(found)[:3])
    assert [b.score for b in found.bites] == sorted((b.score for b in found.bites), reverse=True)


@pytest.mark.parametrize("policy", ["flat", "trace", "esper"])
def test_by_meaning_alone_words_add_nothing(windows: Handle, policy: Any) -> None:
    for bite in windows.recall(QUESTION, policy=policy).bites:
        assert (bite.bm25, bite.bm25_rank, bite.parts.words) == (None, None, 0.0)
        assert bite.parts.meaning > 0 or (bite.similarity or 0) <= 0
        assert (bite.parts.recency, bite.parts.access, bite.parts.named) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("policy", ["default", "engram", "agent"])
def test_words_add_to_meaning(windows: Handle, policy: Any) -> None:
    best = windows.recall(QUESTION, policy=policy).bites[0]
    assert best.bm25_rank == 1
    assert best.parts.words > 0
    assert best.parts.meaning > 0


def test_flat_looks_at_neither_history_nor_belief(windows: Handle) -> None:
    before = windows.recall(QUESTION, policy="flat")
    for day in range(5):
        windows.remember("The deploy window of Cygnus is Friday", at=MAY - day * DAY)
    after = windows.recall(QUESTION, policy="flat")
    assert [(b.id, b.score) for b in after.bites] == [(b.id, b.score) for b in before.bites]

    windows.observe("window", "is", "Friday", confidence=0.1)
    flat = {b.kind: b for b in windows.recall("window is Friday", policy="flat").bites[::-1]}
    assert flat["belief"].score == flat["belief"].parts.relevance


def test_trace_lifts_what_was_said_again(windows: Handle) -> None:
    least = texts(windows.recall(QUESTION, policy="trace"))[2]
    for day in range(3):
        windows.remember(least, at=MAY - day * DAY)
    best = windows.recall(QUESTION, policy="trace").bites[0]
    assert isinstance(best, MemoryBite)
    assert best.text == least
    assert best.score == best.final


def test_esper_prefers_what_is_believed(dated: Handle) -> None:
    dated.observe("window", "opens", "Friday", confidence=0.2)
    dated.observe("window", "opens", "Monday", confidence=0.9)
    asked = "window opens Friday"
    assert texts(dated.recall(asked, policy="flat"))[0].endswith("Friday")
    found = dated.recall(asked, policy="esper").bites
    assert found[0].text.endswith("Monday")
    for bite in found:
        assert bite.kind == "belief"
        expected = 0.4 * bite.parts.relevance + 0.6 * bite.belief.belief
        assert bite.score == pytest.approx(expected, abs=1e-9)


def test_engram_gives_three_at_most_and_nothing_that_hardly_fits(windows: Handle) -> None:
    windows.remember("The deploy window of Draco is Friday", at=MAY)
    wide = POLICIES["engram"].model_copy(update={"max_results": None, "min_similarity": None})
    every = windows.recall(QUESTION, policy=wide).bites
    assert len(every) == 5
    assert any((bite.similarity or 0) < LEAST for bite in every)

    found = windows.recall(QUESTION, policy="engram").bites
    # Scores of words depend on all that the index holds, and other tests write to it.
    near = [bite.id for bite in every if (bite.similarity or 0) >= LEAST]
    assert [bite.id for bite in found] == near[:3]
    assert len(windows.recall(QUESTION, policy="engram", limit=2).bites) == 2
    assert windows.recall("zyx wvu", policy="engram").bites == ()


def test_engram_leaves_out_what_only_words_found(windows: Handle) -> None:
    windows.remember(f"Friday {unlike(2)} {unlike(3)} {unlike(4)}")
    near = POLICIES["engram"].model_copy(update={"min_similarity": None, "max_results": None})
    by_word = [b for b in windows.recall("Friday", policy=near).bites if b.bm25 is not None]
    assert any((b.similarity or 0) < LEAST for b in by_word)
    for bite in windows.recall("Friday", policy="engram").bites:
        assert bite.similarity is not None
        assert bite.similarity >= LEAST


@pytest.mark.parametrize("policy", ["engram", "agent"])
def test_what_was_said_lately_comes_first_of_what_fits_alike(windows: Handle, policy: Any) -> None:
    found = windows.recall(QUESTION, policy=policy).bites
    fits = [b for b in found if b.text.startswith("The")]
    lately = sorted(fits, key=lambda b: -b.parts.recency)
    assert [b.text.split()[4] for b in lately] == ["Atlas", "Borealis", "Cygnus"]
    if policy == "agent":
        assert [b.parts.recency for b in lately] == pytest.approx(
            [0.3 * 2.718281828459045 ** (-30 * n / 21) for n in range(3)]
        )
        assert fits[0].text.split()[4] == "Atlas"


@pytest.mark.parametrize("policy", ["engram", "agent"])
def test_what_was_opened_rises_by_what_use_counts(windows: Handle, policy: Any) -> None:
    # BM25 scores depend on the whole index, to which other tenants write between two reads.
    unworded = POLICIES[policy].model_copy(update={"words_weight": 0.0, "vector_weight": 0.5})
    before = windows.recall(QUESTION, policy=unworded).bites
    assert {bite.parts.access for bite in before} == {0.0}
    opened = next(b for b in before if "Cygnus" in b.text)
    for _ in range(3):
        windows.expand(opened.id)
    windows.usage.flush()

    after = {b.id: b for b in windows.recall(QUESTION, policy=unworded).bites}
    gained = 0.2 if policy == "agent" else 0.4 / 61
    assert after[opened.id].parts.access == pytest.approx(gained)
    assert after[opened.id].score == pytest.approx(opened.score + gained)
    assert {b.parts.access for b in after.values() if b.id != opened.id} == {0.0}


def test_use_may_decide_who_comes_first(windows: Handle) -> None:
    policy = RecallPolicy(vector_weight=0.1, words_weight=0.1, access_weight=1.0)
    last = [b for b in windows.recall(QUESTION, policy=policy).bites if "The" in b.text][-1]
    windows.expand(last.id)
    windows.usage.flush()
    assert windows.recall(QUESTION, policy=policy).bites[0].id == last.id
    # What was shown is what is opened, so by default use does not count.
    assert {b.parts.access for b in windows.recall(QUESTION).bites} == {0.0}
