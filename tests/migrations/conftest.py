"""A server of its own for tests that change the schema, made blank before each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, LiteralString

import neo4j
import pytest

from graphmem import catalog
from graphmem.adapters.export_files import BlockingExports
from graphmem.adapters.neo4j_graph import BlockingGraph
from graphmem.adapters.neomodel_nodes import declared
from graphmem.adapters.user_files import BlockingFiles
from graphmem.model import Difference
from graphmem.operations.schema.drift import drift
from graphmem.operations.schema.migration import migrate
from graphmem.ports import Clock, Embedder, World, run_now
from graphmem.settings import Settings
from graphmem.testing import FrozenClock, HashEmbedder
from tests.plugins.server import Server, started


@dataclass(frozen=True)
class Address:
    """Where the blank server is."""

    uri: str
    user: str
    password: str = field(repr=False)


@dataclass
class Blank:
    """A server without a schema, seen with and without graphmem."""

    address: Address
    driver: neo4j.Driver
    told: list[str] = field(default_factory=list)
    _graphs: list[BlockingGraph] = field(default_factory=list)

    def world(
        self,
        embedder: Embedder | None = None,
        clock: Clock | None = None,
        **chosen: Any,
    ) -> World:
        """Return a world of its own on the server, as another process would have."""
        settings = Settings.load({}, **chosen)
        graph = BlockingGraph(self.address, settings)
        self._graphs.append(graph)
        return World(
            graph=graph,
            embedder=embedder or HashEmbedder(),
            clock=clock or FrozenClock(),
            settings=settings,
            report=self.told.append,
            files=BlockingFiles(),
            exports=BlockingExports(),
        )

    def migrate(self, **given: Any) -> tuple[str, ...]:
        """Migrate it by a world of these ports and settings."""
        return run_now(migrate(self.world(**given)))

    def drift(self, **given: Any) -> tuple[Difference, ...]:
        """Return how it differs from the declared schema."""
        return run_now(drift(self.world(**given), declared()))

    def run(self, query: LiteralString, **params: object) -> list[dict[str, Any]]:
        """Run any query past graphmem."""
        return [r.data() for r in self.driver.execute_query(query, params).records]

    def schema(self) -> list[dict[str, Any]]:
        """Return all that the server says of every index and constraint that was created."""
        return [
            *self.run(
                "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, options, state "
                "WHERE type <> 'LOOKUP' RETURN * ORDER BY name"
            ),
            *self.run("SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties ORDER BY name"),
        ]

    def wipe(self) -> None:
        """Remove every constraint, index and node."""
        for row in self.run("SHOW CONSTRAINTS YIELD name"):
            self._drop("CONSTRAINT", row["name"])
        for row in self.run("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'"):
            self._drop("INDEX", row["name"])
        self.run("MATCH (n) DETACH DELETE n")

    def _drop(self, kind: str, name: str) -> None:
        # DROP takes no parameter; the names come from the server itself.
        text = neo4j.Query(f"DROP {kind} `{name}`")
        with self.driver.session() as session:
            session.run(text).consume()

    def close(self) -> None:
        """Give back what `world` opened."""
        for graph in self._graphs:
            run_now(graph.close())


def made(name: str) -> LiteralString:
    """Return the newest statement that makes an index."""
    statements = [q.text for m in catalog.migrations() for q in m.statements]
    found = [text for text in statements if f"INDEX {name} IF NOT EXISTS" in text]
    return found[-1]


@pytest.fixture(scope="package")
def own_server(
    server_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A small server that no other test uses."""
    home = tmp_path_factory.mktemp("blank")
    small = {"home": home, "heap": "512m", "page_cache": "128m"}
    yield from started(server_settings.model_copy(update=small))


@pytest.fixture(scope="package")
def own_driver(own_server: Server) -> Iterator[neo4j.Driver]:
    """A driver to it."""
    auth = (own_server.user, own_server.password.get_secret_value())
    with neo4j.GraphDatabase.driver(
        own_server.uri, auth=auth, notifications_min_severity="OFF"
    ) as driver:
        yield driver


@pytest.fixture
def blank(own_server: Server, own_driver: neo4j.Driver) -> Iterator[Blank]:
    """The server without schema and without data."""
    password = own_server.password.get_secret_value()
    blank = Blank(Address(own_server.uri, own_server.user, password), own_driver)
    blank.wipe()
    try:
        yield blank
    finally:
        blank.close()


@pytest.fixture
def migrations_folder(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[dict[str, str]], None]]:
    """Let a test say which migrations this version of graphmem has, by file name and text."""
    kept = catalog.folder

    def use(files: dict[str, str]) -> None:
        root = tmp_path_factory.mktemp("migrations")
        for name, text in files.items():
            (root / name).write_text(text, "utf-8")
        monkeypatch.setattr(
            catalog, "folder", lambda kind: root if kind == "migrations" else kept(kind)
        )
        catalog.migrations.cache_clear()

    yield use
    monkeypatch.undo()
    catalog.migrations.cache_clear()
