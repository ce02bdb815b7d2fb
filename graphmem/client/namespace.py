"""Base classes of a handle and its namespaces, which report to telemetry."""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial, update_wrapper, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, TypeAlias, TypeVar

from graphmem import ports
from graphmem.client import connect
from graphmem.errors import GraphmemError, MigrationPendingError
from graphmem.model import TenantScope
from graphmem.operations import ids
from graphmem.ports import Answer, Role, Services, WrappedEmbedder, run_now
from graphmem.rules import short_ids
from graphmem.schema import migration
from graphmem.usage import operations
from graphmem.validation import id_parameters, valid, validated

if TYPE_CHECKING:
    from graphmem.client.state import HandleState
    from graphmem.model.terms import Encoding
    from graphmem.ports import Embedder, Llm, Matrix, Prompt, Reranker, Telemetry
    from graphmem.rules.prompts import M
    from graphmem.settings import Settings
    from graphmem.telemetry.graph_metrics import GraphMetrics
    from graphmem.usage import TenantStats

OPEN = "open"
"""Name of the only operation that starts before a handle exists."""

log = logging.getLogger("graphmem")

P = ParamSpec("P")
T = TypeVar("T")

_NAMES: dict[Callable[..., Any], str] = {}
"""Operation names of the instrumented methods."""

# Quoted: jedi shows the parameters of the coroutine only if it cannot resolve these types.
Awaited: TypeAlias = "Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]"
Blocking: TypeAlias = "Callable[Concatenate[Any, P], T]"


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


@dataclass(frozen=True, slots=True)
class Exporter:
    """Exporter of the statistics of some tenants as Prometheus metrics."""

    services: Services
    tenants: tuple[str, ...]
    metrics: GraphMetrics

    def read(self) -> None:
        """Read the statistics of every tenant and update the metrics.

        Raises:
            GraphmemError: the graph cannot be read; the metrics then report that.
        """
        from graphmem.telemetry.graph_metrics import StatsSnapshot

        start, readings = time.perf_counter(), None
        try:
            readings = self._readings()
        finally:
            self.metrics.show(StatsSnapshot(readings, time.time(), time.perf_counter() - start))

    def keep_reading(self, wait: Callable[[], bool]) -> None:
        """Read repeatedly; a failed reading is reported by the metrics and tried again.

        Args:
            wait: called after each reading; False ends the loop.
        """
        while True:
            try:
                self.read()
            except GraphmemError as error:
                log.warning("The graph cannot be read: %s", error.code)
            if not wait():
                return

    def _readings(self) -> Sequence[TenantStats]:
        return [run_now(operations.read(self.services, tenant)) for tenant in self.tenants]


@contextmanager
def open_exporter(
    settings: Settings,
    by_tenant: Sequence[str] = (),
    report: Callable[[str], None] = connect.silent,
) -> Iterator[Exporter]:
    """Yield an exporter of the settings' graph.

    Args:
        by_tenant: tenants to read, which label their metrics; if empty, metrics have no label.
    """
    from graphmem.telemetry.graph_metrics import GraphMetrics

    names = dict.fromkeys(by_tenant or [settings.tenant])
    tenants = tuple(valid(TenantScope, tenant=name).tenant for name in names)
    metrics = GraphMetrics(by_tenant=bool(by_tenant))
    at = connect.address(settings, report)
    services = connect.open_services(settings, at, report)
    try:
        run_now(services.graph.verify())
        if waiting := migration.pending(run_now(migration.state(services))):
            raise MigrationPendingError(f"{len(waiting)} migrations have not been applied.")
        yield Exporter(services, tenants, metrics)
    finally:
        run_now(services.graph.close())


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
