"""Prometheus metrics of the operations of a process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphmem.adapters.telemetry import library, outcome_of

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from graphmem.ports import Answer, Role

BUCKETS_S = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
"""Upper bounds of the duration histograms, seconds: from one read to a long job."""


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
            by_tenant: label operations with the tenant; adds one series per tenant.

        Raises:
            ConfigurationError: prometheus_client is not installed.
        """
        client = library("prometheus_client", "metrics")
        options = {"registry": client.REGISTRY if registry is None else registry}
        timed = options | {"buckets": BUCKETS_S}
        self._by_tenant = by_tenant
        self._operations = client.Histogram(
            "graphmem_operation_duration_seconds",
            "Public operations by name and outcome: ok, or the code of the error.",
            ["operation", "outcome", *(["tenant"] if by_tenant else [])],
            **timed,
        )
        self._embeddings = client.Histogram(
            "graphmem_embedding_duration_seconds",
            "Requests to the embedding model, including those answered from its cache.",
            ["model", "outcome"],
            **timed,
        )
        self._texts = client.Counter(
            "graphmem_embedding_texts_total",
            "Texts given to the embedding model.",
            ["model", "role"],
            **options,
        )
        self._answers = client.Histogram(
            "graphmem_llm_duration_seconds",
            "Questions to the language model, including retries and repairs.",
            ["model", "outcome"],
            **timed,
        )
        self._requests = client.Counter(
            "graphmem_llm_requests_total",
            "Requests to the language model for answered questions.",
            ["model"],
            **options,
        )
        self._tokens = client.Counter(
            "graphmem_llm_tokens_total",
            "Tokens of answered questions.",
            ["model", "direction"],
            **options,
        )
        self._cost = client.Counter(
            "graphmem_llm_cost_usd_total",
            "Cost of answered questions in US dollars, as far as prices are known.",
            ["model"],
            **options,
        )
        self._unpriced = client.Counter(
            "graphmem_llm_unpriced_total", "Answers with unknown price.", ["model"], **options
        )
        self._waiting = client.Gauge(
            "graphmem_log_waiting_entries", "Entries of the search log not yet written.", **options
        )
        self._written = client.Counter(
            "graphmem_log_written_total", "Entries of the search log that were written.", **options
        )
        self._lost = client.Counter(
            "graphmem_log_lost_total", "Entries of the search log that were dropped.", **options
        )

    @contextmanager
    def operation(self, name: str, tenant: str) -> Iterator[None]:
        """Measure the block of one public operation."""
        labels = (tenant,) if self._by_tenant else ()
        with _timed(lambda outcome: self._operations.labels(name, outcome, *labels)):
            yield

    @contextmanager
    def embedding(self, model: str, role: Role, texts: int) -> Iterator[None]:
        """Measure the block of one embedding request."""
        self._texts.labels(model, role).inc(texts)
        with _timed(lambda outcome: self._embeddings.labels(model, outcome)):
            yield

    @contextmanager
    def answering(self, model: str) -> Iterator[Callable[[Answer[Any]], None]]:
        """Measure the block of one language model request; yield a callback for its answer."""

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
