"""Nodes and relationships of an export, derived from the node classes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired

from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

from graphmem.model import EventType

if TYPE_CHECKING:
    from graphmem.nodes.declared import Exported

closed = with_config(ConfigDict(extra="forbid", hide_input_in_errors=True))


@dataclass(frozen=True, slots=True)
class NodeKind:
    """Nodes of one label that an export treats alike."""

    label: str
    part: str = ""
    """Label of the rated node; empty except for ratings."""
    auxiliary: bool = False
    """Whether the node accompanies the memory: an existing one is kept without comparison."""


KINDS = (
    *(NodeKind(label) for label in ("Episode", "Archive", "Turn", "Reply", "Artifact", "Item")),
    *(NodeKind(label, auxiliary=True) for label in ("Name", "Predicate", "Rejection")),
    *(NodeKind(label) for label in ("Belief", "Memory", "Event", "Seal")),
    NodeKind("Consolidation", auxiliary=True),
    *(
        NodeKind("Rating", part, auxiliary=True)
        for part in ("Artifact", "Belief", "Episode", "Memory")
    ),
    NodeKind("Rater", auxiliary=True),
)
"""Node kinds in file order: relationships point to earlier nodes. Ratings come last, followed by
the number of sessions that they cover, so that no exported session is rated again. The record of an
item contains its namespace and its texts. A file contains no other labels: locks, leases, caches,
the marks of erasures, and what belongs to the graph, not to a tenant."""


class LinkKind(NamedTuple):
    """Relationships of one type between two kinds of nodes."""

    shape: Any
    """Type of their properties."""
    of: Collection[EventType] | None
    """Types of the events that they start from; None if any node may have them."""


@cache
def adapter(shape: Any) -> TypeAdapter[Any]:
    """Return the validator of a type; created on first use."""
    return TypeAdapter(shape)


@cache
def node_shape(label: str) -> Any:
    """Return the type of the exported properties of a label."""
    from graphmem.nodes.declared import NODE_CLASSES, exported

    return _shape(label, exported(NODE_CLASSES[label]))


@cache
def immutable(label: str) -> Collection[str]:
    """Return the names of the immutable exported properties of a label."""
    from graphmem.nodes.declared import NODE_CLASSES, exported

    return [name for name, one in exported(NODE_CLASSES[label]).items() if one.immutable]


@cache
def links() -> Mapping[tuple[str, str, str], LinkKind]:
    """Return the exported relationships by start label, type and end label."""
    from graphmem.nodes.declared import exported, relationships

    labels = {kind.label for kind in KINDS}
    return {
        (one.start, one.kind, one.end): LinkKind(_shape(one.kind, exported(one.model)), one.of)
        for one in relationships()
        if {one.start, one.end} <= labels
    }


def _shape(name: str, properties: Mapping[str, Exported]) -> Any:
    make: Any = TypedDict
    return closed(
        make(
            name,
            {
                one: has.type if has.required else NotRequired[has.type]
                for one, has in properties.items()
            },
        )
    )
