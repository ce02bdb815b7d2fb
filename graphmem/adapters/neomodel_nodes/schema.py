"""The schema that the node classes declare."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neomodel import StructuredNode

from graphmem.adapters.neomodel_nodes.edges import EDGES
from graphmem.adapters.neomodel_nodes.indexes import Index
from graphmem.adapters.neomodel_nodes.nodes import NODES
from graphmem.model import DeclaredSchema, SchemaItem

_TYPES = {
    "unique": "NODE_PROPERTY_UNIQUENESS",
    "range": "RANGE",
    "fulltext": "FULLTEXT",
    "vector": "VECTOR",
}


def declared() -> DeclaredSchema:
    """Return every index and constraint that the classes declare."""
    items = (
        *(_item(node.__label__, index) for node in NODES for index in _indexes(node)),
        *(_item(f"[{kind}]", index) for kind, edge in EDGES.items() for index in edge.indexes),
    )
    return DeclaredSchema(
        items=tuple(sorted(items, key=lambda item: item.name)),
        labels=frozenset((*(node.__label__ for node in NODES), *(f"[{kind}]" for kind in EDGES))),
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
