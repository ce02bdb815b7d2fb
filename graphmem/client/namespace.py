"""Base classes of a handle and its namespaces: the state they share, reported to telemetry."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from functools import partial, update_wrapper, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, TypeAlias, TypeVar

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
        with _reported(name, self):
            return await method(self, *args, **kwargs)

    _NAMES[instrumented] = name
    return instrumented


_NAMES: dict[Callable[..., Any], str] = {}
"""Operation names of the instrumented methods."""


def _reported(name: str | None, handle: Any, *_: object) -> AbstractContextManager[object]:
    context = handle._state.context
    if name is None or context.services.telemetry is None:
        return nullcontext()
    found: AbstractContextManager[object]
    found = context.services.telemetry.operation(name, context.tenant)
    return found


# Quoted: jedi shows the parameters of the coroutine only if it cannot resolve these types.
Awaited: TypeAlias = "Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]"
Blocking: TypeAlias = "Callable[Concatenate[Any, P], T]"


def blocking(method: Awaited[P, T]) -> Blocking[P, T]:
    """Return the blocking twin of a coroutine method that awaits only ports."""
    # The twin reports its calls itself, without the wrapper of `_instrumented`.
    twin = ports.blocking(method, partial(_reported, _NAMES.get(method)))
    update_wrapper(twin, method)
    return twin
