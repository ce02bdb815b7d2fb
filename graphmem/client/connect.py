"""From settings to a working world: a server, a schema that is current, a model that fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphmem.errors import ConfigurationError
from graphmem.model import Wall
from graphmem.operations import migration
from graphmem.ports import Binding, World
from graphmem.rules import drafts

if TYPE_CHECKING:
    from graphmem.ports import Embedder
    from graphmem.settings import Settings

__all__ = ["Address", "Binding", "address", "awaited_world", "blocking_world", "bound", "settings"]


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is and how to log in."""

    uri: str
    user: str
    password: str

    def __repr__(self) -> str:
        return f"Address(uri={self.uri!r}, user={self.user!r})"


def silent(_: str) -> None:
    """Report nothing."""


def settings() -> Settings:
    """Return the settings of the environment."""
    from graphmem.settings import Settings

    return Settings.load()


def address(known: Settings, report: Callable[[str], None]) -> Address:
    """Return the settings' server, or the managed one, started when it does not run.

    Raises:
        ConfigurationError: a URI without a password.
        LocalServerError: the managed server did not start.
    """
    if known.uri is None:
        from graphmem.adapters import local_server

        endpoint = local_server.ensure(known, report=lambda progress: report(str(progress)))
        return Address(endpoint.uri, endpoint.user, endpoint.password.get_secret_value())
    if known.password is None:
        raise ConfigurationError(
            "GRAPHMEM_URI is set and GRAPHMEM_PASSWORD is not.", hint="Set both."
        )
    return Address(known.uri, known.user, known.password.get_secret_value())


def blocking_world(
    known: Settings, at: Address, report: Callable[[str], None], embedder: Embedder | None
) -> World:
    """Return a world whose ports never suspend."""
    from graphmem.adapters.clock import BlockingClock
    from graphmem.adapters.embedding import open_embedder
    from graphmem.adapters.neo4j_graph import BlockingGraph

    model = embedder or open_embedder(known, awaited=False)
    return World(BlockingGraph(at, known), model, BlockingClock(), known, report)


def awaited_world(
    known: Settings, at: Address, report: Callable[[str], None], embedder: Embedder | None
) -> World:
    """Return a world on the running event loop."""
    from graphmem.adapters.clock import AwaitedClock
    from graphmem.adapters.embedding import open_embedder
    from graphmem.adapters.neo4j_graph import AwaitedGraph

    model = embedder or open_embedder(known, awaited=True)
    return World(AwaitedGraph(at, known), model, AwaitedClock(), known, report)


async def bound(world: World, known: Settings) -> Binding:
    """Return the world bound to the settings' tenant and scope, its schema checked.

    The managed server has no operator, so its schema is brought up to date here. Connections are
    given back when this fails.

    Raises:
        SchemaError, ModelMismatchError, UnavailableError: see `migration.checked`.
    """
    try:
        if known.uri is None:
            await migration.migrate_if_due(world)
        model = await migration.checked(world)
    except BaseException:
        await world.graph.close()
        raise
    wall = Wall(tenant=known.tenant, scope=known.scope, scopes=drafts.visible(known.scope))
    return Binding(world, wall, model)
