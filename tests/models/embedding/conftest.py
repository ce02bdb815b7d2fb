"""A loopback embedding service with faults on demand, and embedders that talk to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graphmem.models import open_embedder
from graphmem.models.embedding import EmbeddingGateway, ServiceEngine
from graphmem.ports import Embedder, Role
from graphmem.settings import Settings
from tests.plugins.loopback import KEY, LoopbackService, Reply, Waits

if TYPE_CHECKING:
    from graphmem.ports import Matrix


def vector_of(text: str) -> list[float]:
    """Reply of the service for a text: three numbers, not of length 1."""
    return [float(len(text)), 1.0, float(sum(map(ord, text)) % 97)]


def items(texts: list[str]) -> list[dict[str, Any]]:
    return [{"index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)]


class Service(LoopbackService):
    """An OpenAI-compatible embedding service."""

    def behave(self, body: dict[str, Any]) -> Reply:
        texts = body.get("input") or body.get("texts") or [""] * len(body.get("requests", []))
        return self.data(items(texts))

    @property
    def sent(self) -> list[list[str]]:
        """The texts of each request."""
        return [body["input"] for body in self.bodies]

    @staticmethod
    def data(data: object) -> Reply:
        """Answer 200 with these vectors, whatever was asked."""
        body = {"object": "list", "model": "m", "data": data, "usage": {"total_tokens": 1}}
        return LoopbackService.text(json.dumps(body).encode())


@pytest.fixture
def service() -> Iterator[Service]:
    with Service.opened() as played:
        yield played


@dataclass
class Talk:
    """An embedder over the loopback service, with both faces called the same way."""

    embedder: Embedder
    waits: Waits

    def embed(self, *texts: str, role: Role = Role.DOCUMENT) -> Matrix:
        return self.waits.finish(self.embedder.embed(list(texts), role))

    def dimension(self) -> int:
        return self.waits.finish(self.embedder.dimension())


Connect = Callable[..., Talk]


@pytest.fixture
def connect(client_name: str, service: Service, monkeypatch: pytest.MonkeyPatch) -> Connect:
    """Open an embedder over the loopback service; keywords are settings."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)

    def opened(**fields: Any) -> Talk:
        waits = Waits(awaited=client_name == "awaited")
        fields = {
            "embedder": "openai/some-model",
            "embedder_url": service.url,
            "embedder_key": KEY,
            **fields,
        }
        settings = Settings(**fields)
        engine = ServiceEngine(settings, waits)
        return Talk(
            EmbeddingGateway(engine, waits, batch=settings.embedder_batch, cache=None), waits
        )

    return opened


@pytest.fixture
def reopened(service: Service, tmp_path: Path) -> Callable[..., Embedder]:
    """Open the blocking embedder as a program would, cache included."""

    def opened(**fields: Any) -> Embedder:
        fields = {
            "embedder": "openai/some-model",
            "embedder_url": service.url,
            "embedder_key": KEY,
            "cache": tmp_path / "cache",
            **fields,
        }
        return open_embedder(Settings(**fields), awaited=False)

    return opened


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool
