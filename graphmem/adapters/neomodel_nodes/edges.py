"""Indexes, and the properties of relationships."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from neomodel import (
    BooleanProperty,
    DateTimeNeo4jFormatProperty,
    FloatProperty,
    IntegerProperty,
    StringProperty,
    StructuredRel,
)

WORDS = {"fulltext.eventually_consistent": False}
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


def at(node: str) -> str:
    """Return the full name of a node class.

    A bare name neomodel looks up in the first module on the stack with a global of that name, which
    may be a caller's own `Item` or `Memory`.
    """
    return f"{__package__}.{node}"


class Supersedes(StructuredRel):
    """When a memory or a belief took the place of another, and the event that says so."""

    event_id = StringProperty(required=True)
    occurred_at = DateTimeNeo4jFormatProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)
    # A cache: whether it holds now, made anew by `admin rebuild`.
    in_force = BooleanProperty()


class EvidenceEdge(StructuredRel):
    """Which slot a piece of evidence speaks of, and since when."""

    indexes: ClassVar = (Index("range", "recorded_at", ("tenant", "slot_id", "recorded_at")),)

    tenant = StringProperty(required=True)
    slot_id = StringProperty(required=True)
    recorded_at = DateTimeNeo4jFormatProperty(required=True)


class ReturnedEdge(StructuredRel):
    """In which place a search returned a result, and how near it was to the question."""

    rank = IntegerProperty(required=True)
    similarity = FloatProperty()
    content_hash = StringProperty()


class RatedEdge(StructuredRel):
    """What the games of a search made of a rating."""

    before = FloatProperty(required=True)
    after = FloatProperty(required=True)


EDGES: dict[str, type[EvidenceEdge]] = {"SUPPORTS": EvidenceEdge, "REFUTES": EvidenceEdge}
"""Relationships that have indexes."""
