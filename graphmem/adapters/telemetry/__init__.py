"""Metrics for Prometheus and spans for OpenTelemetry, both optional."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from graphmem.errors import ConfigurationError, GraphmemError

if TYPE_CHECKING:
    from graphmem.adapters.telemetry.counting import PrometheusTelemetry
    from graphmem.ports import Answer, Role, Telemetry
    from graphmem.settings import Settings

OK = "ok"
UNFORESEEN = "error"
"""Outcome of an operation that raised an exception other than a `GraphmemError`."""
INTERRUPTED = "interrupted"
"""Outcome of an operation that was cancelled or ended with its process."""

_counting: dict[bool, PrometheusTelemetry] = {}
_making = Lock()


def of_settings(settings: Settings) -> Telemetry:
    """Return the telemetry for `metrics` and `traces`, at least one of which is set.

    All clients of a process share one set of metrics in prometheus_client's default registry;
    spans go to the process's global tracer provider.

    Raises:
        ConfigurationError: a required package is not installed, or two clients of this process
            differ in `telemetry_tenants`.
    """
    backends: list[Telemetry] = []
    if settings.metrics:
        backends.append(_counted(settings.telemetry_tenants))
    if settings.traces:
        from graphmem.adapters.telemetry.tracing import OtelTelemetry

        backends.append(OtelTelemetry(by_tenant=settings.telemetry_tenants))
    return backends[0] if len(backends) == 1 else CompositeTelemetry(backends)


def _counted(by_tenant: bool) -> PrometheusTelemetry:  # noqa: FBT001 - the only parameter
    from graphmem.adapters.telemetry.counting import PrometheusTelemetry

    with _making:
        if _counting and by_tenant not in _counting:
            raise ConfigurationError(
                "GRAPHMEM_TELEMETRY_TENANTS differs between two clients of one process.",
                hint="Set it to the same value for both, or open one of them with its own "
                "telemetry and registry.",
            )
        if by_tenant not in _counting:
            _counting[by_tenant] = PrometheusTelemetry(by_tenant=by_tenant)
        return _counting[by_tenant]


class CompositeTelemetry:
    """Telemetry that forwards every call to several backends."""

    def __init__(self, inner: list[Telemetry]) -> None:
        self._inner = inner

    @contextmanager
    def operation(self, name: str, tenant: str) -> Iterator[None]:
        """Measure the block of one public operation."""
        with _entered([backend.operation(name, tenant) for backend in self._inner]):
            yield

    @contextmanager
    def embedding(self, model: str, role: Role, texts: int) -> Iterator[None]:
        """Measure the block of one embedding request."""
        with _entered([backend.embedding(model, role, texts) for backend in self._inner]):
            yield

    @contextmanager
    def answering(self, model: str) -> Iterator[Callable[[Answer[Any]], None]]:
        """Measure the block of one language model request; yield a callback for its answer."""
        with ExitStack() as stack:
            callbacks = [stack.enter_context(backend.answering(model)) for backend in self._inner]

            def record(answer: Answer[Any]) -> None:
                for callback in callbacks:
                    callback(answer)

            yield record

    def logged(self, *, waiting: int, written: int, lost: int) -> None:
        """Count entries of the search log."""
        for backend in self._inner:
            backend.logged(waiting=waiting, written=written, lost=lost)


@contextmanager
def _entered(blocks: list[AbstractContextManager[object]]) -> Iterator[None]:
    with ExitStack() as stack:
        for block in blocks:
            stack.enter_context(block)
        yield


def outcome_of(error: BaseException | None) -> str:
    """Return the outcome of an operation: `ok`, an error code, `error` or `interrupted`."""
    if error is None:
        return OK
    if isinstance(error, GraphmemError):
        return error.code
    return UNFORESEEN if isinstance(error, Exception) else INTERRUPTED


def library(name: str, extra: str) -> Any:
    """Import a module that an extra of graphmem installs.

    Raises:
        ConfigurationError: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise ConfigurationError(
            f"This feature requires the package {package}, which is not installed.",
            hint=f"Run: pip install 'graphmem[{extra}]'",
        ) from None
