"""Prometheus metrics of the graph: the statistics of some tenants, read again and again."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.client import connect
from graphmem.errors import GraphmemError, MigrationPendingError
from graphmem.model import TenantScope
from graphmem.ports import Services, run_now
from graphmem.schema import migration
from graphmem.usage import statistics
from graphmem.validation import valid

if TYPE_CHECKING:
    from graphmem.settings import Settings
    from graphmem.telemetry.graph_metrics import GraphMetrics


log = logging.getLogger("graphmem")


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
            readings = [run_now(statistics.read(self.services, one)) for one in self.tenants]
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
