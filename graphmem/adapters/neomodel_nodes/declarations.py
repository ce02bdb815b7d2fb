"""Relationship classes, indexes, and the properties that several node classes share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from neomodel import (
    BooleanProperty,
    DateTimeNeo4jFormatProperty,
    FloatProperty,
    IntegerProperty,
    RelationshipFrom,
    StringProperty,
    StructuredNode,
    StructuredRel,
)

COSINE = {"vector.similarity_function": "COSINE", "vector.quantization.type": "NONE"}


@dataclass(frozen=True, slots=True)
class Index:
    """An index or key that neomodel cannot declare on one property."""

    kind: Literal["unique", "range", "fulltext", "vector"]
    prop: str
    """Property that is part of the index's name, with the label and the kind."""
    on: tuple[str, ...]
    """Names of the indexed properties in the graph, in order; includes `prop`."""
    config: dict[str, Any] = field(default_factory=dict)


ID = Index("unique", "id", ("tenant", "id"))


def fulltext(text: str, *filters: str) -> Index:
    """Return the full-text index of a property with the properties to filter by."""
    return Index("fulltext", text, (text, *filters), {"fulltext.eventually_consistent": False})


def vector(*filters: str) -> Index:
    """Return the vector index of a node's embedding with the properties to filter by."""
    return Index("vector", "embedding", ("embedding", *filters), COSINE)


def at(node: str, module: str = "nodes") -> str:
    """Return the full name of a node class.

    neomodel looks up a bare name in the first module on the stack with a global of that name, which
    may be a caller's own `Item` or `Memory`.
    """
    return f"{__package__}.{module}.{node}"


class Supersedes(StructuredRel):
    """Replacement of a memory or belief by another: its event and times."""

    event_id = StringProperty(required=True)
    occurred_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)
    # Cache of whether the replacement is in force now; `admin rebuild` recomputes it.
    in_force = BooleanProperty()


class EvidenceEdge(StructuredRel):
    """Slot of a piece of evidence, and the time it was recorded."""

    indexes: ClassVar = (Index("range", "recorded_at", ("tenant", "slot_id", "recorded_at")),)

    tenant = StringProperty(required=True)
    slot_id = StringProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)


class ReturnedEdge(StructuredRel):
    """Rank of a result in a search, and its similarity to the query."""

    rank = IntegerProperty(required=True)
    similarity = FloatProperty()
    content_hash = StringProperty()


class RetrievedEdge(StructuredRel):
    """Last time at which a session returned a belief, kept by a roll-up."""

    occurred_at = DateTimeNeo4jFormatProperty(required=True)


class RatedEdge(StructuredRel):
    """Rating of an item before and after the games of a search."""

    before = FloatProperty(required=True)
    after = FloatProperty(required=True)


EDGES: dict[str, type[EvidenceEdge]] = {"SUPPORTS": EvidenceEdge, "REFUTES": EvidenceEdge}
"""Classes of the relationship types that have indexes."""


class TenantNode(StructuredNode):
    """A node of one tenant."""

    __abstract_node__ = True

    tenant = StringProperty(required=True)


class KeyedNode(TenantNode):
    """A node with a key that is unique in its tenant."""

    __abstract_node__ = True

    indexes: ClassVar = (Index("unique", "key", ("tenant", "key")),)

    key = StringProperty(required=True)


class ScopedNode(TenantNode):
    """A node with an id in one scope."""

    __abstract_node__ = True

    uid = StringProperty(required=True, db_property="id")
    scope = StringProperty(required=True)


class RatedNode(ScopedNode):
    """A node that searches return and agents access."""

    __abstract_node__ = True

    accessed_by = RelationshipFrom(at("Event"), "ACCESSED")
    returned_by = RelationshipFrom(at("Event"), "RETURNED", model=ReturnedEdge)
    rated_by = RelationshipFrom(at("Event"), "RATED", model=RatedEdge)
