"""The schema of a graph, opened for its operator: plan, migrate, compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.client import connect
from graphmem.operations.schema import drift, migration, reembedding
from graphmem.ports import OnPart, Services, run_now, silent

if TYPE_CHECKING:
    from graphmem.model import Difference, ReembedReport
    from graphmem.ports import Embedder
    from graphmem.settings import Settings

EMBEDDED = reembedding.KINDS
"""What has embeddings; `SchemaClient.reembed` tells of each."""


@dataclass(frozen=True, slots=True)
class SchemaClient:
    """The schema of one graph."""

    world: Services

    def plan(self) -> Sequence[str]:
        """Return the names of the migrations that `migrate` would apply."""
        found = run_now(migration.state(self.world))
        return [m.name for m in migration.due(found, self.world.settings.language)]

    def migrate(self) -> Sequence[str]:
        """Apply what is due and return the names; see `operations.schema.migration.migrate`."""
        return run_now(migration.migrate(self.world))

    def drift(self) -> Sequence[Difference]:
        """Return how the graph differs from the declared schema."""
        from graphmem.adapters.neomodel_nodes import declared

        return run_now(drift.drift(self.world, declared()))

    def reembed(self, on_part: OnPart = silent) -> ReembedReport:
        """Embed the graph anew by this one's model, and go over to it; safe to kill and to repeat.

        Every tenant's memories, beliefs, turns, episodes and items are embedded beside what is
        there, while clients read and write as before. At the end the new model is the graph's.
        Clients of the former one go on with its embeddings until they are opened anew; what they
        write meanwhile is found by words, and by `finish` embedded too.

        Args:
            on_part: told after each page its kind and how many nodes it had.

        Raises:
            MigrationPendingError, MigrationChangedError: the schema is not current.
            ReembeddingError: the graph is on its way to another model, or from one.
            ModelUnavailableError, ModelReplyError: the model failed; a further run goes on.
        """
        return run_now(reembedding.reembed(self.world, on_part))

    def finish(self, on_part: OnPart = silent) -> ReembedReport:
        """Embed what clients of the former model wrote, and remove the embeddings it made.

        Clients of the former model can search no longer and must be opened anew before.

        Raises:
            ReembeddingError: this one's model is not the graph's current one.
            MigrationPendingError, ModelUnavailableError, ModelReplyError: see `reembed`.
        """
        return run_now(reembedding.finish(self.world, on_part))

    def give_up(self, on_part: OnPart = silent) -> str | None:
        """Remove what `reembed` made before it went over; return that model's name, if any."""
        return run_now(reembedding.give_up(self.world, on_part))


@contextmanager
def open_schema(
    settings: Settings | None = None,
    report: Callable[[str], None] = connect.silent,
    embedder: Embedder | None = None,
) -> Iterator[SchemaClient]:
    """Yield the schema of a graph, for its operator; nothing of it has to be current.

    Args:
        settings: which graph and which model; those of the environment by default.
        report: told what takes long, one line at a time.
        embedder: a model of your own in place of the settings'.

    Raises:
        ConfigurationError: settings or model do not fit.
        LocalServerError, GraphUnavailableError, GraphAccessError: no server.
    """
    known = settings or connect.settings()
    at = connect.address(known, report)
    world = connect.blocking_world(known, at, report, embedder)
    try:
        run_now(world.graph.verify())
        yield SchemaClient(world)
    finally:
        run_now(world.graph.close())
