"""A server of its own for tests that change the schema, made blank or current before each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, LiteralString

import neo4j
import pytest

from graphmem.file_access import ExportFiles, TextFiles
from graphmem.graph import catalog
from graphmem.graph.driver import BlockingGraph
from graphmem.io_modes import BLOCKING
from graphmem.ports import Clock, Embedder, ServerAddress, Services, run_now
from graphmem.schema import Difference
from graphmem.schema.declared import declared
from graphmem.schema.migration import drift, migrate
from graphmem.settings import Settings
from graphmem.testing import FrozenClock, HashEmbedder
from tests.plugins.server import Server, started


@dataclass
class Blank:
    """A server without a schema, seen with and without graphmem."""

    address: ServerAddress
    driver: neo4j.Driver
    told: list[str] = field(default_factory=list)
    _graphs: list[BlockingGraph] = field(default_factory=list)

    def world(
        self,
        embedder: Embedder | None = None,
        clock: Clock | None = None,
        **chosen: Any,
    ) -> Services:
        """Return a world of its own on the server, as another process would have."""
        settings = Settings.load({}, **chosen)
        graph = BlockingGraph(self.address, settings)
        self._graphs.append(graph)
        return Services(
            graph=graph,
            embedder=embedder or HashEmbedder(),
            clock=clock or FrozenClock(),
            settings=settings,
            report=self.told.append,
            files=TextFiles(BLOCKING),
            exports=ExportFiles(BLOCKING),
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
        return [*self._indexes(), *self._constraints()]

    def _indexes(self) -> list[dict[str, Any]]:
        # One that belongs to a constraint comes and goes with it.
        return self.run(
            "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, options, state, "
            "owningConstraint WHERE type <> 'LOOKUP' RETURN * ORDER BY name"
        )

    def _constraints(self) -> list[dict[str, Any]]:
        return self.run(
            "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties ORDER BY name"
        )

    def wipe(self, keep: Sequence[dict[str, Any]] = ()) -> None:
        """Remove every node, and every constraint and index but those to keep."""
        self.run("MATCH (n) DETACH DELETE n")
        self._drop("CONSTRAINT", [row for row in self._constraints() if row not in keep])
        self._drop("INDEX", [row for row in self._indexes() if row not in keep])

    def _drop(self, kind: str, rows: list[dict[str, Any]]) -> None:
        # DROP takes no parameter; the names come from the server itself.
        with self.driver.session() as session, session.begin_transaction() as tx:
            for row in rows:
                tx.run(neo4j.Query(f"DROP {kind} `{row['name']}`").text)
            tx.commit()

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
def _blank(own_server: Server, own_driver: neo4j.Driver) -> Iterator[Blank]:
    password = own_server.password.get_secret_value()
    blank = Blank(ServerAddress(own_server.uri, own_server.user, password), own_driver)
    try:
        yield blank
    finally:
        blank.close()


@pytest.fixture
def blank(_blank: Blank) -> Blank:
    """The server without schema and without data."""
    _blank.wipe()
    return _blank


@pytest.fixture(scope="package")
def _made() -> list[dict[str, Any]]:
    """The schema as migrating leaves it; empty until a test has migrated."""
    return []


@pytest.fixture
def current(_blank: Blank, _made: list[dict[str, Any]]) -> Blank:
    """The server without data, its schema current.

    Of the schema only what another test changed is made anew: each statement of a migration
    leaves alone what is there.
    """
    _blank.wipe(keep=_made)
    _blank.migrate()
    assert not _made or _blank.schema() == _made
    _made[:] = _blank.schema()
    return _blank


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
