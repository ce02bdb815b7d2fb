"""Operator access to the schema of a graph: migrate, compare and re-embed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.client import connect
from graphmem.ports import OnProgress, Services, run_now, silent
from graphmem.schema import migration, reembedding

if TYPE_CHECKING:
    from graphmem.schema import Difference, ReembedReport
    from graphmem.settings import Settings

EMBEDDED = reembedding.KINDS
"""Kinds of nodes with embeddings; `SchemaClient.reembed` reports progress for each."""


@dataclass(frozen=True, slots=True)
class SchemaClient:
    """The schema of one graph."""

    services: Services

    def plan(self) -> Sequence[str]:
        """Return the names of the migrations that `migrate` would apply."""
        state = run_now(migration.state(self.services))
        return [m.name for m in migration.due(state, self.services.settings.language)]

    def migrate(self) -> Sequence[str]:
        """Apply pending migrations, and create indexes and constraints that are missing.

        Return the names of the migrations and of what was created; see `migration.migrate`.
        """
        applied = run_now(migration.migrate(self.services))
        missing = [one.name for one in self.drift() if one.kind == "missing"]
        return (*applied, *run_now(migration.repair(self.services, missing)))

    def drift(self) -> Sequence[Difference]:
        """Return the differences between the graph and the declared schema."""
        from graphmem.schema.declared import declared

        return run_now(migration.drift(self.services, declared()))

    def reembed(self, on_progress: OnProgress = silent) -> ReembedReport:
        """Embed the graph with the configured model and switch to it; run again to resume.

        Embeds memories, beliefs, turns, episodes and items of every tenant in addition to the
        existing embeddings, during reads and writes. At the end the new model becomes current.
        Clients of the former model use its embeddings until they are reopened. What they write
        in the meantime is found by BM25 only, until `finish` embeds it.

        Args:
            on_progress: progress callback; receives a kind and the number of nodes after each page.

        Raises:
            MigrationPendingError, MigrationChangedError: the schema is not current.
            ReembeddingError: a change to or from another model is in progress.
            ModelUnavailableError, ModelReplyError: the model failed; run again to resume.
        """
        return run_now(reembedding.reembed(self.services, on_progress))

    def finish(self, on_progress: OnProgress = silent) -> ReembedReport:
        """Embed what clients of the former model wrote, and remove that model's embeddings.

        Reopen clients of the former model first: afterwards their searches fail.

        Raises:
            ReembeddingError: the configured model is not the graph's current one.
            MigrationPendingError, ModelUnavailableError, ModelReplyError: see `reembed`.
        """
        return run_now(reembedding.finish(self.services, on_progress))

    def give_up(self, on_progress: OnProgress = silent) -> str | None:
        """Remove embeddings that `reembed` made before its switch; return the model's name."""
        return run_now(reembedding.give_up(self.services, on_progress))


@contextmanager
def open_schema(
    settings: Settings, report: Callable[[str], None] = connect.silent
) -> Iterator[SchemaClient]:
    """Yield the schema of a graph, for its operator; the schema need not be current."""
    services = connect.open_services(settings, connect.address(settings, report), report)
    try:
        run_now(services.graph.verify())
        yield SchemaClient(services)
    finally:
        run_now(services.graph.close())
