"""A loopback reranking service with faults on demand, and rerankers that talk to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from graphmem.models.reranking import open_service
from graphmem.ports import Reranker
from graphmem.settings import Settings
from tests.plugins.loopback import KEY, LoopbackService, Reply, Waits


def score_of(text: str) -> float:
    """Score of the service for a text: its length, so that the longest comes first."""
    return len(text) / 100


@dataclass
class RerankService(LoopbackService):
    """A service like Cohere's; with `takes` "texts", one like Text Embeddings Inference."""

    takes: str = "documents"
    refusal: int = 422
    """HTTP status of a request in the other form."""
    paths: list[str] = field(default_factory=list)

    def behave(self, body: dict[str, Any]) -> Reply:
        if self.takes not in body:
            return self.status(self.refusal, f"missing field `{self.takes}`")
        texts = body[self.takes]
        scored = sorted(enumerate(map(score_of, texts)), key=lambda pair: -pair[1])
        if self.takes == "texts":
            return self.json([{"index": i, "score": score} for i, score in scored])
        return self.results([(i, score) for i, score in scored])

    def answer(self, handler: Any) -> None:
        self.paths.append(handler.path)
        super().answer(handler)

    @staticmethod
    def json(body: object) -> Reply:
        return LoopbackService.text(json.dumps(body).encode())

    @classmethod
    def results(cls, pairs: list[tuple[Any, Any]]) -> Reply:
        """Answer 200 with these indices and scores, whatever was asked."""
        rows = [{"index": index, "relevance_score": score} for index, score in pairs]
        return cls.json({"id": "r", "results": rows, "meta": {"billed_units": {"search_units": 1}}})


@pytest.fixture
def service() -> Iterator[RerankService]:
    with RerankService.opened() as played:
        yield played


@dataclass
class Talk:
    """A reranker over the loopback service, with both faces called the same way."""

    reranker: Reranker
    waits: Waits

    def rerank(self, question: str, *texts: str) -> list[float]:
        return [*self.waits.finish(self.reranker.rerank(question, texts))]


Connect = Callable[..., Talk]


@pytest.fixture
def connect(client_name: str, service: RerankService, monkeypatch: pytest.MonkeyPatch) -> Connect:
    """Open a reranker over the loopback service: `name` "http" or "litellm", and settings."""
    monkeypatch.setenv("COHERE_API_BASE", service.url)
    monkeypatch.delenv("COHERE_API_KEY", raising=False)

    def opened(name: str = "http", **fields: Any) -> Talk:
        waits = Waits(awaited=client_name == "awaited")
        reranker = f"{service.url}/rerank" if name == "http" else "cohere/rerank-v3.5"
        settings = Settings(**{"reranker": reranker, "reranker_key": KEY, **fields})
        assert settings.reranker is not None
        return Talk(open_service(settings.reranker, settings, waits), waits)

    return opened
