"""Services whose models report their use to telemetry."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from graphmem.ports import Answer, Role, Services, WrappedEmbedder

if TYPE_CHECKING:
    from graphmem.model.terms import Encoding
    from graphmem.ports import Embedder, Llm, Matrix, Prompt, Reranker, Telemetry
    from graphmem.rules.prompts import M
    from graphmem.settings import Settings


OPEN = "open"
"""Name of the only operation that starts before a handle exists."""


def chosen_telemetry(settings: Settings, own: Telemetry | None) -> Telemetry | None:
    """Return the telemetry of a client: `own`, else what the settings select; None if off."""
    if own is not None or not (settings.metrics or settings.traces):
        return own
    from graphmem.telemetry import receivers

    return receivers.from_settings(settings)


def reported_opening(telemetry: Telemetry | None) -> AbstractContextManager[object]:
    """Return a context manager that reports the opening of a client."""
    return nullcontext() if telemetry is None else telemetry.operation(OPEN, "")


def instrumented(services: Services, telemetry: Telemetry | None) -> Services:
    """Return services whose models report their use to telemetry."""
    if telemetry is None:
        return services
    return replace(
        services,
        telemetry=telemetry,
        embedder=InstrumentedEmbedder(services.embedder, telemetry),
        llm=None if services.llm is None else InstrumentedLlm(services.llm, telemetry),
        reranker=services.reranker and InstrumentedReranker(services.reranker, telemetry),
    )


class InstrumentedEmbedder(WrappedEmbedder):
    """An embedder that reports its calls to telemetry."""

    def __init__(self, inner: Embedder, telemetry: Telemetry) -> None:
        super().__init__(inner)
        self._telemetry = telemetry

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return the vectors of texts; see `ports.Embedder.embed`."""
        with self._telemetry.embedding(self.name, role, len(texts)):
            return await super().embed(texts, role)

    async def encode(self, texts: Sequence[str], role: Role) -> Encoding:
        """Return vectors and token states; see `ports.TokenEmbedder.encode`."""
        with self._telemetry.embedding(self.name, role, len(texts)):
            return await super().encode(texts, role)


class InstrumentedLlm:
    """A language model that reports its calls to telemetry."""

    def __init__(self, inner: Llm, telemetry: Telemetry) -> None:
        self._inner = inner
        self._telemetry = telemetry

    @property
    def name(self) -> str:
        """Stable name of the model."""
        return self._inner.name

    async def answer(self, prompt: Prompt[M]) -> Answer[M]:
        """Return the model's reply; see `ports.Llm.answer`."""
        with self._telemetry.answering(self._inner.name) as record:
            answer = await self._inner.answer(prompt)
            record(answer)
            return answer


class InstrumentedReranker:
    """A reranker that reports its calls to telemetry."""

    def __init__(self, inner: Reranker, telemetry: Telemetry) -> None:
        self._inner = inner
        self._telemetry = telemetry

    @property
    def name(self) -> str:
        """Stable name of the model."""
        return self._inner.name

    async def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the scores of texts; see `ports.Reranker.rerank`."""
        with self._telemetry.reranking(self._inner.name, len(texts)):
            return await self._inner.rerank(question, texts)
