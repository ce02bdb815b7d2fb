"""The graph as neomodel classes: the declared schema, and read-only browsing by objects.

graphmem reads and writes with Cypher files and does not use these classes for that. A node's `id`
is the attribute `uid`, because neomodel reserves the name `id`.
"""

from graphmem.adapters.neomodel_nodes.edges import (
    EDGES,
    EvidenceEdge,
    Index,
    RatedEdge,
    ReturnedEdge,
    Supersedes,
)
from graphmem.adapters.neomodel_nodes.nodes import (
    NODES,
    Artifact,
    Belief,
    Episode,
    Event,
    Memory,
    Name,
    Predicate,
    Tenant,
    Turn,
)
from graphmem.adapters.neomodel_nodes.schema import browsing, declared
from graphmem.adapters.neomodel_nodes.workings import (
    Archive,
    Checkpoint,
    Consolidation,
    EmbeddingModel,
    Item,
    ItemText,
    Migration,
    MigrationLock,
    NameLock,
    Namespace,
    Rater,
    Rating,
    Reply,
    Tombstone,
)

__all__ = [
    "EDGES",
    "NODES",
    "Archive",
    "Artifact",
    "Belief",
    "Checkpoint",
    "Consolidation",
    "EmbeddingModel",
    "Episode",
    "Event",
    "EvidenceEdge",
    "Index",
    "Item",
    "ItemText",
    "Memory",
    "Migration",
    "MigrationLock",
    "Name",
    "NameLock",
    "Namespace",
    "Predicate",
    "RatedEdge",
    "Rater",
    "Rating",
    "Reply",
    "ReturnedEdge",
    "Supersedes",
    "Tenant",
    "Tombstone",
    "Turn",
    "browsing",
    "declared",
]
