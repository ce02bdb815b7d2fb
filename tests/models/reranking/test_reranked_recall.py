"""recall with a reranker: it orders the best results, or leaves them as they were."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from graphmem import Handle, RecallPolicy
from graphmem.errors import ModelUnavailableError
from graphmem.model import Reranking
from graphmem.settings import Settings
from tests.plugins.clients import Door, on
from tests.plugins.loopback import KEY
from tests.telemetry.test_observing import Heard

if TYPE_CHECKING:
    from tests.models.reranking.conftest import RerankService

MAY = datetime(2025, 5, 5, tzinfo=UTC)
ABOUT = "the release train leaves"
TEXTS = [f"{ABOUT} {when}" for when in ("on Monday", "at noon with cake", "in May", "on track two")]


class Ranker:
    """A reranker that by default prefers long texts."""

    name = "longest"

    def __init__(self, score: Callable[[str], float] = len) -> None:
        self.given: list[tuple[str, list[str]]] = []
        self.answer: Callable[[Sequence[str]], Any] = lambda texts: [*map(score, texts)]

    async def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        self.given.append((question, [*texts]))
        scores: Sequence[float] = self.answer(texts)
        return scores


@pytest.fixture
def filled(memory: Handle) -> Handle:
    memory.remember_many(TEXTS)
    return memory


def texts_of(memory: Handle, **asked: Any) -> list[str]:
    return [bite.text for bite in memory.recall(ABOUT, **asked).bites]


def test_it_orders_the_best_results_and_shows_its_scores(filled: Handle) -> None:
    ranker, local = Ranker(), filled.recall(ABOUT)
    found = on(filled, reranker=ranker).recall(ABOUT)
    assert [bite.text for bite in found.bites] == sorted(TEXTS, key=len, reverse=True)
    assert ranker.given == [(ABOUT, [bite.text for bite in local.bites])]
    assert found.reranked == Reranking(model="longest", candidates=4)
    assert found.reranked.used
    assert [bite.parts.reranker for bite in found.bites] == [len(bite.text) for bite in found.bites]
    assert local.reranked is None
    # The local score is unchanged.
    scores = {bite.id: bite.score for bite in local.bites}
    for bite in found.bites:
        assert bite.score == pytest.approx(scores[bite.id])
        assert bite.parts.relevance == pytest.approx(bite.score)


def test_it_lifts_a_result_that_the_limit_would_have_hidden(filled: Handle) -> None:
    [best] = texts_of(on(filled, reranker=Ranker()), limit=1)
    assert best == max(TEXTS, key=len)
    [worst] = texts_of(on(filled, reranker=Ranker(lambda text: -len(text))), limit=1)
    assert worst == min(TEXTS, key=len)


def test_it_gets_no_more_than_the_setting(filled: Handle) -> None:
    local, ranker = texts_of(filled), Ranker()
    few = on(filled, reranker=ranker, settings=Settings(reranker_max_candidates=2))
    assert texts_of(few) == [*sorted(local[:2], key=len, reverse=True), *local[2:]]
    assert ranker.given == [(ABOUT, local[:2])]
    assert [bite.parts.reranker is None for bite in few.recall(ABOUT).bites] == [False] * 2 + [
        True
    ] * 2


def test_equal_scores_keep_the_local_order(filled: Handle) -> None:
    assert texts_of(on(filled, reranker=Ranker(lambda _: 0.5))) == texts_of(filled)


def _unavailable(_: Sequence[str]) -> None:
    raise ModelUnavailableError("No response from the reranking service.")


def _broken(texts: Sequence[str]) -> None:
    raise ValueError(texts[0])


FAILURES: list[tuple[str, Callable[[Sequence[str]], Any], str]] = [
    ("unavailable", _unavailable, "No response from the reranking service."),
    ("timeout", lambda _: (_ for _ in ()).throw(TimeoutError()), "raised TimeoutError"),
    ("broken", _broken, "raised ValueError"),
    ("too few", lambda texts: [0.5] * (len(texts) - 1), "3 scores for 4 texts"),
    ("too many", lambda texts: [0.5] * (len(texts) + 1), "5 scores for 4 texts"),
    ("NaN", lambda texts: [float("nan")] * len(texts), "not finite"),
    ("infinite", lambda texts: [*range(len(texts) - 1), float("inf")], "not finite"),
    ("words", lambda texts: ["high"] * len(texts), "raised TypeError"),
    ("nothing", lambda _: None, "raised TypeError"),
]


@pytest.mark.parametrize(("case", "answer", "reason"), FAILURES, ids=[c for c, _, _ in FAILURES])
def test_a_failure_leaves_the_local_order_and_says_so(
    filled: Handle,
    caplog: pytest.LogCaptureFixture,
    case: str,
    answer: Callable[[Sequence[str]], Any],
    reason: str,
) -> None:
    local, ranker = filled.recall(ABOUT, limit=3), Ranker()
    ranker.answer = answer
    with caplog.at_level(logging.WARNING, "graphmem"):
        found = on(filled, reranker=ranker).recall(ABOUT, limit=3)
    assert [bite.id for bite in found.bites] == [bite.id for bite in local.bites]
    assert all(bite.parts.reranker is None for bite in found.bites)
    assert found.reranked is not None
    assert not found.reranked.used
    assert (found.reranked.model, found.reranked.candidates) == ("longest", 4)
    assert reason in found.reranked.reason
    assert "local order stays" in caplog.text
    assert ABOUT not in caplog.text + found.reranked.reason


def test_a_policy_turns_it_off(filled: Handle) -> None:
    ranker, local = Ranker(), texts_of(filled)
    memory = on(filled, reranker=ranker)
    found = memory.recall(ABOUT, policy=RecallPolicy(rerank=False))
    assert [bite.text for bite in found.bites] == local
    assert found.reranked is None
    for policy in ("flat", "trace", "esper", "engram", "agent"):
        assert memory.recall(ABOUT, policy=policy).reranked is None
    assert ranker.given == []


def test_it_is_not_asked_about_nothing(filled: Handle) -> None:
    ranker = Ranker()
    found = on(filled, reranker=ranker).recall("unheard of", min_score=1)
    assert (found.bites, found.reranked, ranker.given) == ((), None, [])


def test_it_gets_the_speaker_of_a_turn(memory: Handle) -> None:
    memory.session("s").add_messages(
        [
            {"role": "user", "name": "Ann", "content": "The train leaves from track two."},
            {"role": "assistant", "content": "Then the train leaves late."},
        ]
    )
    ranker = Ranker()
    on(memory, reranker=ranker).recall("which train leaves", kinds=("belief", "turn"))
    [(_, texts)] = ranker.given
    assert set(texts) == {
        "Ann: The train leaves from track two.",
        "assistant: Then the train leaves late.",
    }


def test_an_older_version_still_follows_the_newer(memory: Handle) -> None:
    memory.remember("The limit is now 100 requests.", at=MAY)
    memory.remember("The limit is now 200 requests.", at=MAY + timedelta(days=30))
    ranker = Ranker(lambda text: float("100" in text))
    newer, older = on(memory, reranker=ranker).recall("the limit of requests").bites
    assert ("200" in newer.text, older.outdated_by) == (True, newer.id)


def test_it_reports_to_telemetry(door: Door) -> None:
    heard, ranker = Heard(), Ranker()
    with door.opened(reranker=ranker, telemetry=heard) as memory:
        memory.remember_many(TEXTS)
        memory.recall(ABOUT)
        ranker.answer = lambda _: []
        memory.recall(ABOUT)
        ranker.answer = _unavailable
        memory.recall(ABOUT)
    assert [call for call in heard.calls if call[0] == "reranking"] == [
        ("reranking", "longest", 4),
        ("reranking", "longest", 4),
        ("reranking", "longest", 4, "ModelUnavailableError"),
    ]


@pytest.mark.usefixtures("both_clients")
def test_an_endpoint_of_the_settings_is_asked(door: Door, service: RerankService) -> None:
    fields = {"reranker": f"{service.url}/rerank", "reranker_key": KEY, "reranker_timeout_s": 20}
    settings = door.settings.model_copy(update=Settings(**fields).model_dump(include={*fields}))
    with door.opened(settings) as memory:
        memory.remember_many(TEXTS)
        found = memory.recall(ABOUT)
        assert [bite.text for bite in found.bites] == sorted(TEXTS, key=len, reverse=True)
        assert memory.context(ABOUT).reranked == found.reranked
        service.play(service.status(500, KEY))
        failed = memory.context(ABOUT).reranked
        assert failed is not None
        assert KEY not in repr(failed)
        assert not failed.used
        assert service.keys == [f"Bearer {KEY}"] * 3
