"""Base classes of a handle and its namespaces: the state they share, reported to telemetry."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from graphmem.client.state import HandleState


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
        binding = self._state.binding
        telemetry = binding.world.telemetry
        if telemetry is None:
            return await method(self, *args, **kwargs)
        with telemetry.operation(name, binding.wall.tenant):
            return await method(self, *args, **kwargs)

    return instrumented
