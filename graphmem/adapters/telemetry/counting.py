"""What a process does, counted for Prometheus."""

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
"""From a read of one item to a long run."""


class PrometheusTelemetry:
    """Counts operations, models and the search log in a registry; safe to share between clients.

        telemetry = PrometheusTelemetry(registry, by_tenant=True)
        GraphMem.open(telemetry=telemetry)

    Serving the registry is the program's own: `prometheus_client.start_http_server(9465)`.
    """

    def __init__(
        self, registry: CollectorRegistry | None = None, *, by_tenant: bool = False
    ) -> None:
        """Make the metrics.

        Args:
            registry: to make them in; prometheus_client's own by default. One registry takes them
                once.
            by_tenant: label operations with the tenant: a series more for each that comes along.

        Raises:
            ConfigurationError: prometheus_client is not installed.
        """
        client = library("prometheus_client", "metrics")
        to = {"registry": client.REGISTRY if registry is None else registry}
        timed = to | {"buckets": BUCKETS_S}
        self._by_tenant = by_tenant
        self._operations = client.Histogram(
            "graphmem_operation_duration_seconds",
            "Public operations by name and outcome: ok, or the code of the error.",
            ["operation", "outcome", *(["tenant"] if by_tenant else [])],
            **timed,
        )
        self._embeddings = client.Histogram(
            "graphmem_embedding_duration_seconds",
            "Requests to the embedding model, those that its cache answers included.",
            ["model", "outcome"],
            **timed,
        )
        self._texts = client.Counter(
            "graphmem_embedding_texts_total",
            "Texts given to the embedding model.",
            ["model", "role"],
            **to,
        )
        self._answers = client.Histogram(
            "graphmem_llm_duration_seconds",
            "Questions to the language model, retries and repairs included.",
            ["model", "outcome"],
            **timed,
        )
        self._requests = client.Counter(
            "graphmem_llm_requests_total",
            "Requests behind the answers of the language model.",
            ["model"],
            **to,
        )
        self._tokens = client.Counter(
            "graphmem_llm_tokens_total",
            "Tokens of answered questions.",
            ["model", "direction"],
            **to,
        )
        self._cost = client.Counter(
            "graphmem_llm_cost_usd_total",
            "Cost of answered questions in US dollars, as far as prices are known.",
            ["model"],
            **to,
        )
        self._unpriced = client.Counter(
            "graphmem_llm_unpriced_total", "Answers whose price nobody knows.", ["model"], **to
        )
        self._waiting = client.Gauge(
            "graphmem_log_waiting_entries", "Entries of the search log still to be written.", **to
        )
        self._written = client.Counter(
            "graphmem_log_written_total", "Entries of the search log that were written.", **to
        )
        self._lost = client.Counter(
            "graphmem_log_lost_total", "Entries of the search log that were given up.", **to
        )

    @contextmanager
    def operation(self, name: str, tenant: str) -> Iterator[None]:
        """Return the block of one public operation."""
        labels = (tenant,) if self._by_tenant else ()
        with _timed(lambda outcome: self._operations.labels(name, outcome, *labels)):
            yield

    @contextmanager
    def embedding(self, model: str, role: Role, texts: int) -> Iterator[None]:
        """Return the block in which texts become vectors."""
        self._texts.labels(model, role).inc(texts)
        with _timed(lambda outcome: self._embeddings.labels(model, outcome)):
            yield

    @contextmanager
    def answering(self, model: str) -> Iterator[Callable[[Answer[Any]], None]]:
        """Return the block in which a language model answers."""

        def tell(answer: Answer[Any]) -> None:
            self._requests.labels(model).inc(answer.requests)
            self._tokens.labels(model, "in").inc(answer.tokens_in)
            self._tokens.labels(model, "out").inc(answer.tokens_out)
            if answer.cost_usd is None:
                self._unpriced.labels(model).inc()
            else:
                self._cost.labels(model).inc(answer.cost_usd)

        with _timed(lambda outcome: self._answers.labels(model, outcome)):
            yield tell

    def logged(self, *, waiting: int, written: int, lost: int) -> None:
        """Count entries of the search log."""
        self._waiting.inc(waiting)
        self._written.inc(written)
        self._lost.inc(lost)


@contextmanager
def _timed(series: Callable[[str], Any]) -> Iterator[None]:
    """Measure the block; which series it belongs to is known when it has ended."""
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
