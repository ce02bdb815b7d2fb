"""What the graph holds, as a registry that Prometheus scrapes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from graphmem.adapters.telemetry import library
from graphmem.errors import ConfigurationError
from graphmem.model import RatingStep, TenantStats, Tier
from graphmem.rules import hosts

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from prometheus_client.core import Metric


BOUNDS = tuple(float(bound) for bound in range(600, 2001, 100))
"""Upper bounds of the histogram of ratings, in points; tiers begin at 800, 1200 and 1600."""
RATED = ("Artifact", "Belief", "Episode", "Memory")


@dataclass(frozen=True, slots=True)
class StatsSnapshot:
    """Readings of all tenants, or that the graph could not be read."""

    readings: Sequence[TenantStats] | None
    """None: it could not."""
    at_s: float
    """When it ended, seconds since 1970."""
    seconds: float
    """How long it took."""


@dataclass(frozen=True, slots=True)
class _Gauge:
    """One metric: its name without the prefix, its labels, and what a reading gives for it."""

    name: str
    about: str
    labels: tuple[str, ...]
    values: Callable[[TenantStats], Iterable[tuple[tuple[str, ...], float]]]
    is_counter: bool = False


def _by(of: Mapping[Any, int]) -> Iterator[tuple[tuple[str, ...], float]]:
    return (((str(state),), count) for state, count in of.items())


def _one(value: float) -> Iterator[tuple[tuple[str, ...], float]]:
    yield (), value


def _tiers(reading: TenantStats) -> Iterator[tuple[tuple[str, ...], float]]:
    for kind in RATED:
        for tier in Tier:
            fits = (one for one in reading.ratings if (one.kind, one.tier) == (kind, tier))
            yield (kind, tier), sum(one.items for one in fits)


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
        "unrated_sessions",
        "Sessions that ended and wait for rating.",
        (),
        lambda r: _one(r.unrated),
    ),
    _Gauge(
        "unembedded_beliefs",
        "Beliefs that wait for an embedding.",
        (),
        lambda r: _one(r.unembedded),
    ),
    _Gauge(
        "consolidation_fresh_episodes",
        "Episodes that the last finished run of their scope had not seen.",
        (),
        lambda r: _one(r.consolidation.fresh),
    ),
    _Gauge(
        "consolidation_clusters",
        "Clusters by whether they were seen to or only went wrong.",
        ("state",),
        lambda r: _by({"decided": r.consolidation.decided, "undecided": r.consolidation.undecided}),
    ),
    _Gauge(
        "consolidation_failures",
        "Attempts at a cluster that went wrong.",
        (),
        lambda r: _one(r.consolidation.failures),
        is_counter=True,
    ),
    _Gauge(
        "consolidation_requests",
        "Requests to the language model whose answers were kept.",
        (),
        lambda r: _one(r.consolidation.calls),
        is_counter=True,
    ),
    _Gauge(
        "consolidation_tokens",
        "Tokens of these, sent and received.",
        ("direction",),
        lambda r: _by({"in": r.consolidation.tokens_in, "out": r.consolidation.tokens_out}),
        is_counter=True,
    ),
    _Gauge(
        "consolidation_cost_usd",
        "Cost of these in US dollars, as far as prices are known.",
        (),
        lambda r: _one(r.consolidation.cost_usd),
        is_counter=True,
    ),
)


class GraphMetrics:
    """The newest reading as metrics, and the registry that holds them."""

    def __init__(self, *, by_tenant: bool) -> None:
        """Make a registry of its own; nothing is in it before `show`.

        Args:
            by_tenant: label what belongs to a tenant with its name.

        Raises:
            ConfigurationError: prometheus_client is not installed.
        """
        self._client = library("prometheus_client", "metrics")
        self._core = library("prometheus_client.core", "metrics")
        self._by_tenant = by_tenant
        self._taken: StatsSnapshot | None = None
        self.registry = self._client.CollectorRegistry()
        self.registry.register(self)

    def show(self, taken: StatsSnapshot) -> None:
        """Put a reading in the place of the one before."""
        self._taken = taken

    def text(self) -> str:
        """Return one scrape in Prometheus's text format."""
        scraped: bytes = self._client.generate_latest(self.registry)
        return scraped.decode()

    def serve(self, host: str, port: int, allow: Collection[str] = ()) -> int:
        """Answer scrapes from a thread until the process ends; return the port.

        Args:
            host: address to listen on.
            port: 0 for any that is free.
            allow: `Host` headers to accept beside those of loopback and `host`.

        Raises:
            ConfigurationError: it cannot listen there.
        """
        return serve(self._client.make_wsgi_app(self.registry), host, port, allow)

    def collect(self) -> Iterator[Metric]:
        """Yield what is scraped: of a graph that could not be read, only that it could not."""
        taken = self._taken
        if taken is None:
            return
        up = "graphmem_graph_up", "Whether the graph could be read, 1 or 0."
        at = "graphmem_graph_read_timestamp_seconds", "When that was tried last."
        took = "graphmem_graph_read_duration_seconds", "How long it took."
        yield self._core.GaugeMetricFamily(*up, value=taken.readings is not None)
        yield self._core.GaugeMetricFamily(*at, value=taken.at_s)
        yield self._core.GaugeMetricFamily(*took, value=taken.seconds)
        if taken.readings is not None:
            for shown in METRICS:
                yield self._family(shown, taken.readings)
            yield self._histogram(taken.readings)

    def _family(self, shown: _Gauge, readings: Sequence[TenantStats]) -> Metric:
        make = self._core.CounterMetricFamily if shown.is_counter else self._core.GaugeMetricFamily
        labels = self._labels(shown.labels)
        family: Metric = make(f"graphmem_{shown.name}", shown.about, labels=labels)
        for reading in readings:
            for found, value in shown.values(reading):
                family.add_metric([*self._tenant(reading), *found], value)  # type: ignore[attr-defined]
        return family

    def _histogram(self, readings: Sequence[TenantStats]) -> Metric:
        family: Metric = self._core.GaugeHistogramMetricFamily(
            "graphmem_rating_points",
            "Ratings, faded to the time of the reading.",
            labels=self._labels(("kind",)),
        )
        for reading in readings:
            for kind in RATED:
                steps = [one for one in reading.ratings if one.kind == kind]
                family.add_metric(  # type: ignore[attr-defined]
                    [*self._tenant(reading), kind], _buckets(steps), sum(s.total for s in steps)
                )
        return family

    def _labels(self, labels: Sequence[str]) -> list[str]:
        return ["tenant", *labels] if self._by_tenant else [*labels]

    def _tenant(self, reading: TenantStats) -> list[str]:
        return [reading.tenant] if self._by_tenant else []


def _buckets(steps: Sequence[RatingStep]) -> list[tuple[str, float]]:
    """Return how many are below each bound; a rating at a bound belongs to the step above."""
    counted = [
        (str(bound), float(sum(one.items for one in steps if one.below <= bound)))
        for bound in BOUNDS
    ]
    return [*counted, ("+Inf", float(sum(one.items for one in steps)))]


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _ServerV6(_Server):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's
        """Log no request."""


def serve(app: WSGIApplication, host: str, port: int, allow: Collection[str]) -> int:
    """Answer requests from a thread until the process ends; return the port.

    Args:
        app: what answers.
        host: address to listen on.
        port: 0 for any that is free.
        allow: `Host` headers to accept beside those of loopback and `host`.

    Raises:
        ConfigurationError: it cannot listen there.
    """
    kind = _ServerV6 if ":" in host else _Server
    try:
        server = make_server(host.strip("[]"), port, app, kind, _Handler)
    except (OSError, OverflowError, TypeError, ValueError) as error:
        raise ConfigurationError(
            f"Nothing can listen on {host} port {port}: {error}.",
            hint="Choose another with --host and --port.",
        ) from error
    server.set_app(checked(app, [*hosts.names(host, server.server_port), *allow]))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def checked(app: WSGIApplication, allowed: Collection[str]) -> WSGIApplication:
    """Return an application that refuses every `Host` header that is not allowed."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if hosts.accepts(environ.get("HTTP_HOST", ""), allowed):
            return app(environ, start_response)
        start_response("421 Misdirected Request", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"Invalid Host header. Start the server with --allow-host to accept it.\n"]

    return answer
