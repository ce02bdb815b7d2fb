"""Neo4j implementations of the `Graph` port, blocking and async; the only user of its driver."""

from __future__ import annotations

import asyncio
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import asynccontextmanager, contextmanager
from ctypes import py_object, pythonapi
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

import neo4j
import numpy as np
from neo4j import exceptions
from neo4j.time import DateTime
from neo4j.vector import Vector

from graphmem.errors import (
    CatalogError,
    ClientClosedError,
    DatabaseNotFoundError,
    EventLoopError,
    GraphAccessError,
    GraphmemError,
    GraphUnavailableError,
    ReadConflictError,
)
from graphmem.graph.catalog import LANGUAGE, MAP, in_generation, in_one_map, procedure
from graphmem.graph.places import Places
from graphmem.graph.refusals import query_error
from graphmem.model.calls import CALL
from graphmem.ports import Query, R, ServerAddress, Tx, blocking
from graphmem.rules import scoring

if TYPE_CHECKING:
    from graphmem.settings import Settings

T = TypeVar("T")
Work = Callable[[Tx], Coroutine[Any, Any, T]]
Planning = Callable[[str], Callable[[], None] | None]
"""Takes the name of a query that is about to run; returns what waits while the server is planning
it, or None."""

_ALONE = frozenset({str, int, float, bool, bytes, NoneType})
"""The most common value types; an `isinstance` check for `Mapping` takes far longer."""
NO_DATABASE = "Neo.ClientError.Database.DatabaseNotFound"
DELETED = "Neo.ClientError.Statement.EntityNotFound"
"""Another transaction deleted a node between the match and the reading of its labels or edges."""
SCHEMA_TIMEOUT_S = 3600.0
"""Timeout of a schema command, seconds; building an index over a large graph takes long."""

# The driver logs the messages of failed queries, which may quote values.
logging.getLogger("neo4j").addHandler(logging.NullHandler())

Find = Callable[[bool], tuple[str, int]]
"""Returns host and port of the server, for each new connection. If it has stopped, it is started
if the argument is True, else GraphUnavailableError is raised."""

_OPEN: WeakSet[_Neo4jGraph] = WeakSet()


class Unshown(dict[str, Any]):
    """A map of parameters that the driver cannot format.

    It formats all of them for its log, even with logging off; measured, that took a third of a bulk
    insertion, and 0.8 ms of a recall. Values do not belong in a log either.
    """

    def __repr__(self) -> str:
        return "{…}"


def sent(value: Any) -> Any:
    """Convert a parameter for the driver: float arrays become vectors, recursively.

    A vector is less than half as long as a list of floats.
    """
    if type(value) in _ALONE:
        return value
    if isinstance(value, np.ndarray):
        return Vector.from_numpy(value)
    if isinstance(value, list):
        return [item if type(item) in _ALONE else sent(item) for item in value]
    # `Mapping` alone takes far longer to check.
    if isinstance(value, (dict, Mapping)):
        return {key: item if type(item) in _ALONE else sent(item) for key, item in value.items()}
    return value


def plain(value: Any) -> Any:
    """Convert a driver value to built-in types, recursively; timestamps become UTC datetimes."""
    if type(value) in _ALONE:
        return value
    # A recall returns thousands of values, so those that need no change are found without a loop.
    if isinstance(value, list):
        if _ALONE.issuperset(map(type, value)):
            return value
        return [item if type(item) in _ALONE else plain(item) for item in value]
    if isinstance(value, DateTime):
        native: datetime = value.to_native()
        return native.astimezone(UTC)
    if isinstance(value, Mapping):
        return {key: item if type(item) in _ALONE else plain(item) for key, item in value.items()}
    return value


@contextmanager
def translated(database: str | None = None) -> Iterator[None]:
    """Translate the driver's exceptions into graphmem's, without the values they quote.

    Args:
        database: name of the database that is used, for the message if it does not exist.
    """
    try:
        yield
    except GraphmemError:
        raise
    except (exceptions.AuthError, exceptions.Forbidden) as error:
        raise GraphAccessError(f"Neo4j denied access: {error.code}.") from error
    except exceptions.ConfigurationError:
        # The message quotes the address, which may contain a password.
        raise GraphUnavailableError("The driver does not support the address of Neo4j.") from None
    except (exceptions.TransientError, exceptions.DatabaseUnavailable) as error:
        raise GraphUnavailableError(f"Neo4j rejected the transaction: {error.code}.") from error
    except exceptions.Neo4jError as error:
        if error.code == NO_DATABASE:
            name = f"database {database!r}" if database else "home database for this user"
            raise DatabaseNotFoundError(f"The server has no {name}.") from error
        raise (ReadConflictError() if error.code == DELETED else query_error(error)) from error
    # The driver's buffer fails instead if a connection broke while it received.
    except (exceptions.DriverError, BufferError) as error:
        raise GraphUnavailableError(
            f"Neo4j cannot be reached ({type(error).__name__}) at the address given."
        ) from error


def packed(query: Query[R], params: Mapping[str, object]) -> dict[str, Any]:
    """Return the parameters in the form that `catalog.in_one_map` expects."""
    whole = {name: sent(value) for name, value in params.items()}
    sized = Unshown({name: whole.pop(name) for name in query.sized})
    rest = {name: Unshown(one) if isinstance(one, dict) else one for name, one in whole.items()}
    return {MAP: sized, **rest} if query.sized else rest


def checked(query: Query[R], params: Mapping[str, object], generation: int) -> str:
    """Return the Cypher to run for one embedding generation."""
    if query.params != params.keys():
        raise CatalogError(
            f"{query.name}: called with {sorted(params)}, declares {sorted(query.params)}."
        )
    return _text(query, generation)


@cache
def _text(query: Query[Any], generation: int) -> str:
    return LANGUAGE + in_one_map(in_generation(query, generation))


def _keep_drivers() -> None:
    """Keep the drivers of a parent process for ever, in a forked child that shares their sockets.

    If one were collected, it would close the parent's connections.
    """
    for graph in list(_OPEN):
        pythonapi.Py_IncRef(py_object(graph.driver))


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_keep_drivers)


def _driver_config(settings: Settings) -> dict[str, Any]:
    return {
        "max_connection_pool_size": settings.max_pool_size,
        "connection_timeout": settings.connect_timeout_s,
        "connection_acquisition_timeout": settings.pool_timeout_s,
        "max_transaction_retry_time": settings.max_retry_time_s,
        "notifications_min_severity": "OFF",
        "user_agent": "graphmem",
    }


@dataclass(frozen=True, slots=True)
class BlockingTx:
    """A transaction whose awaits never suspend."""

    tx: neo4j.ManagedTransaction
    generation: int
    planning: Planning | None

    async def fetch(self, query: Query[R], /, **params: object) -> list[R]:
        """Run a catalog query and return its rows as records."""
        if self.planning is not None and (wait := self.planning(query.name)) is not None:
            wait()
        result = self.tx.run(checked(query, params, self.generation), packed(query, params))
        return [query.decode(plain(record)) for record in result]

    async def fetch_each(
        self, query: Query[R], varying: Iterable[Mapping[str, object]], /, **params: object
    ) -> AsyncIterator[list[R]]:
        """Run a catalog query once for each of some further parameters; see `ports.Tx`."""
        if self.planning is not None and (wait := self.planning(query.name)) is not None:
            wait()
        running: neo4j.Result | None = None
        for further in varying:
            given = {**params, **further}
            rows = None if running is None else list(running)
            running = self.tx.run(checked(query, given, self.generation), packed(query, given))
            if rows is not None:
                yield [query.decode(plain(record)) for record in rows]
        if running is not None:
            yield [query.decode(plain(record)) for record in running]


@dataclass(frozen=True, slots=True)
class AwaitedTx:
    """A transaction on an event loop."""

    tx: neo4j.AsyncManagedTransaction
    generation: int
    planning: Planning | None

    async def fetch(self, query: Query[R], /, **params: object) -> list[R]:
        """Run a catalog query and return its rows as records."""
        if self.planning is not None and (wait := self.planning(query.name)) is not None:
            await asyncio.to_thread(wait)
        result = await self.tx.run(checked(query, params, self.generation), packed(query, params))
        return [query.decode(plain(record)) async for record in result]

    async def fetch_each(
        self, query: Query[R], varying: Iterable[Mapping[str, object]], /, **params: object
    ) -> AsyncIterator[list[R]]:
        """Run a catalog query once for each of some further parameters; see `ports.Tx`."""
        if self.planning is not None and (wait := self.planning(query.name)) is not None:
            await asyncio.to_thread(wait)
        running: neo4j.AsyncResult | None = None
        for further in varying:
            given = {**params, **further}
            rows = None if running is None else [record async for record in running]
            text = checked(query, given, self.generation)
            running = await self.tx.run(text, packed(query, given))
            if rows is not None:
                yield [query.decode(plain(record)) for record in rows]
        if running is not None:
            yield [query.decode(plain(record)) async for record in running]


def _asking() -> str:
    """Return a read whose summary names the database."""
    return LANGUAGE + procedure("schema/clock").text


class _Neo4jGraph(ABC):
    """Everything of a graph that sends no query."""

    driver: neo4j.Driver | neo4j.AsyncDriver

    def __init__(
        self,
        address: ServerAddress,
        settings: Settings,
        planning: Planning | None = None,
        find: Find | None = None,
    ) -> None:
        self._address = address
        self._settings = settings
        self._database = settings.database
        """Name of the database; None for the home database of the user."""
        self._planning = planning
        self._find = find
        self._starts = True
        self._generation = scoring.FIRST_GENERATION
        self._closed = False
        self._connect()
        _OPEN.add(self)

    @abstractmethod
    def _connect(self) -> None:
        """Make a driver for this process, and for this event loop if it has one."""

    @property
    def _lacks_database(self) -> bool:
        """Whether to ask for the name of the database.

        The driver forgets a leader that refuses to write only if the database has a name. Without
        one, it would retry the same member until its routing table expires.
        """
        return self._database is None and self._address.uri.startswith("neo4j")

    def use(self, generation: int) -> None:
        """Use this embedding generation for all following queries."""
        self._generation = generation

    def stay_down(self) -> None:
        """Start no stopped server any more."""
        self._starts = False


class BlockingGraph(_Neo4jGraph):
    """Neo4j for blocking callers; safe to share between threads."""

    driver: neo4j.Driver

    def _connect(self) -> None:
        at, config = self._address, _driver_config(self._settings)
        if self._find is not None:
            find = self._find
            config["resolver"] = lambda _: [find(self._starts)]
        with translated(self._settings.database):
            self.driver = neo4j.GraphDatabase.driver(at.uri, auth=(at.user, at.password), **config)
        # All sessions share their bookmarks: a read sees every write acknowledged here.
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()
        self._process = os.getpid()

    async def verify(self) -> None:
        """Raise immediately, without retries, if the server cannot be used."""
        with translated(self._settings.database):
            self._open_driver().verify_connectivity()
            if self._lacks_database:
                found = self.driver.execute_query(_asking(), routing_="r")
                self._database = found.summary.database

    async def read(self, work: Work[T]) -> T:
        """Run `work` in one managed read transaction."""
        with translated(self._settings.database), self._session() as session:
            return session.execute_read(self._unit(work, self._settings.read_timeout_s))

    async def write(self, work: Work[T]) -> T:
        """Run `work` in one managed write transaction."""
        unit = self._unit(work, self._settings.transaction_timeout_s)
        with translated(self._settings.database), self._session() as session:
            try:
                return session.execute_write(unit)
            except exceptions.ConstraintError:
                # Another writer created the node after this one looked for it; a retry finds it.
                return session.execute_write(unit)

    async def schema(self, query: Query[R], /, **params: object) -> list[R]:
        """Run one schema command in a managed transaction of its own."""
        unit = self._unit(lambda tx: tx.fetch(query, **params), SCHEMA_TIMEOUT_S)
        with translated(self._settings.database), self._session() as session:
            return session.execute_write(unit)

    async def close(self) -> None:
        """Close the connections."""
        self._closed = True
        if self._process == os.getpid():
            self.driver.close()

    def _unit(self, work: Work[T], timeout_s: float) -> Callable[[neo4j.ManagedTransaction], T]:
        return neo4j.unit_of_work(timeout=timeout_s)(
            blocking(lambda tx: work(BlockingTx(tx, self._generation, self._planning)))
        )

    def _session(self) -> neo4j.Session:
        return self._open_driver().session(
            database=self._database, bookmark_manager=self._bookmarks
        )

    def _open_driver(self) -> neo4j.Driver:
        if self._closed:
            raise ClientClosedError
        if self._process != os.getpid():
            self._connect()
        return self.driver


async def _reach(session: neo4j.AsyncSession, *, wrote: bool) -> None:
    """Note the bookmarks of a session for the current call."""
    call = CALL.get()
    if call is not None and (wrote or not call.wrote):
        call.reached = tuple(sorted((await session.last_bookmarks()).raw_values))
        call.wrote = wrote


class AwaitedGraph(_Neo4jGraph):
    """Neo4j for callers on an event loop."""

    driver: neo4j.AsyncDriver

    def _connect(self) -> None:
        at, config = self._address, _driver_config(self._settings)
        if self._find is not None:
            config["resolver"] = self._resolved
        with translated(self._settings.database):
            self.driver = neo4j.AsyncGraphDatabase.driver(
                at.uri, auth=(at.user, at.password), **config
            )
        self._bookmarks = neo4j.AsyncGraphDatabase.bookmark_manager()
        self._loop, self._process = asyncio.get_running_loop(), os.getpid()
        self._places = Places(self._settings.max_pool_size, self._settings.pool_timeout_s)

    async def _resolved(self, _: object) -> list[tuple[str, int]]:
        assert self._find is not None  # noqa: S101 - only then it resolves
        return [await asyncio.to_thread(self._find, self._starts)]

    async def verify(self) -> None:
        """Raise immediately, without retries, if the server cannot be used."""
        with translated(self._settings.database):
            await self._open_driver().verify_connectivity()
            if self._lacks_database:
                found = await self.driver.execute_query(_asking(), routing_="r")
                self._database = found.summary.database

    async def read(self, work: Work[T]) -> T:
        """Run `work` in one managed read transaction."""
        unit = self._unit(work, self._settings.read_timeout_s)
        with translated(self._settings.database):
            async with self._session() as session:
                found = await session.execute_read(unit)
                await _reach(session, wrote=False)
                return found

    async def write(self, work: Work[T]) -> T:
        """Run `work` in one managed write transaction."""
        unit = self._unit(work, self._settings.transaction_timeout_s)
        with translated(self._settings.database):
            async with self._session() as session:
                try:
                    done = await session.execute_write(unit)
                except exceptions.ConstraintError:
                    done = await session.execute_write(unit)
                await _reach(session, wrote=True)
                return done

    async def schema(self, query: Query[R], /, **params: object) -> list[R]:
        """Run one schema command in a managed transaction of its own."""
        unit = self._unit(lambda tx: tx.fetch(query, **params), SCHEMA_TIMEOUT_S)
        with translated(self._settings.database):
            async with self._session() as session:
                return await session.execute_write(unit)

    async def close(self) -> None:
        """Close the connections; those of a closed event loop were closed with it."""
        self._closed = True
        if self._process == os.getpid() and self._loop is asyncio.get_running_loop():
            await self.driver.close()

    def _unit(
        self, work: Work[T], timeout_s: float
    ) -> Callable[[neo4j.AsyncManagedTransaction], Awaitable[T]]:
        call = CALL.get()
        metadata = None if call is None else {"request_id": call.id}
        return neo4j.unit_of_work(metadata=metadata, timeout=timeout_s)(
            lambda tx: work(AwaitedTx(tx, self._generation, self._planning))
        )

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[neo4j.AsyncSession]:
        call = CALL.get()
        given = call.bookmarks if call is not None else ()
        opened = self._open_driver().session(
            database=self._database,
            bookmark_manager=self._bookmarks,
            bookmarks=neo4j.Bookmarks.from_raw_values(given),
        )
        async with self._places.place(), opened as session:
            yield session

    def _open_driver(self) -> neo4j.AsyncDriver:
        if self._closed:
            raise ClientClosedError
        if self._process != os.getpid() or self._loop.is_closed():
            self._connect()
        elif self._loop is not asyncio.get_running_loop():
            raise EventLoopError
        return self.driver
