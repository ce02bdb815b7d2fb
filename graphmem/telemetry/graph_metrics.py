"""Prometheus exporter of counts of the graph's content."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from graphmem.errors import ConfigurationError
from graphmem.extras import library
from graphmem.model import Tier
from graphmem.rules import urls
from graphmem.usage import RatingStep, TenantStats

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from prometheus_client.core import Metric


BOUNDS = tuple(float(bound) for bound in range(600, 2001, 100))
"""Upper bounds of the histogram of ratings, points; tiers begin at 800, 1200 and 1600."""
RATED = ("Artifact", "Belief", "Episode", "Memory")


@dataclass(frozen=True, slots=True)
class StatsSnapshot:
    """Statistics of all tenants from one read of the graph, or its failure."""

    readings: Sequence[TenantStats] | None
    """Statistics, one record per tenant; None if the graph could not be read."""
    at_s: float
    """End of the read, seconds since 1970."""
    seconds: float
    """Duration of the read."""


@dataclass(frozen=True, slots=True)
class _Gauge:
    """One metric: name without prefix, help text, labels, and values from a tenant's statistics."""

    name: str
    about: str
    labels: tuple[str, ...]
    values: Callable[[TenantStats], Iterable[tuple[tuple[str, ...], float]]]
    is_counter: bool = False


def _by(of: Mapping[Any, int]) -> Iterator[tuple[tuple[str, ...], float]]:
    return (((str(state),), count) for state, count in of.items())


def _failing_units(found: TenantStats) -> Iterator[tuple[tuple[str, ...], float]]:
    failing = Counter(one.job for one in found.failing)
    return (((one.job,), failing[one.job]) for one in found.jobs)


def _one(value: float) -> Iterator[tuple[tuple[str, ...], float]]:
    yield (), value


def _tiers(reading: TenantStats) -> Iterator[tuple[tuple[str, ...], float]]:
    for kind in RATED:
        for tier in Tier:
            steps = (step for step in reading.ratings if (step.kind, step.tier) == (kind, tier))
            yield (kind, tier), sum(step.items for step in steps)


METRICS = (
    _Gauge("memories", "Memories by status.", ("status",), lambda r: _by(r.memories)),
    _Gauge("beliefs", "Beliefs by status.", ("status",), lambda r: _by(r.beliefs)),
    _Gauge("events", "Events by type.", ("type",), lambda r: _by(r.events)),
    _Gauge("episodes", "Episodes.", (), lambda r: _one(r.episodes)),
    _Gauge("turns", "Messages of conversations, verbatim.", (), lambda r: _one(r.turns)),
    _Gauge("artifacts", "Files, symbols and documents of agents.", (), lambda r: _one(r.artifacts)),
    _Gauge("archives", "Full texts of compressed episodes.", (), lambda r: _one(r.archives)),
    _Gauge("rated_items", "Rated items by kind and tier.", ("kind", "tier"), _tiers),
    _Gauge(
        "unrated_sessions", "Ended sessions that are not rated yet.", (), lambda r: _one(r.unrated)
    ),
    _Gauge("unembedded_beliefs", "Beliefs without an embedding.", (), lambda r: _one(r.unembedded)),
    _Gauge(
        "job_failures",
        "Failed runs of a background job since its last successful one.",
        ("task",),  # Prometheus itself sets the label `job`.
        lambda r: (((one.job,), one.failures) for one in r.jobs),
    ),
    _Gauge(
        "job_failing_units",
        "Scopes, sessions and items whose last attempt in a background job failed.",
        ("task",),
        _failing_units,
    ),
    _Gauge(
        "job_due_timestamp_seconds",
        "When a background job that is not running is due again.",
        ("task",),
        lambda r: (
            ((one.job,), one.due_at.timestamp())
            for one in r.jobs
            if one.due_at is not None and not one.running
        ),
    ),
    _Gauge(
        "consolidation_fresh_episodes",
        "Episodes that the last finished run of their scope did not see.",
        (),
        lambda r: _one(r.consolidation.fresh),
    ),
    _Gauge(
        "consolidation_clusters",
        "Clusters by state: decided, or undecided because every attempt failed.",
        ("state",),
        lambda r: _by({"decided": r.consolidation.decided, "undecided": r.consolidation.undecided}),
    ),
    _Gauge(
        "consolidation_failures",
        "Failed attempts at a cluster.",
        (),
        lambda r: _one(r.consolidation.failures),
        is_counter=True,
    ),
    _Gauge(
        "consolidation_requests",
        "Requests to the language model whose answers were stored.",
        (),
        lambda r: _one(r.consolidation.calls),
        is_counter=True,
    ),
    _Gauge(
        "consolidation_tokens",
        "Tokens of these requests, sent and received.",
        ("direction",),
        lambda r: _by({"in": r.consolidation.tokens_in, "out": r.consolidation.tokens_out}),
        is_counter=True,
    ),
    _Gauge(
        "consolidation_cost_usd",
        "Cost of these requests in US dollars, as far as prices are known.",
        (),
        lambda r: _one(r.consolidation.cost_usd),
        is_counter=True,
    ),
)


class GraphMetrics:
    """Metrics of the newest snapshot, in their own registry."""

    def __init__(self, *, by_tenant: bool) -> None:
        """Create a registry, which is empty until `show` is called.

        Raises:
            ConfigurationError: prometheus_client is not installed.
        """
        self._client = library("prometheus_client", "metrics")
        self._core = library("prometheus_client.core", "metrics")
        self._by_tenant = by_tenant
        self._snapshot: StatsSnapshot | None = None
        self.registry = self._client.CollectorRegistry()
        self.registry.register(self)

    def show(self, snapshot: StatsSnapshot) -> None:
        """Replace the current snapshot."""
        self._snapshot = snapshot

    def text(self) -> str:
        """Return the metrics in Prometheus's text format."""
        scraped: bytes = self._client.generate_latest(self.registry)
        return scraped.decode()

    def serve(self, host: str, port: int, allow: Collection[str] = ()) -> int:
        """Serve the metrics from a thread until the process ends; return the port.

        Port 0 chooses a free one. `allow` lists `Host` headers to accept in addition to those of
        loopback and `host`.

        Raises:
            ConfigurationError: it cannot listen there.
        """
        app = self._client.make_wsgi_app(self.registry)
        kind = _ServerV6 if ":" in host else _Server
        try:
            server = make_server(host.strip("[]"), port, app, kind, _Handler)
        except (OSError, OverflowError, TypeError, ValueError) as error:
            raise ConfigurationError(
                f"Cannot listen on {host} port {port}: {error}.",
                hint="Choose another address with --host or --port.",
            ) from error
        server.set_app(_checked(app, [*urls.host_headers(host, server.server_port), *allow]))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server.server_port

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; only the state of the read if the graph could not be read."""
        snapshot = self._snapshot
        if snapshot is None:
            return
        up = "graphmem_graph_up", "Whether the graph could be read, 1 or 0."
        at = "graphmem_graph_read_timestamp_seconds", "Time of the last attempt to read the graph."
        took = "graphmem_graph_read_duration_seconds", "Duration of that attempt."
        yield self._core.GaugeMetricFamily(*up, value=snapshot.readings is not None)
        yield self._core.GaugeMetricFamily(*at, value=snapshot.at_s)
        yield self._core.GaugeMetricFamily(*took, value=snapshot.seconds)
        if snapshot.readings is not None:
            for gauge in METRICS:
                yield self._family(gauge, snapshot.readings)
            yield self._histogram(snapshot.readings)

    def _family(self, gauge: _Gauge, readings: Sequence[TenantStats]) -> Metric:
        make = self._core.CounterMetricFamily if gauge.is_counter else self._core.GaugeMetricFamily
        names = self._labels(gauge.labels)
        family: Metric = make(f"graphmem_{gauge.name}", gauge.about, labels=names)
        for reading in readings:
            for labels, value in gauge.values(reading):
                family.add_metric([*self._tenant(reading), *labels], value)  # type: ignore[attr-defined]
        return family

    def _histogram(self, readings: Sequence[TenantStats]) -> Metric:
        family: Metric = self._core.GaugeHistogramMetricFamily(
            "graphmem_rating_points",
            "Ratings, decayed to the time of the read.",
            labels=self._labels(("kind",)),
        )
        for reading in readings:
            for kind in RATED:
                steps = [step for step in reading.ratings if step.kind == kind]
                family.add_metric(  # type: ignore[attr-defined]
                    [*self._tenant(reading), kind], _buckets(steps), sum(s.total for s in steps)
                )
        return family

    def _labels(self, labels: Sequence[str]) -> list[str]:
        return ["tenant", *labels] if self._by_tenant else [*labels]

    def _tenant(self, reading: TenantStats) -> list[str]:
        return [reading.tenant] if self._by_tenant else []


def _buckets(steps: Sequence[RatingStep]) -> list[tuple[str, float]]:
    """Return the number of items below each bound; a rating at a bound is counted above it."""
    buckets = [
        (str(bound), float(sum(step.items for step in steps if step.below <= bound)))
        for bound in BOUNDS
    ]
    return [*buckets, ("+Inf", float(sum(step.items for step in steps)))]


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _ServerV6(_Server):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's
        """Do not log requests."""


def _checked(app: WSGIApplication, allowed: Collection[str]) -> WSGIApplication:
    """Return an application that rejects every `Host` header that is not allowed."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if urls.accepts_host(environ.get("HTTP_HOST", ""), allowed):
            return app(environ, start_response)
        start_response("421 Misdirected Request", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"Invalid Host header. Start the server with --allow-host to accept it.\n"]

    return answer
