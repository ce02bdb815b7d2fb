"""Indexes, relationship classes, and the properties that several node classes share.

A property takes these arguments in addition to neomodel's own:

- `check`: type of its value in an export; by default that of its class in `declared.py`.
- `exported=False`: no export contains it; an import chooses or computes it.
- `immutable=True`: an import refuses a node that exists with another value.
- `sealed`: how a seal covers it: see `Sealed`.
- `cached=True`: it follows from events; `admin rebuild` recomputes it.

A node's `id` is the attribute `uid`, because neomodel reserves the name `id`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from neomodel import (
    ArrayProperty,
    BooleanProperty,
    DateTimeNeo4jFormatProperty,
    FloatProperty,
    IntegerProperty,
    RelationshipFrom,
    RelationshipManager,
    RelationshipTo,
    StringProperty,
    StructuredNode,
    StructuredRel,
    ZeroOrMore,
    ZeroOrOne,
)
from neomodel.properties import Property

from graphmem.model import EventType
from graphmem.nodes.values import Id, Rank, Recorded, Scope, Vector

Sealed: TypeAlias = Literal["fixed", "changing", "given", "names of given"]
"""`fixed`: no write changes it. `changing`: an event may change it, then the node is sealed again.
`given`: changing, but covered only if the node names it as given by a caller."""

COSINE = {"vector.similarity_function": "COSINE", "vector.quantization.type": "NONE"}
InstantProperty: TypeAlias = DateTimeNeo4jFormatProperty

MANY = (ZeroOrMore, ZeroOrMore)
TO_ONE = (ZeroOrOne, ZeroOrMore)


class BytesProperty(Property[bytes]):
    """Bytes, as the driver reads and writes them."""

    def inflate(self, value: Any, *_: Any, **__: Any) -> bytes:
        """Return the value of the graph."""
        return bytes(value)

    deflate = inflate


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


class Leaving(RelationshipTo):
    """Relationships that start from a class."""

    of: Collection[EventType] | None = None
    """Types of the events that they start from; None if any node may have them."""


def relate(
    start: type[StructuredNode],
    kind: str,
    names: tuple[str, str],
    *ends: type[StructuredNode],
    model: type[StructuredRel] | None = None,
    of: Collection[EventType] | None = None,
    cardinality: tuple[type[RelationshipManager], type[RelationshipManager]] = MANY,
) -> None:
    """Declare the relationships of one type that start from a class, at both of their ends.

    Args:
        start: class that they start from.
        kind: their type.
        names: attributes of the start and of the ends; if there are several ends, that of the start
            is followed by the plural of the end.
        ends: classes at their end.
        model: class of their properties.
        of: types of the events that they start from; None if any may have them.
        cardinality: numbers of them that start from one node, and that end at one.
    """
    name, back = names
    for end in ends:
        leaving = Leaving(end, kind, cardinality[0], model)
        leaving.of = of
        word = end.__label__.lower()
        plural = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
        _attach(start, f"{name}_{plural}" if len(ends) > 1 else name, leaving)
        _attach(end, back, RelationshipFrom(start, kind, cardinality[1], model))


def _attach(
    node: type[StructuredNode], name: str, relation: RelationshipTo | RelationshipFrom
) -> None:
    # neomodel collects the relationships when it makes the class, before the other end exists.
    setattr(node, name, relation)
    node.__all_relationships__ = (*node.__all_relationships__, (name, relation))


class Supersedes(StructuredRel):
    """Replacement of a memory or belief by another: its event and times."""

    event_id = StringProperty(required=True, check=Id)
    occurred_at = InstantProperty(required=True)
    recorded_at = InstantProperty(required=True, check=Recorded)
    in_force = BooleanProperty(cached=True)


class EvidenceEdge(StructuredRel):
    """Slot of a piece of evidence, and the time it was recorded; those of its belief and event."""

    indexes: ClassVar = (Index("range", "recorded_at", ("tenant", "slot_id", "recorded_at")),)

    tenant = StringProperty(required=True, exported=False)
    slot_id = StringProperty(required=True, exported=False)
    recorded_at = InstantProperty(required=True, exported=False)


class ReturnedEdge(StructuredRel):
    """Rank of a result in a search, and its similarity to the query."""

    rank = IntegerProperty(required=True, check=Rank)
    similarity = FloatProperty()
    content_hash = StringProperty(check=Id)


class RetrievedEdge(StructuredRel):
    """Last time at which a session returned a belief, kept by a roll-up."""

    occurred_at = InstantProperty(required=True)


class RatedEdge(StructuredRel):
    """Rating of an item before and after the games of a search."""

    before = FloatProperty(required=True)
    after = FloatProperty(required=True)


class TenantNode(StructuredNode):
    """A node of one tenant."""

    __abstract_node__ = True

    immutable: ClassVar = False
    """Whether properties are immutable by default."""

    tenant = StringProperty(required=True, exported=False)


class KeyedNode(TenantNode):
    """A node with a key that is unique in its tenant."""

    __abstract_node__ = True

    indexes: ClassVar = (Index("unique", "key", ("tenant", "key")),)

    key = StringProperty(required=True)


class IdentifiedNode(TenantNode):
    """A node with an id that is unique in its tenant; the key of its record in an export."""

    __abstract_node__ = True

    uid = StringProperty(required=True, db_property="id", exported=False)


class ScopedNode(IdentifiedNode):
    """A node with an id in one scope."""

    __abstract_node__ = True

    scope = StringProperty(required=True, check=Scope, immutable=True, sealed="fixed")


class SearchedNode(ScopedNode):
    """A node that searches find by its words and by its embedding."""

    __abstract_node__ = True

    tenant_key = StringProperty(exported=False, cached=True)
    scope_key = StringProperty(exported=False, cached=True)
    embedding = ArrayProperty(FloatProperty(), check=Vector)
    token_states = BytesProperty()


class StatedNode(SearchedNode):
    """A node that states something, with the rulings about what it states."""

    __abstract_node__ = True

    value_key = StringProperty(exported=False, cached=True)
    rulings = ArrayProperty(BooleanProperty(), exported=False, cached=True)
    ruled_at = ArrayProperty(InstantProperty(), exported=False, cached=True)
    ruled_known = ArrayProperty(InstantProperty(), exported=False, cached=True)
    ruled_scopes = ArrayProperty(StringProperty(), exported=False, cached=True)
    ruled_paths = ArrayProperty(StringProperty(), exported=False, cached=True)
    rejected = BooleanProperty(exported=False, cached=True)
