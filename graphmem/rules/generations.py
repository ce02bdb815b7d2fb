"""Generations of embeddings: a graph that is being embedded anew holds those of two models.

The Cypher files say the first generation: the property `embedding` of nodes, which have names of
one letter, and the indexes `<label>_embedding_vector`. Later ones have a number behind that word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

FIRST = 1
KEPT = r"(?<![\w.$])[a-z]\.embedding\b|'embedding(?=')|\b[a-z_]+_embedding(?=_vector\b)"
"""What is kept in the graph, not what a query is given: `row.embedding` and `$embedding` stay. Java
reads it as Python does."""
_KEPT = re.compile(KEPT)
_PROPERTY = re.compile(r"embedding(_\d+)?")


def in_generation(text: str, generation: int) -> str:
    """Return Cypher, or the name of an index, that is about one generation of embeddings.

    Args:
        text: about the first one.
        generation: from 1.
    """
    return text if generation == FIRST else _KEPT.sub(rf"\g<0>_{generation}", text)


def property_of(generation: int) -> str:
    """Return the property of a node that holds its embedding of a generation."""
    return in_generation("'embedding'", generation).strip("'")


def unnumbered(properties: Mapping[str, Any], generation: int) -> dict[str, Any]:
    """Return a node's properties with one generation's embedding as `embedding`, and no other's."""
    found = {name: value for name, value in properties.items() if not _PROPERTY.fullmatch(name)}
    own = properties.get(property_of(generation))
    return found if own is None else found | {"embedding": own}
