"""What a graph holds, opened for its operator: read, shown, served to Prometheus."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.client import connect
from graphmem.client.state import valid
from graphmem.errors import GraphmemError, MigrationPendingError
from graphmem.model import TenantScope
from graphmem.operations import stats
from graphmem.operations.schema import migration
from graphmem.ports import Services, run_now

if TYPE_CHECKING:
    from graphmem.adapters.telemetry.exporting import GraphMetrics
    from graphmem.model import TenantStats
    from graphmem.settings import Settings

log = logging.getLogger("graphmem")


@dataclass(frozen=True, slots=True)
class Exporter:
    """What some tenants have in a graph, as Prometheus metrics."""

    world: Services
    tenants: tuple[str, ...]
    metrics: GraphMetrics

    def read(self) -> None:
        """Take a reading of every tenant and show it.

        Raises:
            GraphmemError: the graph cannot be read; that is shown then.
        """
        from graphmem.adapters.telemetry.exporting import StatsSnapshot

        start, readings = time.perf_counter(), None
        try:
            readings = self._readings()
        finally:
            self.metrics.show(StatsSnapshot(readings, time.time(), time.perf_counter() - start))

    def keep_reading(self, wait: Callable[[], bool]) -> None:
        """Read again and again; a graph that cannot be read is shown as such, and tried again.

        Args:
            wait: called after each reading; False ends it.
        """
        while True:
            try:
                self.read()
            except GraphmemError as error:
                log.warning("The graph cannot be read: %s", error.code)
            if not wait():
                return

    def _readings(self) -> Sequence[TenantStats]:
        return [run_now(stats.read(self.world, tenant)) for tenant in self.tenants]


@contextmanager
def opened(
    settings: Settings,
    by_tenant: Sequence[str] = (),
    report: Callable[[str], None] = connect.silent,
) -> Iterator[Exporter]:
    """Yield an exporter of the settings' graph.

    Args:
        settings: of the graph; their tenant is the one read when none is named.
        by_tenant: tenants to read, each of which labels its metrics; none: no label.
        report: told what takes long.

    Raises:
        InvalidInputError: one is no name of a tenant.
        ConfigurationError: prometheus_client is not installed, or the settings do not fit.
        UnavailableError, GraphAccessError, SchemaError: the graph cannot be used.
    """
    from graphmem.adapters.telemetry.exporting import GraphMetrics

    names = dict.fromkeys(by_tenant or [settings.tenant])
    tenants = tuple(valid(TenantScope, tenant=name).tenant for name in names)
    metrics = GraphMetrics(by_tenant=bool(by_tenant))
    at = connect.address(settings, report)
    world = connect.blocking_world(settings, at, report, None)
    try:
        run_now(world.graph.verify())
        if waiting := migration.pending(run_now(migration.state(world))):
            raise MigrationPendingError(f"{len(waiting)} migrations have not been applied.")
        yield Exporter(world, tenants, metrics)
    finally:
        run_now(world.graph.close())
