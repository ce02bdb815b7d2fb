"""Properties, relationships and indexes that the node classes declare."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from neomodel import (
    ArrayProperty,
    BooleanProperty,
    FloatProperty,
    IntegerProperty,
    StringProperty,
    StructuredNode,
    StructuredRel,
)
from neomodel.properties import Property

from graphmem.model import EventType, Text
from graphmem.nodes import classes, state
from graphmem.nodes.declarations import BytesProperty, Index, InstantProperty, Leaving
from graphmem.nodes.values import Count, Flag, Number, TokenStates, When

Declared: TypeAlias = type[StructuredNode] | type[StructuredRel]
NODE_CLASSES: Mapping[str, type[StructuredNode]] = {
    one.__label__: one
    for module in (classes, state)
    for one in vars(module).values()
    if getattr(one, "__module__", "") == module.__name__
}
"""Every node class of the graph, by label."""
_TYPES: Mapping[type[Property[Any]], Any] = {
    StringProperty: Text,
    IntegerProperty: Count,
    FloatProperty: Number,
    BooleanProperty: Flag,
    InstantProperty: When,
    BytesProperty: TokenStates,
}
"""Types of values in an export, by the class of their property."""


class Relationship(NamedTuple):
    """Relationships of one type between nodes of two labels."""

    start: str
    kind: str
    end: str
    model: type[StructuredRel] | None
    """Class of their properties; None if they have none."""
    of: Collection[EventType] | None
    """Types of the events that they start from; None if any node may have them."""


class Exported(NamedTuple):
    """A property that an export contains."""

    type: Any
    required: bool
    immutable: bool


def properties(declared: Declared) -> dict[str, Property[Any]]:
    """Return the properties of a class by their name in the graph."""
    found = declared.defined_properties(aliases=False, rels=False)
    return {prop.get_db_property_name(name): prop for name, prop in found.items()}


def exported(declared: Declared | None) -> dict[str, Exported]:
    """Return the exported properties of a class by name; None has none."""
    default = getattr(declared, "immutable", False)
    return {
        name: Exported(_type(prop), prop.required, getattr(prop, "immutable", default))
        for name, prop in (properties(declared) if declared else {}).items()
        if getattr(prop, "exported", True)
    }


def _type(prop: Property[Any]) -> Any:
    if (given := getattr(prop, "check", None)) is not None:
        return given
    if isinstance(prop, ArrayProperty):
        return list[_type(prop.base_property)]  # type: ignore[misc, arg-type]
    return _TYPES[type(prop)]


def relationships() -> Iterator[Relationship]:
    """Yield the relationships of all classes."""
    for label, node in NODE_CLASSES.items():
        for _, relation in node.__all_relationships__:
            if isinstance(relation, Leaving):
                relation.lookup_node_class()
                has: dict[str, Any] = relation.definition
                end = has["node_class"].__label__
                yield Relationship(label, has["relation_type"], end, has["model"], relation.of)


def indexes() -> dict[str, list[Index]]:
    """Return the indexes and keys by label; by type in brackets, those of relationships."""
    found = {label: [*getattr(node, "indexes", ())] for label, node in NODE_CLASSES.items()}
    for label, node in NODE_CLASSES.items():
        unique = [name for name, prop in properties(node).items() if prop.unique_index]
        found[label] += (Index("unique", name, (name,)) for name in unique)
    for one in relationships():
        if (declared := getattr(one.model, "indexes", None)) is not None:
            found[f"[{one.kind}]"] = [*declared]
    return found
