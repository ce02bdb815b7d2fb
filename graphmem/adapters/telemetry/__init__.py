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
"""The outcome of what ended with an error that is not graphmem's own; those have their codes."""
INTERRUPTED = "interrupted"
"""Cancelled, or ended together with its process."""

_counting: dict[bool, PrometheusTelemetry] = {}
_making = Lock()


def of_settings(settings: Settings) -> Telemetry:
    """Return what `metrics` and `traces` ask for, at least one of which is set.

    All clients of a process are counted together, in the registry that prometheus_client serves
    by default; spans go to the process's own tracer provider.

    Raises:
        ConfigurationError: what is asked for is not installed, or a client of this process names
            tenants and another does not.
    """
    found: list[Telemetry] = []
    if settings.metrics:
        found.append(_counted(settings.telemetry_tenants))
    if settings.traces:
        from graphmem.adapters.telemetry.tracing import OtelTelemetry

        found.append(OtelTelemetry(by_tenant=settings.telemetry_tenants))
    return found[0] if len(found) == 1 else CompositeTelemetry(found)


def _counted(by_tenant: bool) -> PrometheusTelemetry:  # noqa: FBT001 - the only choice
    from graphmem.adapters.telemetry.counting import PrometheusTelemetry

    with _making:
        if _counting and by_tenant not in _counting:
            raise ConfigurationError(
                "GRAPHMEM_TELEMETRY_TENANTS differs between two clients of one process.",
                hint="Set it alike for both, or open one with a telemetry and a registry of its "
                "own.",
            )
        if by_tenant not in _counting:
            _counting[by_tenant] = PrometheusTelemetry(by_tenant=by_tenant)
        return _counting[by_tenant]


class CompositeTelemetry:
    """Telemetry that tells all of several."""

    def __init__(self, inner: list[Telemetry]) -> None:
        self._inner = inner

    @contextmanager
    def operation(self, name: str, tenant: str) -> Iterator[None]:
        """Return the block of one public operation."""
        with _entered([one.operation(name, tenant) for one in self._inner]):
            yield

    @contextmanager
    def embedding(self, model: str, role: Role, texts: int) -> Iterator[None]:
        """Return the block in which texts become vectors."""
        with _entered([one.embedding(model, role, texts) for one in self._inner]):
            yield

    @contextmanager
    def answering(self, model: str) -> Iterator[Callable[[Answer[Any]], None]]:
        """Return the block in which a language model answers."""
        with ExitStack() as stack:
            each = [stack.enter_context(one.answering(model)) for one in self._inner]

            def tell(answer: Answer[Any]) -> None:
                for told in each:
                    told(answer)

            yield tell

    def logged(self, *, waiting: int, written: int, lost: int) -> None:
        """Count entries of the search log."""
        for one in self._inner:
            one.logged(waiting=waiting, written=written, lost=lost)


@contextmanager
def _entered(blocks: list[AbstractContextManager[object]]) -> Iterator[None]:
    with ExitStack() as stack:
        for block in blocks:
            stack.enter_context(block)
        yield


def outcome_of(error: BaseException | None) -> str:
    """Return how something ended: `ok`, the code of its error, `error` or `interrupted`."""
    if error is None:
        return OK
    if isinstance(error, GraphmemError):
        return error.code
    return UNFORESEEN if isinstance(error, Exception) else INTERRUPTED


def library(name: str, extra: str) -> Any:
    """Return a module that only an extra of graphmem installs.

    Raises:
        ConfigurationError: it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise ConfigurationError(
            f"For this, {package} is needed, and it is not installed.",
            hint=f"pip install 'graphmem[{extra}]'",
        ) from None
