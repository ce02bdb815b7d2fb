"""Base classes of a handle and its namespaces: the state they share, reported to telemetry."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from functools import update_wrapper, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, TypeVar

from graphmem import ports

if TYPE_CHECKING:
    from graphmem.client.state import HandleState


P = ParamSpec("P")
T = TypeVar("T")


class AsyncNamespace:
    """Base class of the parts of an awaited handle; instruments their public coroutines.

    Calls of graphmem's own coroutines are reported only here; the blocking twins run the same
    coroutines. Methods that a user's subclass adds are not reported.
    """

    _prefix: ClassVar[str] = ""
    """Prefix of the operation names in metrics and traces, such as `beliefs.`."""

    def __init__(self, state: HandleState) -> None:
        self._state = state

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__.partition(".")[0] != "graphmem":
            return
        for name, member in list(vars(cls).items()):
            if not name.startswith("_") and inspect.iscoroutinefunction(member):
                setattr(cls, name, _instrumented(cls._prefix + name, member))


class Namespace:
    """Base class of the parts of a blocking handle."""

    def __init__(self, state: HandleState) -> None:
        self._state = state


def _instrumented(
    name: str, method: Callable[..., Coroutine[Any, Any, Any]]
) -> Callable[..., Coroutine[Any, Any, Any]]:
    @wraps(method)
    async def instrumented(self: AsyncNamespace, /, *args: Any, **kwargs: Any) -> Any:
        with _reported(self._state, name):
            return await method(self, *args, **kwargs)

    _NAMES[instrumented] = name
    return instrumented


_NAMES: dict[Callable[..., Any], str] = {}
"""Operation names of the instrumented methods."""


def _reported(state: HandleState, name: str) -> AbstractContextManager[object]:
    telemetry = state.binding.world.telemetry
    return telemetry.operation(name, state.binding.wall.tenant) if telemetry else nullcontext()


def blocking(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Any, P], T]:
    """Return the blocking twin of a coroutine method that awaits only ports."""
    name = _NAMES.get(method)
    if name is None:
        twin = ports.blocking(method)
    else:
        twin = ports.blocking(inspect.unwrap(method), lambda self, *_: _reported(self._state, name))
    return update_wrapper(twin, method)
