"""Metrics for Prometheus and spans for OpenTelemetry, both optional."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from graphmem.errors import ConfigurationError, GraphmemError
from graphmem.extras import library

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider
    from prometheus_client import CollectorRegistry

    from graphmem.ports import Answer, Role, Telemetry
    from graphmem.settings import Settings

OK = "ok"
UNEXPECTED = "error"
"""Outcome of an operation that raised an exception other than a `GraphmemError`."""
INTERRUPTED = "interrupted"
"""Outcome of an operation that was cancelled or ended with its process."""
BUCKETS_S = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
"""Upper bounds of the duration histograms, seconds: from one read to a long job."""

OTHER = "other"
"""Label value under which everything beyond the limits is summed."""
MAX_VALUES = 100
"""Maximum number of values of a label that a caller chooses, besides OTHER: each adds series, which
a process keeps until it ends."""
MAX_VALUE_CHARS = 200

_metrics_by_tenant: dict[bool, PrometheusTelemetry] = {}
_lock = Lock()


def from_settings(settings: Settings) -> Telemetry:
    """Return the telemetry for `metrics` and `traces`, at least one of which is set.

    All clients of a process share one set of metrics in prometheus_client's default registry;
    spans go to the process's global tracer provider.

    Raises:
        ConfigurationError: a required package is not installed, or two clients of this process
            differ in `telemetry_tenants`.
    """
    backends: list[Telemetry] = []
    if settings.metrics:
        backends.append(_shared_metrics(settings.telemetry_tenants))
    if settings.traces:
        backends.append(OtelTelemetry(by_tenant=settings.telemetry_tenants))
    return backends[0] if len(backends) == 1 else CompositeTelemetry(backends)


def _shared_metrics(by_tenant: bool) -> PrometheusTelemetry:  # noqa: FBT001 - the only parameter
    with _lock:
        if _metrics_by_tenant and by_tenant not in _metrics_by_tenant:
            raise ConfigurationError(
                "GRAPHMEM_TELEMETRY_TENANTS differs between two clients of one process.",
                hint="Set it to the same value for both, or open one of them with its own "
                "telemetry and registry.",
            )
        if by_tenant not in _metrics_by_tenant:
            _metrics_by_tenant[by_tenant] = PrometheusTelemetry(by_tenant=by_tenant)
        return _metrics_by_tenant[by_tenant]


def exposition() -> bytes:
    """Return the metrics of this process in Prometheus's text format.

    If several processes share PROMETHEUS_MULTIPROC_DIR, the metrics are those of all.

    Raises:
        ConfigurationError: prometheus_client is not installed.
    """
    client = library("prometheus_client", "metrics")
    registry = client.REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = client.CollectorRegistry()
        library("prometheus_client.multiprocess", "metrics").MultiProcessCollector(registry)
    text: bytes = client.generate_latest(registry)
    return text


@contextmanager
def continued(headers: Mapping[str, str]) -> Iterator[None]:
    """Continue the trace that a request names in `traceparent`.

    Raises:
        ConfigurationError: opentelemetry-api is not installed.
    """
    context = library("opentelemetry.context", "otel")
    parent = library("opentelemetry.propagate", "otel").extract(headers)
    token = context.attach(parent)
    try:
        yield
    finally:
        context.detach(token)


class CompositeTelemetry:
    """Telemetry that forwards every call to several backends."""

    def __init__(self, inner: list[Telemetry]) -> None:
        self._inner = inner

    @contextmanager
    def operation(self, name: str, tenant: str) -> Iterator[None]:
        """Measure the block of one public operation."""
        with ExitStack() as stack:
            for backend in self._inner:
                stack.enter_context(backend.operation(name, tenant))
            yield

    @contextmanager
    def embedding(self, model: str, role: Role, texts: int) -> Iterator[None]:
        """Measure the block of one embedding request."""
        with ExitStack() as stack:
            for backend in self._inner:
                stack.enter_context(backend.embedding(model, role, texts))
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

    @contextmanager
    def reranking(self, model: str, texts: int) -> Iterator[None]:
        """Measure the block of one reranking."""
        with ExitStack() as stack:
            for backend in self._inner:
                stack.enter_context(backend.reranking(model, texts))
            yield

    def logged(self, *, waiting: int, written: int, lost: int) -> None:
        """Count entries of the search log."""
        for backend in self._inner:
            backend.logged(waiting=waiting, written=written, lost=lost)


class _LimitedValues:
    """Values of a label that callers choose: tenants and models. Their number is limited."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._lock = Lock()

    def label(self, value: str) -> str:
        """Return a value that is short and one of the first, else OTHER."""
        if value in self._known:
            return value
        with self._lock:
            if len(value) > MAX_VALUE_CHARS or len(self._known) == MAX_VALUES:
                return OTHER
            self._known.add(value)
        return value


class PrometheusTelemetry:
    """Metrics of operations, models and the search log; safe to share between clients.

        telemetry = PrometheusTelemetry(registry, by_tenant=True)
        GraphMem.open(telemetry=telemetry)

    The program must serve the registry itself: `prometheus_client.start_http_server(9465)`.
    """

    def __init__(
        self, registry: CollectorRegistry | None = None, *, by_tenant: bool = False
    ) -> None:
        """Create the metrics.

        Args:
            registry: registry for them; prometheus_client's default if None. A registry can hold
                them only once.
            by_tenant: label operations with the tenant: the first 100 by name, the rest as
                `other`.

        Raises:
            ConfigurationError: prometheus_client is not installed.
        """
        client = library("prometheus_client", "metrics")
        options = {"registry": client.REGISTRY if registry is None else registry}
        counter = partial(client.Counter, **options)
        histogram = partial(client.Histogram, buckets=BUCKETS_S, **options)
        self._by_tenant = by_tenant
        self._tenants, self._models = _LimitedValues(), _LimitedValues()
        self._operations = histogram(
            "graphmem_operation_duration_seconds",
            "Public operations by name and outcome: ok, or the code of the error.",
            ["operation", "outcome", *(["tenant"] if by_tenant else [])],
        )
        self._embeddings = histogram(
            "graphmem_embedding_duration_seconds",
            "Requests to the embedding model, including those answered from its cache.",
            ["model", "outcome"],
        )
        self._texts = counter(
            "graphmem_embedding_texts_total",
            "Texts given to the embedding model.",
            ["model", "role"],
        )
        self._answers = histogram(
            "graphmem_llm_duration_seconds",
            "Questions to the language model, including retries and repairs.",
            ["model", "outcome"],
        )
        self._requests = counter(
            "graphmem_llm_requests_total",
            "Requests to the language model for answered questions.",
            ["model"],
        )
        self._tokens = counter(
            "graphmem_llm_tokens_total", "Tokens of answered questions.", ["model", "direction"]
        )
        self._cost = counter(
            "graphmem_llm_cost_usd_total",
            "Cost of answered questions in US dollars, as far as prices are known.",
            ["model"],
        )
        self._unpriced = counter(
            "graphmem_llm_unpriced_total", "Answers with unknown price.", ["model"]
        )
        self._rerankings = histogram(
            "graphmem_reranker_duration_seconds",
            "Rerankings of search results; a failed one leaves the local order.",
            ["model", "outcome"],
        )
        self._waiting = client.Gauge(
            "graphmem_log_waiting_entries", "Entries of the search log not yet written.", **options
        )
        self._written = counter(
            "graphmem_log_written_total", "Entries of the search log that were written."
        )
        self._lost = counter(
            "graphmem_log_lost_total", "Entries of the search log that were dropped."
        )

    @contextmanager
    def operation(self, name: str, tenant: str) -> Iterator[None]:
        """Measure the block of one public operation."""
        labels = (self._tenants.label(tenant),) if self._by_tenant else ()
        with _timed(lambda outcome: self._operations.labels(name, outcome, *labels)):
            yield

    @contextmanager
    def embedding(self, model: str, role: Role, texts: int) -> Iterator[None]:
        """Measure the block of one embedding request."""
        model = self._models.label(model)
        self._texts.labels(model, role).inc(texts)
        with _timed(lambda outcome: self._embeddings.labels(model, outcome)):
            yield

    @contextmanager
    def answering(self, model: str) -> Iterator[Callable[[Answer[Any]], None]]:
        """Measure the block of one language model request; yield a callback for its answer."""
        model = self._models.label(model)

        def record(answer: Answer[Any]) -> None:
            self._requests.labels(model).inc(answer.requests)
            self._tokens.labels(model, "in").inc(answer.tokens_in)
            self._tokens.labels(model, "out").inc(answer.tokens_out)
            if answer.cost_usd is None:
                self._unpriced.labels(model).inc()
            else:
                self._cost.labels(model).inc(answer.cost_usd)

        with _timed(lambda outcome: self._answers.labels(model, outcome)):
            yield record

    @contextmanager
    def reranking(self, model: str, texts: int) -> Iterator[None]:  # noqa: ARG002
        """Measure the block of one reranking."""
        model = self._models.label(model)
        with _timed(lambda outcome: self._rerankings.labels(model, outcome)):
            yield

    def logged(self, *, waiting: int, written: int, lost: int) -> None:
        """Count entries of the search log."""
        self._waiting.inc(waiting)
        self._written.inc(written)
        self._lost.inc(lost)


@contextmanager
def _timed(series: Callable[[str], Any]) -> Iterator[None]:
    """Measure the block; its outcome decides to which series the duration belongs."""
    error: BaseException | None = None
    start = time.perf_counter()
    try:
        yield
    except BaseException as raised:
        error = raised
        raise
    finally:
        series(outcome_of(error)).observe(time.perf_counter() - start)
        del error


class OtelTelemetry:
    """Spans of operations, with an inner span for each request to a model.

    Span attributes are names, codes and counts; never texts, ids or error messages.
    """

    def __init__(
        self, tracer_provider: TracerProvider | None = None, *, by_tenant: bool = False
    ) -> None:
        """Create a tracer.

        Args:
            tracer_provider: provider of the tracer; the process's global one if None.
            by_tenant: add the tenant to the spans of operations.

        Raises:
            ConfigurationError: opentelemetry-api is not installed.
        """
        self._trace = library("opentelemetry.trace", "otel")
        self._tracer = self._trace.get_tracer("graphmem", tracer_provider=tracer_provider)
        self._by_tenant = by_tenant

    @contextmanager
    def operation(self, name: str, tenant: str) -> Iterator[None]:
        """Trace the block of one public operation."""
        attributes = {"graphmem.tenant": tenant} if self._by_tenant and tenant else {}
        with self._span(name, attributes):
            yield

    @contextmanager
    def embedding(self, model: str, role: Role, texts: int) -> Iterator[None]:
        """Trace the block of one embedding request."""
        attributes = {"graphmem.model": model, "graphmem.role": str(role), "graphmem.texts": texts}
        with self._span("embedding", attributes):
            yield

    @contextmanager
    def answering(self, model: str) -> Iterator[Callable[[Answer[Any]], None]]:
        """Trace the block of one language model request; yield a callback for its answer."""
        with self._span("llm", {"graphmem.model": model}) as span:

            def record(answer: Answer[Any]) -> None:
                counts = {
                    "graphmem.requests": answer.requests,
                    "graphmem.tokens_in": answer.tokens_in,
                    "graphmem.tokens_out": answer.tokens_out,
                }
                span.set_attributes(counts)
                if answer.cost_usd is not None:
                    span.set_attribute("graphmem.cost_usd", answer.cost_usd)

            yield record

    @contextmanager
    def reranking(self, model: str, texts: int) -> Iterator[None]:
        """Trace the block of one reranking."""
        with self._span("reranking", {"graphmem.model": model, "graphmem.texts": texts}):
            yield

    def logged(self, *, waiting: int, written: int, lost: int) -> None:
        """Do nothing, because log entries have no duration."""

    @contextmanager
    def _span(self, name: str, attributes: dict[str, Any]) -> Iterator[Span]:
        # By default the tracer would record an exception's message and traceback.
        with self._tracer.start_as_current_span(
            f"graphmem.{name}",
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            outcome = OK
            try:
                yield span
            except BaseException as error:
                outcome = outcome_of(error)
                span.set_status(self._trace.StatusCode.ERROR, outcome)
                raise
            finally:
                span.set_attribute("graphmem.outcome", outcome)


def outcome_of(error: BaseException | None) -> str:
    """Return the outcome of an operation: `ok`, an error code, `error` or `interrupted`."""
    if error is None:
        return OK
    if isinstance(error, GraphmemError):
        return error.code
    return UNEXPECTED if isinstance(error, Exception) else INTERRUPTED
