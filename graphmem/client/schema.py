"""The schema of a graph, opened for its operator: plan, migrate, compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.client import connect
from graphmem.operations import drift, migration
from graphmem.ports import World, run_now

if TYPE_CHECKING:
    from graphmem.model import Difference
    from graphmem.settings import Settings


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of one graph."""

    world: World

    def plan(self) -> Sequence[str]:
        """Return the names of the migrations that `migrate` would apply."""
        found = run_now(migration.state(self.world))
        return [m.name for m in migration.due(found, self.world.settings.language)]

    def migrate(self) -> Sequence[str]:
        """Apply what is due and return the names; see `operations.migration.migrate`."""
        return run_now(migration.migrate(self.world))

    def drift(self) -> Sequence[Difference]:
        """Return how the graph differs from the declared schema."""
        from graphmem.adapters.neomodel_nodes import declared

        return run_now(drift.drift(self.world, declared()))


@contextmanager
def opened(settings: Settings, report: Callable[[str], None]) -> Iterator[Schema]:
    """Yield the schema of the settings' graph."""
    at = connect.address(settings, report)
    world = connect.blocking_world(settings, at, report, None)
    try:
        run_now(world.graph.verify())
        yield Schema(world)
    finally:
        run_now(world.graph.close())
