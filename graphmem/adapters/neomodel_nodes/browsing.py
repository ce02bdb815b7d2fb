"""Browse the graph by objects, reading only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import neo4j
from neo4j import exceptions
from neomodel import db, get_config

from graphmem.errors import GraphAccessError, GraphUnavailableError, InvalidInputError


@contextmanager
def browsing(uri: str, user: str, password: str, database: str | None = None) -> Iterator[None]:
    """Connect neomodel for reading, for as long as the block lasts.

    Inside it `Memory.nodes.filter(tenant="acme")` and the relationships work, all in one read
    transaction: what would write is refused by the server, so events stay as they are.
    neomodel has one connection for the whole process, so blocks do not nest.

    Args:
        uri: of the server, for example bolt://127.0.0.1:7687.
        user: to log in as.
        password: in clear.
        database: its name; None for the user's home database.

    Raises:
        InvalidInputError: neomodel is connected already.
        GraphAccessError: the server refused the credentials.
        GraphUnavailableError: the server cannot be reached.
    """
    if db.driver is not None:
        raise InvalidInputError(
            "neomodel is connected already.",
            hint="Close that first: neomodel.db.close_connection().",
        )
    with _reached(uri, user, password) as driver:
        config = get_config()
        before, config.database_name = config.database_name, database
        try:
            db.set_connection(driver=driver)
            db.begin(access_mode=neo4j.READ_ACCESS)
            try:
                yield
            finally:
                # Nothing to commit, and one that was refused a write could not be.
                db.rollback()
        finally:
            config.database_name = before
            db.close_connection()


@contextmanager
def _reached(uri: str, user: str, password: str) -> Iterator[neo4j.Driver]:
    try:
        driver = neo4j.GraphDatabase.driver(uri, auth=(user, password))
    except (exceptions.ConfigurationError, ValueError) as error:
        raise GraphUnavailableError("The address of Neo4j does not fit the driver.") from error
    with driver:
        try:
            driver.verify_connectivity()
        except exceptions.AuthError as error:
            raise GraphAccessError(f"Neo4j refused access: {error.code}.") from error
        except exceptions.DriverError as error:
            raise GraphUnavailableError(
                f"Neo4j cannot be reached ({type(error).__name__}) at the address given."
            ) from error
        yield driver
