"""The schema that the node classes declare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import neo4j
from neo4j import exceptions
from neomodel import StructuredNode, db, get_config

from graphmem.adapters.neomodel_nodes import nodes, state_nodes
from graphmem.adapters.neomodel_nodes.declarations import EDGES, Index
from graphmem.errors import GraphAccessError, GraphUnavailableError, InvalidInputError
from graphmem.schema import DeclaredSchema, SchemaItem

_TYPES = {
    "unique": "NODE_PROPERTY_UNIQUENESS",
    "range": "RANGE",
    "fulltext": "FULLTEXT",
    "vector": "VECTOR",
}
NODE_CLASSES: tuple[type[StructuredNode], ...] = tuple(
    one
    for module in (nodes, state_nodes)
    for one in vars(module).values()
    if getattr(one, "__module__", "") == module.__name__
)
"""Every node class of the graph."""


def declared() -> DeclaredSchema:
    """Return every index and constraint that the classes declare."""
    items = (
        *(_item(node.__label__, index) for node in NODE_CLASSES for index in _indexes(node)),
        *(_item(f"[{kind}]", index) for kind, edge in EDGES.items() for index in edge.indexes),
    )
    return DeclaredSchema(
        items=tuple(sorted(items, key=lambda item: item.name)),
        labels=frozenset(
            (*(node.__label__ for node in NODE_CLASSES), *(f"[{kind}]" for kind in EDGES))
        ),
    )


def _indexes(node: type[StructuredNode]) -> Iterator[Index]:
    for attribute, prop in node.__all_properties__:
        if prop.unique_index:
            name = prop.get_db_property_name(attribute)
            yield Index("unique", name, (name,))
    yield from getattr(node, "indexes", ())


def _item(label: str, index: Index) -> SchemaItem:
    bare = label.strip("[]")
    words = bare if bare.isupper() else re.sub(r"(?<!^)(?=[A-Z])", "_", bare)
    return SchemaItem(
        name=f"{words.lower()}_{index.prop}_{index.kind}",
        type=_TYPES[index.kind],
        labels=(label,),
        properties=index.on,
        config=index.config,
    )


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
