"""Report every public operation and every use of a model to telemetry."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from graphmem.ports import Answer, Role, Services

if TYPE_CHECKING:
    from graphmem.ports import Embedder, Llm, Matrix, Prompt, Telemetry
    from graphmem.rules.prompts import M
    from graphmem.settings import Settings

OPEN = "open"
"""Name of the only operation that starts before a handle exists."""


def chosen(settings: Settings, own: Telemetry | None) -> Telemetry | None:
    """Return the telemetry of a client: `own`, else what the settings select; None if off.

    Raises:
        ConfigurationError: a package that the settings require is not installed.
    """
    if own is not None or not (settings.metrics or settings.traces):
        return own
    from graphmem.adapters import telemetry

    return telemetry.from_settings(settings)


def opening(telemetry: Telemetry | None) -> AbstractContextManager[object]:
    """Return a context manager that reports the opening of a client."""
    return nullcontext() if telemetry is None else telemetry.operation(OPEN, "")


def watched(services: Services, telemetry: Telemetry | None) -> Services:
    """Return services whose models report their use to telemetry."""
    if telemetry is None:
        return services
    return replace(
        services,
        telemetry=telemetry,
        embedder=InstrumentedEmbedder(services.embedder, telemetry),
        llm=None if services.llm is None else InstrumentedLlm(services.llm, telemetry),
    )


class InstrumentedEmbedder:
    """An embedder that reports its calls to telemetry."""

    def __init__(self, inner: Embedder, telemetry: Telemetry) -> None:
        self._inner = inner
        self._telemetry = telemetry

    @property
    def name(self) -> str:
        """Stable name of the model."""
        return self._inner.name

    async def dimension(self) -> int:
        """Return the length of the vectors."""
        return await self._inner.dimension()

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return the embeddings of texts; see `ports.Embedder.embed`."""
        with self._telemetry.embedding(self._inner.name, role, len(texts)):
            return await self._inner.embed(texts, role)


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
