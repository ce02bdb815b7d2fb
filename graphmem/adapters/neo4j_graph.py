"""Neo4j behind the `Graph` port, blocking and awaited; the only room that knows its driver."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar

import neo4j
import numpy as np
from neo4j import exceptions
from neo4j.time import DateTime
from neo4j.vector import Vector

from graphmem.catalog import LANGUAGE, MAP, in_generation, in_one_map
from graphmem.errors import (
    CatalogError,
    GraphAccessError,
    GraphmemError,
    GraphQueryError,
    GraphUnavailableError,
    IndexNotReadyError,
    ReadConflictError,
)
from graphmem.ports import Query, R, ServerAddress, Tx, run_now
from graphmem.rules import scoring

if TYPE_CHECKING:
    from graphmem.settings import Settings

T = TypeVar("T")
Work = Callable[[Tx], Coroutine[Any, Any, T]]

FULLTEXT_QUERY = "db.index.fulltext.queryNodes"
_ALONE = (str, int, float, NoneType)
"""What most values are; to ask whether one is a `Mapping` takes far longer."""
TOO_MANY_TRIES = "Neo.ClientError.Security.AuthenticationRateLimit"
DELETED = "Neo.ClientError.Statement.EntityNotFound"
"""Another transaction deleted a node between the match and the reading of its labels or edges."""
BROKEN = "Neo.DatabaseError.Transaction."
"""How codes begin of a database that cannot write any more, as after its disk was full: every
transaction is told one until the server is begun anew."""
ENDED = (
    "Neo.ClientError.Transaction.TransactionTimedOut",
    "Neo.ClientError.Transaction.LockClientStopped",
    "Neo.ClientError.Transaction.Terminated",
)
"""How codes begin of a transaction at its limit, the second if it waits for a lock there. A server
that stops tells the last two."""
SCHEMA_TIMEOUT_S = 3600.0
"""Waiting for an index over a large graph is no ordinary transaction."""

# The driver logs queries' failures with their messages, which may quote values.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


def sent(value: Any) -> Any:
    """Return a parameter as the driver takes it: arrays of floats as vectors, all through.

    A vector is less than half as long as a list of floats. The driver also spells out every
    parameter for its log, logging or not: measured, that took a third of a bulk insertion.
    """
    if isinstance(value, _ALONE):
        return value
    if isinstance(value, np.ndarray):
        return Vector.from_numpy(value)
    if isinstance(value, list):
        return [sent(item) for item in value]
    if isinstance(value, Mapping):
        return {key: sent(item) for key, item in value.items()}
    return value


def plain(value: Any) -> Any:
    """Return a driver value as Python's own: instants in UTC, maps and lists all through."""
    if isinstance(value, _ALONE):
        return value
    if isinstance(value, DateTime):
        native: datetime = value.to_native()
        return native.astimezone(UTC)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value


@contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's errors into graphmem's, without their values."""
    try:
        yield
    except GraphmemError:
        raise
    except (exceptions.AuthError, exceptions.Forbidden) as error:
        raise GraphAccessError(f"Neo4j refused access: {error.code}.") from error
    except exceptions.ConfigurationError:
        # It quotes the address, into which people put their password.
        raise GraphUnavailableError("The address of Neo4j does not fit the driver.") from None
    except (exceptions.TransientError, exceptions.DatabaseUnavailable) as error:
        raise GraphUnavailableError(f"Neo4j did not take the transaction: {error.code}.") from error
    except exceptions.Neo4jError as error:
        raise (ReadConflictError() if error.code == DELETED else _refusal(error)) from error
    except exceptions.DriverError as error:
        raise GraphUnavailableError(
            f"Neo4j cannot be reached ({type(error).__name__}) at the address given."
        ) from error


def _refusal(error: exceptions.Neo4jError) -> GraphmemError:
    """Return why the server did not run a query.

    A vector search says at once that its index is not ready. A full-text search waits for its
    own, 30 seconds or as long as its transaction may take: the first to end is what it tells.
    """
    said, ended = error.message or "", (error.code or "").startswith(ENDED)
    if error.code == TOO_MANY_TRIES:
        return GraphAccessError(
            "Neo4j lets this user in no more: a wrong password was given too often.",
            hint="Wait some seconds (5 unless it is configured otherwise), then try the right one.",
        )
    if (error.code or "").startswith(BROKEN):
        return GraphUnavailableError(
            f"Neo4j cannot carry out transactions: {error.code}.",
            hint="Its log says why; often its disk is full. Make room and start it anew. A write "
            "may be sent again as it was, under the same id.",
        )
    if error.gql_status == "51N63":
        return IndexNotReadyError()
    waited = ended and FULLTEXT_QUERY in (error.gql_status_description or "")
    if waited or "online within a reasonable time" in said:
        return IndexNotReadyError("Waited in vain for an index that is being filled.")
    if error.gql_status == "22N69" or "no such fulltext schema index" in said:
        return IndexNotReadyError(
            "An index that the search needs is not there.",
            hint="`graphmem admin migrate --check` says whether one lacks. After `graphmem admin "
            "reembed --finish` clients of the former model must be opened anew.",
        )
    if error.gql_status == "52N37" and "FAILED state" in said:
        return IndexNotReadyError("An index could not be filled: its state is FAILED.")
    if ended:
        return GraphUnavailableError(
            "The transaction took longer than allowed, or Neo4j stops; nothing of it was written.",
            hint="Try again, in smaller batches or with fewer writers at once.",
        )
    return GraphQueryError(f"Neo4j refused a query: {error.code} {error.gql_status}.")


def packed(query: Query[R], params: Mapping[str, object]) -> dict[str, Any]:
    """Return the parameters of `catalog.in_one_map`."""
    whole = {name: sent(value) for name, value in params.items()}
    if not query.sized:
        return whole
    return {MAP: {name: whole.pop(name) for name in query.sized}, **whole}


def checked(query: Query[R], params: Mapping[str, object], generation: int) -> str:
    """Return the text to run, about one generation of embeddings.

    A parameter too many or too few is our own mistake.
    """
    if query.params != params.keys():
        raise CatalogError(
            f"{query.name}: called with {sorted(params)}, declares {sorted(query.params)}."
        )
    return _text(query, generation)


@cache
def _text(query: Query[Any], generation: int) -> str:
    return LANGUAGE + in_one_map(in_generation(query, generation))


def _driver_config(settings: Settings) -> dict[str, Any]:
    return {
        "max_connection_pool_size": settings.pool_size,
        "connection_timeout": settings.connect_timeout_s,
        "connection_acquisition_timeout": settings.pool_timeout_s,
        "max_transaction_retry_time": settings.retry_time_s,
        "notifications_min_severity": "OFF",
        "user_agent": "graphmem",
    }


class BlockingTx:
    """A transaction whose awaits never suspend."""

    def __init__(self, tx: neo4j.ManagedTransaction, generation: int) -> None:
        self._tx = tx
        self._generation = generation

    async def fetch(self, query: Query[R], /, **params: object) -> list[R]:
        """Run a catalog query and return its rows as records."""
        result = self._tx.run(checked(query, params, self._generation), packed(query, params))
        return [query.row(plain(record)) for record in result]


class AwaitedTx:
    """A transaction on an event loop."""

    def __init__(self, tx: neo4j.AsyncManagedTransaction, generation: int) -> None:
        self._tx = tx
        self._generation = generation

    async def fetch(self, query: Query[R], /, **params: object) -> list[R]:
        """Run a catalog query and return its rows as records."""
        result = await self._tx.run(checked(query, params, self._generation), packed(query, params))
        return [query.row(plain(record)) async for record in result]


class BlockingGraph:
    """Neo4j for blocking callers; safe to share between threads."""

    def __init__(self, address: ServerAddress, settings: Settings) -> None:
        self._settings = settings
        self._connect(address)
        self._database = settings.database
        self._generation = scoring.FIRST

    def _connect(self, address: ServerAddress) -> None:
        with translated():
            self._driver = neo4j.GraphDatabase.driver(
                address.uri, auth=(address.user, address.password), **_driver_config(self._settings)
            )
        self._address = address
        # One chain of bookmarks for all sessions: a read sees every write acknowledged here.
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()

    async def verify(self) -> None:
        """Say at once, without trying again, when the server cannot be used."""
        with translated():
            self._driver.verify_connectivity()

    def use(self, generation: int) -> None:
        """Ask and write from now on of this generation of embeddings."""
        self._generation = generation

    async def move(self, find: Callable[[], ServerAddress]) -> None:
        """Go on at another address; whoever is at work at the old one is told that it is gone."""
        address, before = find(), self._driver
        if address != self._address:
            self._connect(address)
            before.close()

    async def read(self, work: Work[T]) -> T:
        """Run `work` in one managed read transaction."""
        unit = neo4j.unit_of_work(timeout=self._settings.read_timeout_s)(
            lambda tx: run_now(work(BlockingTx(tx, self._generation)))
        )
        with translated(), self._session() as session:
            return session.execute_read(unit)

    async def write(self, work: Work[T]) -> T:
        """Run `work` in one managed write transaction."""
        unit = neo4j.unit_of_work(timeout=self._settings.transaction_timeout_s)(
            lambda tx: run_now(work(BlockingTx(tx, self._generation)))
        )
        with translated(), self._session() as session:
            try:
                return session.execute_write(unit)
            except exceptions.ConstraintError:
                # Another writer took an id after it was looked for. Looked for again, it is there.
                return session.execute_write(unit)

    async def schema(self, query: Query[R], /, **params: object) -> list[R]:
        """Run one schema command in a managed transaction of its own."""
        unit = neo4j.unit_of_work(timeout=SCHEMA_TIMEOUT_S)(
            lambda tx: run_now(BlockingTx(tx, self._generation).fetch(query, **params))
        )
        with translated(), self._session() as session:
            return session.execute_write(unit)

    async def close(self) -> None:
        """Give the connections back."""
        self._driver.close()

    def _session(self) -> neo4j.Session:
        return self._driver.session(database=self._database, bookmark_manager=self._bookmarks)


class AwaitedGraph:
    """Neo4j for callers on an event loop."""

    def __init__(self, address: ServerAddress, settings: Settings) -> None:
        self._settings = settings
        self._connect(address)
        self._database = settings.database
        self._generation = scoring.FIRST

    def _connect(self, address: ServerAddress) -> None:
        with translated():
            self._driver = neo4j.AsyncGraphDatabase.driver(
                address.uri, auth=(address.user, address.password), **_driver_config(self._settings)
            )
        self._address = address
        self._bookmarks = neo4j.AsyncGraphDatabase.bookmark_manager()

    async def verify(self) -> None:
        """Say at once, without trying again, when the server cannot be used."""
        with translated():
            await self._driver.verify_connectivity()

    def use(self, generation: int) -> None:
        """Ask and write from now on of this generation of embeddings."""
        self._generation = generation

    async def move(self, find: Callable[[], ServerAddress]) -> None:
        """Go on at another address; it is looked for in a thread of its own."""
        address, before = await asyncio.to_thread(find), self._driver
        if address != self._address:
            self._connect(address)
            await before.close()

    async def read(self, work: Work[T]) -> T:
        """Run `work` in one managed read transaction."""

        @neo4j.unit_of_work(timeout=self._settings.read_timeout_s)
        async def unit(tx: neo4j.AsyncManagedTransaction) -> T:
            return await work(AwaitedTx(tx, self._generation))

        with translated():
            async with self._session() as session:
                return await session.execute_read(unit)

    async def write(self, work: Work[T]) -> T:
        """Run `work` in one managed write transaction."""

        @neo4j.unit_of_work(timeout=self._settings.transaction_timeout_s)
        async def unit(tx: neo4j.AsyncManagedTransaction) -> T:
            return await work(AwaitedTx(tx, self._generation))

        with translated():
            async with self._session() as session:
                try:
                    return await session.execute_write(unit)
                except exceptions.ConstraintError:
                    return await session.execute_write(unit)

    async def schema(self, query: Query[R], /, **params: object) -> list[R]:
        """Run one schema command in a managed transaction of its own."""

        @neo4j.unit_of_work(timeout=SCHEMA_TIMEOUT_S)
        async def unit(tx: neo4j.AsyncManagedTransaction) -> list[R]:
            return await AwaitedTx(tx, self._generation).fetch(query, **params)

        with translated():
            async with self._session() as session:
                return await session.execute_write(unit)

    async def close(self) -> None:
        """Give the connections back."""
        await self._driver.close()

    def _session(self) -> neo4j.AsyncSession:
        return self._driver.session(database=self._database, bookmark_manager=self._bookmarks)
