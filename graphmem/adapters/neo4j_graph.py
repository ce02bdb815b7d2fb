"""Neo4j behind the `Graph` port, blocking and awaited; the only room that knows its driver."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import neo4j
import numpy as np
from neo4j import exceptions
from neo4j.time import DateTime
from neo4j.vector import Vector

from graphmem.catalog import QUOTED
from graphmem.errors import (
    CatalogError,
    GraphAccessError,
    GraphmemError,
    GraphQueryError,
    GraphUnavailableError,
    IndexNotReadyError,
)
from graphmem.ports import Query, R, Tx, run_now

if TYPE_CHECKING:
    from graphmem.settings import Settings

T = TypeVar("T")
Work = Callable[[Tx], Coroutine[Any, Any, T]]

LANGUAGE = "CYPHER 25\n"
"""Servers speak Cypher 5 unless told otherwise, and SEARCH is Cypher 25."""
MAP = "sized"
"""No query has a parameter of this name."""
_READ = re.compile(rf"({QUOTED}|//.*)|\$(\w+)")
"""What is no Cypher to read parameters from; or a parameter."""
FULLTEXT_QUERY = "db.index.fulltext.queryNodes"
SCHEMA_TIMEOUT_S = 3600.0
"""Waiting for an index over a large graph is no ordinary transaction."""

# The driver logs queries' failures with their messages, which may quote values.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


class Address(Protocol):
    """Where a server is and how to log in."""

    @property
    def uri(self) -> str:
        """For example bolt://127.0.0.1:7687."""
        ...

    @property
    def user(self) -> str:
        """User name."""
        ...

    @property
    def password(self) -> str:
        """Password in clear; never shown."""
        ...


def sent(value: Any) -> Any:
    """Return a parameter as the driver takes it: arrays of floats as vectors, all through.

    A vector is less than half as long as a list of floats. The driver also spells out every
    parameter for its log, logging or not: measured, that took a third of a bulk insertion.
    """
    if isinstance(value, np.ndarray):
        return Vector.from_numpy(value)
    if isinstance(value, list):
        return [sent(item) for item in value]
    if isinstance(value, Mapping):
        return {key: sent(item) for key, item in value.items()}
    return value


def plain(value: Any) -> Any:
    """Return a driver value as Python's own: instants in UTC, maps and lists all through."""
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
    except exceptions.ConfigurationError as error:
        raise GraphUnavailableError("The address of Neo4j does not fit the driver.") from error
    except (exceptions.TransientError, exceptions.DatabaseUnavailable) as error:
        raise GraphUnavailableError(f"Neo4j did not take the transaction: {error.code}.") from error
    except exceptions.Neo4jError as error:
        raise _refusal(error) from error
    except exceptions.DriverError as error:
        raise GraphUnavailableError(
            f"Neo4j cannot be reached ({type(error).__name__}) at the address given."
        ) from error


def _refusal(error: exceptions.Neo4jError) -> GraphmemError:
    """Return why the server did not run a query.

    A vector search says at once that its index is not ready. A full-text search waits for its
    own, 30 seconds or as long as its transaction may take: the first to end is what it tells.
    """
    said, timed_out = error.message or "", "TransactionTimedOut" in (error.code or "")
    if error.gql_status == "51N63":
        return IndexNotReadyError()
    waited = timed_out and FULLTEXT_QUERY in (error.gql_status_description or "")
    if waited or "online within a reasonable time" in said:
        return IndexNotReadyError("Waited in vain for an index that is being filled.")
    if error.gql_status == "22N69" or "no such fulltext schema index" in said:
        return IndexNotReadyError("An index that the search needs is not there.")
    if error.gql_status == "52N37" and "FAILED state" in said:
        return IndexNotReadyError("An index could not be filled: its state is FAILED.")
    if timed_out:
        return GraphUnavailableError(
            "The transaction took longer than allowed; nothing of it was written.",
            hint="Try again, in smaller batches or with fewer writers at once.",
        )
    return GraphQueryError(f"Neo4j refused a query: {error.code} {error.gql_status}.")


def in_one_map(query: Query[R]) -> str:
    """Return the text of a query that reads its strings and lists from one map.

    Neo4j makes a plan for each class of length (0, 1, up to 10, up to 100 and so on) of every
    parameter that is a string or a list, and the longest queries take seconds to plan: a longer
    question, another tenant and one more scope would each wait for a plan of their own. Of a map it
    only asks whether it is one.
    """
    return _READ.sub(
        lambda m: m[1] or (f"${MAP}.{m[2]}" if m[2] in query.sized else m[0]), query.text
    )


def packed(query: Query[R], params: Mapping[str, object]) -> dict[str, Any]:
    """Return the parameters of `in_one_map`."""
    whole = {name: sent(value) for name, value in params.items()}
    if not query.sized:
        return whole
    return {MAP: {name: whole.pop(name) for name in query.sized}, **whole}


def checked(query: Query[R], params: Mapping[str, object]) -> str:
    """Return the text to run; a parameter too many or too few is our own mistake."""
    if query.params != params.keys():
        raise CatalogError(
            f"{query.name}: called with {sorted(params)}, declares {sorted(query.params)}."
        )
    return _text(query)


@cache
def _text(query: Query[Any]) -> str:
    return LANGUAGE + in_one_map(query)


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

    def __init__(self, tx: neo4j.ManagedTransaction) -> None:
        self._tx = tx

    async def fetch(self, query: Query[R], /, **params: object) -> list[R]:
        """Run a catalog query and return its rows as records."""
        result = self._tx.run(checked(query, params), packed(query, params))
        return [query.row(plain(record)) for record in result]


class AwaitedTx:
    """A transaction on an event loop."""

    def __init__(self, tx: neo4j.AsyncManagedTransaction) -> None:
        self._tx = tx

    async def fetch(self, query: Query[R], /, **params: object) -> list[R]:
        """Run a catalog query and return its rows as records."""
        result = await self._tx.run(checked(query, params), packed(query, params))
        return [query.row(plain(record)) async for record in result]


class BlockingGraph:
    """Neo4j for blocking callers; safe to share between threads."""

    def __init__(self, address: Address, settings: Settings) -> None:
        with translated():
            self._driver = neo4j.GraphDatabase.driver(
                address.uri, auth=(address.user, address.password), **_driver_config(settings)
            )
        self._database = settings.database
        # One chain of bookmarks for all sessions: a read sees every write acknowledged here.
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager()
        self._timeout_s = settings.transaction_timeout_s

    async def verify(self) -> None:
        """Say at once, without trying again, when the server cannot be used."""
        with translated():
            self._driver.verify_connectivity()

    async def read(self, work: Work[T]) -> T:
        """Run `work` in one managed read transaction."""
        unit = neo4j.unit_of_work(timeout=self._timeout_s)(lambda tx: run_now(work(BlockingTx(tx))))
        with translated(), self._session() as session:
            return session.execute_read(unit)

    async def write(self, work: Work[T]) -> T:
        """Run `work` in one managed write transaction."""
        unit = neo4j.unit_of_work(timeout=self._timeout_s)(lambda tx: run_now(work(BlockingTx(tx))))
        with translated(), self._session() as session:
            try:
                return session.execute_write(unit)
            except exceptions.ConstraintError:
                # Another writer took an id after it was looked for. Looked for again, it is there.
                return session.execute_write(unit)

    async def schema(self, query: Query[R], /, **params: object) -> list[R]:
        """Run one schema command in a managed transaction of its own."""
        unit = neo4j.unit_of_work(timeout=SCHEMA_TIMEOUT_S)(
            lambda tx: run_now(BlockingTx(tx).fetch(query, **params))
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

    def __init__(self, address: Address, settings: Settings) -> None:
        with translated():
            self._driver = neo4j.AsyncGraphDatabase.driver(
                address.uri, auth=(address.user, address.password), **_driver_config(settings)
            )
        self._database = settings.database
        self._bookmarks = neo4j.AsyncGraphDatabase.bookmark_manager()
        self._timeout_s = settings.transaction_timeout_s

    async def verify(self) -> None:
        """Say at once, without trying again, when the server cannot be used."""
        with translated():
            await self._driver.verify_connectivity()

    async def read(self, work: Work[T]) -> T:
        """Run `work` in one managed read transaction."""

        @neo4j.unit_of_work(timeout=self._timeout_s)
        async def unit(tx: neo4j.AsyncManagedTransaction) -> T:
            return await work(AwaitedTx(tx))

        with translated():
            async with self._session() as session:
                return await session.execute_read(unit)

    async def write(self, work: Work[T]) -> T:
        """Run `work` in one managed write transaction."""

        @neo4j.unit_of_work(timeout=self._timeout_s)
        async def unit(tx: neo4j.AsyncManagedTransaction) -> T:
            return await work(AwaitedTx(tx))

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
            return await AwaitedTx(tx).fetch(query, **params)

        with translated():
            async with self._session() as session:
                return await session.execute_write(unit)

    async def close(self) -> None:
        """Give the connections back."""
        await self._driver.close()

    def _session(self) -> neo4j.AsyncSession:
        return self._driver.session(database=self._database, bookmark_manager=self._bookmarks)
