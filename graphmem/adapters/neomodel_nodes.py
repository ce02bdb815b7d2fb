"""The graph as neomodel classes: the declared schema, and a way to browse by objects.

Reads and writes of graphmem are Cypher files; nothing here is on their way. A node's `id` is the
attribute `uid`, because neomodel keeps the name `id` for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import neo4j
from neo4j import exceptions
from neomodel import (
    ArrayProperty,
    DateTimeNeo4jFormatProperty,
    FloatProperty,
    IntegerProperty,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
    StructuredRel,
    ZeroOrOne,
    db,
    get_config,
)

from graphmem.errors import GraphAccessError, GraphUnavailableError, InvalidInputError
from graphmem.model import Schema, SchemaItem

_TYPES = {
    "unique": "NODE_PROPERTY_UNIQUENESS",
    "range": "RANGE",
    "fulltext": "FULLTEXT",
    "vector": "VECTOR",
}
ENGLISH = {"fulltext.analyzer": "english", "fulltext.eventually_consistent": False}
COSINE = {"vector.similarity_function": "COSINE", "vector.quantization.type": "NONE"}


@dataclass(frozen=True, slots=True)
class Index:
    """An index or key that neomodel cannot declare on one property."""

    kind: Literal["unique", "range", "fulltext", "vector"]
    prop: str
    """Names it, together with the label and the kind."""
    on: tuple[str, ...]
    """Property names in the graph, in order, `prop` among them."""
    config: dict[str, Any] = field(default_factory=dict)


class Supersedes(StructuredRel):
    """When a memory took the place of another, and the event that says so."""

    event_id = StringProperty(required=True)
    occurred_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)


class Tenant(StructuredNode):
    """The owner of a part of the graph; its node is what writers lock."""

    tenant = StringProperty(unique_index=True)
    locked_at = DateTimeNeo4jFormatProperty()


class Memory(StructuredNode):
    """One canonical claim."""

    indexes: ClassVar = (
        Index("unique", "id", ("tenant", "id")),
        Index("range", "created_at", ("tenant", "scope", "created_at")),
        Index("range", "status", ("tenant", "scope", "status")),
        Index("fulltext", "content", ("content", "tenant_key", "scope_key", "status"), ENGLISH),
        Index(
            "vector",
            "embedding",
            ("embedding", "tenant", "scope", "status", "recorded_at", "created_at"),
            COSINE,
        ),
    )

    tenant = StringProperty(required=True)
    tenant_key = StringProperty(required=True)
    uid = StringProperty(required=True, db_property="id")
    scope = StringProperty(required=True)
    scope_key = StringProperty(required=True)
    content = StringProperty(required=True)
    content_hash = StringProperty(required=True)
    tags = ArrayProperty(StringProperty())
    status = StringProperty(required=True)
    embedding = ArrayProperty(FloatProperty())
    created_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)

    supersedes = RelationshipTo("Memory", "SUPERSEDES", model=Supersedes)
    superseded_by = RelationshipFrom("Memory", "SUPERSEDES", model=Supersedes)
    reinforced_by = RelationshipFrom("Event", "REINFORCES")
    concerned_by = RelationshipFrom("Event", "CONCERNS")


class Event(StructuredNode):
    """An append-only record that something happened."""

    indexes: ClassVar = (Index("unique", "id", ("tenant", "id")),)

    tenant = StringProperty(required=True)
    uid = StringProperty(required=True, db_property="id")
    scope = StringProperty(required=True)
    type = StringProperty(required=True)
    occurred_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)
    request_hash = StringProperty()
    content_hash = StringProperty()
    source = StringProperty()
    actor = StringProperty()
    artifact_ref = StringProperty()
    payload = StringProperty()

    reinforces = RelationshipTo("Memory", "REINFORCES")
    concerns = RelationshipTo("Memory", "CONCERNS")
    occurred_in = RelationshipTo("Episode", "OCCURRED_IN", cardinality=ZeroOrOne)
    quotes = RelationshipTo("Turn", "QUOTES")


class Episode(StructuredNode):
    """One stretch of experience: a session, a conversation, a document."""

    indexes: ClassVar = (
        Index("unique", "id", ("tenant", "id")),
        Index("range", "occurred_at", ("tenant", "scope", "occurred_at")),
    )

    tenant = StringProperty(required=True)
    uid = StringProperty(required=True, db_property="id")
    scope = StringProperty(required=True)
    session_id = StringProperty()
    summary = StringProperty()
    content = StringProperty()
    entities = ArrayProperty(StringProperty())
    importance = FloatProperty()
    request_hash = StringProperty()
    occurred_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)
    locked_at = DateTimeNeo4jFormatProperty()

    turns = RelationshipFrom("Turn", "OCCURRED_IN")
    events = RelationshipFrom("Event", "OCCURRED_IN")


class Turn(StructuredNode):
    """One message of a conversation, verbatim and in its place."""

    indexes: ClassVar = (
        Index("unique", "id", ("tenant", "id")),
        Index("unique", "position", ("tenant", "episode_id", "position")),
        Index("fulltext", "text", ("text", "name", "tenant_key", "scope_key"), ENGLISH),
        Index(
            "vector",
            "embedding",
            ("embedding", "tenant", "scope", "recorded_at", "occurred_at"),
            COSINE,
        ),
    )

    tenant = StringProperty(required=True)
    tenant_key = StringProperty(required=True)
    uid = StringProperty(required=True, db_property="id")
    scope = StringProperty(required=True)
    scope_key = StringProperty(required=True)
    episode_id = StringProperty(required=True)
    position = IntegerProperty(required=True)
    role = StringProperty(required=True)
    name = StringProperty()
    text = StringProperty(required=True)
    embedding = ArrayProperty(FloatProperty())
    occurred_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)

    occurred_in = RelationshipTo("Episode", "OCCURRED_IN", cardinality=ZeroOrOne)
    next = RelationshipTo("Turn", "NEXT", cardinality=ZeroOrOne)
    previous = RelationshipFrom("Turn", "NEXT", cardinality=ZeroOrOne)
    quoted_by = RelationshipFrom("Event", "QUOTES")


class EmbeddingModel(StructuredNode):
    """The model that filled the graph."""

    key = StringProperty(unique_index=True)
    name = StringProperty(required=True)
    dimension = IntegerProperty(required=True)
    mu_document = FloatProperty(required=True)
    mu_query = FloatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)


class Migration(StructuredNode):
    """One applied change of the schema or of the data."""

    number = IntegerProperty(unique_index=True)
    name = StringProperty(required=True)
    sha256 = StringProperty(required=True)
    applied_at = DateTimeNeo4jFormatProperty(required=True)

    followed_by = RelationshipTo("Migration", "FOLLOWED_BY", cardinality=ZeroOrOne)
    follows = RelationshipFrom("Migration", "FOLLOWED_BY", cardinality=ZeroOrOne)


class MigrationLock(StructuredNode):
    """Who may migrate now."""

    key = StringProperty(unique_index=True)
    owner = StringProperty()
    asked_at = DateTimeNeo4jFormatProperty()
    expires_at = DateTimeNeo4jFormatProperty()


NODES: tuple[type[StructuredNode], ...] = (
    Tenant,
    Memory,
    Event,
    Episode,
    Turn,
    EmbeddingModel,
    Migration,
    MigrationLock,
)


def declared() -> Schema:
    """Return every index and constraint that the classes declare."""
    items = (_item(node, index) for node in NODES for index in _indexes(node))
    return Schema(
        items=tuple(sorted(items, key=lambda item: item.name)),
        labels=frozenset(node.__label__ for node in NODES),
    )


def _indexes(node: type[StructuredNode]) -> Iterator[Index]:
    for attribute, prop in node.__all_properties__:
        if prop.unique_index:
            name = prop.get_db_property_name(attribute)
            yield Index("unique", name, (name,))
    yield from getattr(node, "indexes", ())


def _item(node: type[StructuredNode], index: Index) -> SchemaItem:
    label = re.sub(r"(?<!^)(?=[A-Z])", "_", node.__label__).lower()
    return SchemaItem(
        name=f"{label}_{index.prop}_{index.kind}",
        type=_TYPES[index.kind],
        labels=(node.__label__,),
        properties=index.on,
        config=index.config,
    )


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
