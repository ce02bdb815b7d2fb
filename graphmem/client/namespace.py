"""Base classes of a handle and its namespaces, which report to telemetry."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial, update_wrapper, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, TypeAlias, TypeVar

from graphmem import ports
from graphmem.operations import ids
from graphmem.ports import run_now
from graphmem.rules import short_ids
from graphmem.validation import id_parameters, validated

if TYPE_CHECKING:
    from graphmem.client.state import HandleState


P = ParamSpec("P")
T = TypeVar("T")

_NAMES: dict[Callable[..., Any], str] = {}
"""Operation names of the instrumented methods."""

# Quoted: jedi shows the parameters of the coroutine only if it cannot resolve these types.
Awaited: TypeAlias = "Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]"
Blocking: TypeAlias = "Callable[Concatenate[Any, P], T]"


class AsyncNamespace:
    """Base class of the parts of an awaited handle; validates and instruments their coroutines.

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


def short_forms(handle: Namespace, texts: Iterable[str]) -> dict[str, str]:
    """Return the short forms of those texts that are ids which graphmem derived."""
    return run_now(ids.shortened(handle._state.context, texts))


def _instrumented(
    name: str, method: Callable[..., Coroutine[Any, Any, Any]]
) -> Callable[..., Coroutine[Any, Any, Any]]:
    checked = validated(_resolving(method))

    # `checked` returns the coroutine, so it adds no frame between a call and the driver.
    @wraps(checked)
    async def instrumented(self: AsyncNamespace, /, *args: Any, **kwargs: Any) -> Any:
        with _reported(name, self):
            return await checked(self, *args, **kwargs)

    _NAMES[instrumented] = name
    return instrumented


def _resolving(
    method: Callable[..., Coroutine[Any, Any, Any]],
) -> Callable[..., Coroutine[Any, Any, Any]]:
    """Return a method that receives whole ids where short ones are given."""

    @wraps(method)
    def resolving(self: AsyncNamespace, /, *args: Any, **kwargs: Any) -> Coroutine[Any, Any, Any]:
        given = [one for name in id_parameters(method) for one in _texts(kwargs.get(name))]
        if not (given and short_ids.any_short(given)):
            return method(self, *args, **kwargs)
        return resolved(self, given, *args, **kwargs)

    async def resolved(self: AsyncNamespace, given: list[str], /, *args: Any, **kwargs: Any) -> Any:
        known = await ids.resolved(self._state.context, given)
        for name in kwargs.keys() & id_parameters(method):
            kwargs[name] = _replaced(kwargs[name], known)
        return await method(self, *args, **kwargs)

    return resolving


def _texts(value: object) -> list[str]:
    """Return the ids of an argument: one, several, or none."""
    several = value if isinstance(value, tuple | list | frozenset) else [value]
    return [one for one in several if isinstance(one, str)]


def _replaced(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, tuple | list | frozenset):
        return type(value)(known.get(one, one) if isinstance(one, str) else one for one in value)
    return known.get(value, value) if isinstance(value, str) else value


def _reported(name: str | None, handle: Any, *_: object) -> AbstractContextManager[object]:
    context = handle._state.context
    if name is None or context.services.telemetry is None:
        return nullcontext()
    found: AbstractContextManager[object]
    found = context.services.telemetry.operation(name, context.tenant)
    return found


def blocking(method: Awaited[P, T]) -> Blocking[P, T]:
    """Return the blocking twin of a coroutine method that awaits only ports."""
    # The twin reports its calls itself, without the wrapper of `_instrumented`.
    twin = ports.blocking(method, partial(_reported, _NAMES.get(method)))
    update_wrapper(twin, method)
    return twin
