"""Telling telemetry of what is done: every public operation, every use of a model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

from graphmem.ports import Answer, Role, Services

if TYPE_CHECKING:
    from graphmem.client.state import HandleState
    from graphmem.ports import Embedder, Llm, Matrix, Prompt, Telemetry
    from graphmem.rules.consolidation import M
    from graphmem.settings import Settings

OPEN = "open"
"""The one operation that begins before there is a handle."""


class Instrumented:
    """What each part of an awaited handle extends.

    Every public coroutine of ours is told of here and nowhere else; its blocking twin runs the
    same coroutine. What a user's own class adds is the user's to count.
    """

    _state: HandleState

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__.partition(".")[0] != "graphmem":
            return
        for name, member in list(vars(cls).items()):
            if not name.startswith("_") and inspect.iscoroutinefunction(member):
                setattr(cls, name, _observed(name, member))


def _observed(
    name: str, method: Callable[..., Coroutine[Any, Any, Any]]
) -> Callable[..., Coroutine[Any, Any, Any]]:
    @wraps(method)
    async def told(self: Instrumented, /, *args: Any, **kwargs: Any) -> Any:
        binding = self._state.binding
        telemetry = binding.world.telemetry
        if telemetry is None:
            return await method(self, *args, **kwargs)
        with telemetry.operation(name, binding.wall.tenant):
            return await method(self, *args, **kwargs)

    return told


def chosen(settings: Settings, own: Telemetry | None) -> Telemetry | None:
    """Return whom a client tells: `own`, or what the settings ask for; None: nobody.

    Raises:
        ConfigurationError: what they ask for is not installed.
    """
    if own is not None or not (settings.metrics or settings.traces):
        return own
    from graphmem.adapters import telemetry

    return telemetry.of_settings(settings)


def opening(telemetry: Telemetry | None) -> AbstractContextManager[object]:
    """Return the block in which a client is opened."""
    return nullcontext() if telemetry is None else telemetry.operation(OPEN, "")


def watched(world: Services, telemetry: Telemetry | None) -> Services:
    """Return the world, of whose use telemetry is told."""
    if telemetry is None:
        return world
    return replace(
        world,
        telemetry=telemetry,
        embedder=InstrumentedEmbedder(world.embedder, telemetry),
        llm=None if world.llm is None else InstrumentedLlm(world.llm, telemetry),
    )


class InstrumentedEmbedder:
    """An embedder whose use is told of."""

    def __init__(self, inner: Embedder, telemetry: Telemetry) -> None:
        self._inner = inner
        self._telemetry = telemetry

    @property
    def name(self) -> str:
        """Stable name of the model."""
        return self._inner.name

    async def dimension(self) -> int:
        """Return the length of its vectors."""
        return await self._inner.dimension()

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        """Return what the model makes of the texts; see `ports.Embedder.embed`."""
        with self._telemetry.embedding(self._inner.name, role, len(texts)):
            return await self._inner.embed(texts, role)


class InstrumentedLlm:
    """A language model whose use is told of."""

    def __init__(self, inner: Llm, telemetry: Telemetry) -> None:
        self._inner = inner
        self._telemetry = telemetry

    @property
    def name(self) -> str:
        """Stable name of the model."""
        return self._inner.name

    async def answer(self, prompt: Prompt[M]) -> Answer[M]:
        """Return the model's reply; see `ports.Llm.answer`."""
        with self._telemetry.answering(self._inner.name) as tell:
            answer = await self._inner.answer(prompt)
            tell(answer)
            return answer
