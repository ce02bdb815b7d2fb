"""What the node classes say of indexes and keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

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
