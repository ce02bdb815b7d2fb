"""The read-only connection of neomodel, for browsing the graph by objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import neo4j
from neo4j import exceptions
from neomodel import db, get_config

from graphmem.errors import GraphAccessError, GraphUnavailableError, InvalidInputError


@contextmanager
def browsing(uri: str, user: str, password: str, database: str | None = None) -> Iterator[None]:
    """Connect neomodel for reading while the block runs.

    Inside the block `Memory.nodes.filter(tenant="acme")` and the relationships work, all in one
    read transaction; the server rejects writes. neomodel has one connection per process, so blocks
    cannot be nested. Without a `database`, the user's home database is used.

    Raises:
        InvalidInputError: neomodel is connected already.
        GraphAccessError: the server rejected the credentials.
        GraphUnavailableError: the server cannot be reached.
    """
    if db.driver is not None:
        raise InvalidInputError(
            "neomodel is connected already.",
            hint="Close that connection first: neomodel.db.close_connection().",
        )
    with _connected(uri, user, password) as driver:
        config = get_config()
        previous, config.database_name = config.database_name, database
        try:
            db.set_connection(driver=driver)
            db.begin(access_mode=neo4j.READ_ACCESS)
            try:
                yield
            finally:
                # There is nothing to commit, and after a rejected write a commit would fail.
                db.rollback()
        finally:
            config.database_name = previous
            db.close_connection()


@contextmanager
def _connected(uri: str, user: str, password: str) -> Iterator[neo4j.Driver]:
    try:
        driver = neo4j.GraphDatabase.driver(uri, auth=(user, password))
    except (exceptions.ConfigurationError, ValueError) as error:
        raise GraphUnavailableError("The driver does not support the address of Neo4j.") from error
    with driver:
        try:
            driver.verify_connectivity()
        except exceptions.AuthError as error:
            raise GraphAccessError(f"Neo4j denied access: {error.code}.") from error
        except exceptions.DriverError as error:
            raise GraphUnavailableError(
                f"Neo4j cannot be reached ({type(error).__name__}) at the address given."
            ) from error
        yield driver
