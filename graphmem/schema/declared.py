"""The schema that the node classes declare."""

from __future__ import annotations

import re

from graphmem.nodes.declarations import Index
from graphmem.nodes.declared import indexes
from graphmem.schema import DeclaredSchema, SchemaItem

_TYPES = {
    "unique": "NODE_PROPERTY_UNIQUENESS",
    "range": "RANGE",
    "fulltext": "FULLTEXT",
    "vector": "VECTOR",
}


def declared() -> DeclaredSchema:
    """Return every index and constraint that the classes declare."""
    found = indexes()
    items = (_item(label, index) for label, some in found.items() for index in some)
    return DeclaredSchema(
        items=tuple(sorted(items, key=lambda item: item.name)), labels=frozenset(found)
    )


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
