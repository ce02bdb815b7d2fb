"""The node classes of what agents keep by key: items, their namespaces, texts they are found by."""

from __future__ import annotations

from typing import ClassVar

from neomodel import (
    ArrayProperty,
    DateTimeNeo4jFormatProperty,
    FloatProperty,
    IntegerProperty,
    One,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
)

from graphmem.adapters.neomodel_nodes.edges import at
from graphmem.adapters.neomodel_nodes.indexes import COSINE, Index


class Namespace(StructuredNode):
    """A place that holds items; it is there as long as it holds one."""

    indexes: ClassVar = (
        Index("unique", "id", ("tenant", "id")),
        Index("range", "path", ("tenant", "scope", "path")),
        Index("range", "reversed", ("tenant", "scope", "reversed")),
    )

    tenant = StringProperty(required=True)
    uid = StringProperty(required=True, db_property="id")
    scope = StringProperty(required=True)
    parts = ArrayProperty(StringProperty(), required=True)
    depth = IntegerProperty(required=True)
    # Its labels, each with a point behind it, from the first one and from the last one.
    path = StringProperty(required=True)
    reversed = StringProperty(required=True)
    # When by the server's clock, in microseconds, and in which place of a batch.
    begun = ArrayProperty(IntegerProperty())
    locked_at = DateTimeNeo4jFormatProperty()

    items = RelationshipFrom(at("Item"), "STANDS_IN")


class Item(StructuredNode):
    """A value that an agent keeps under a key, as JSON; another one takes its place."""

    indexes: ClassVar = (
        Index("unique", "id", ("tenant", "id")),
        Index("range", "expires_at", ("tenant", "scope", "expires_at")),
    )

    tenant = StringProperty(required=True)
    uid = StringProperty(required=True, db_property="id")
    scope = StringProperty(required=True)
    key = StringProperty(required=True)
    value = StringProperty(required=True)
    facets = ArrayProperty(StringProperty())
    created_at = DateTimeNeo4jFormatProperty(required=True)
    updated_at = DateTimeNeo4jFormatProperty(required=True)
    begun = ArrayProperty(IntegerProperty())
    ttl_minutes = FloatProperty()
    expires_at = DateTimeNeo4jFormatProperty()
    locked_at = DateTimeNeo4jFormatProperty()

    namespace = RelationshipTo(at("Namespace"), "STANDS_IN", cardinality=One)
    found_by = RelationshipTo(at("ItemText"), "FOUND_BY")


class ItemText(StructuredNode):
    """A text that an item is found by."""

    indexes: ClassVar = (
        Index("vector", "embedding", ("embedding", "tenant", "scope", "path"), COSINE),
    )

    tenant = StringProperty(required=True)
    scope = StringProperty(required=True)
    name = StringProperty(required=True)
    text = StringProperty(required=True)
    # Of the namespace.
    path = StringProperty(required=True)
    embedding = ArrayProperty(FloatProperty())

    item = RelationshipFrom(at("Item"), "FOUND_BY", cardinality=One)
