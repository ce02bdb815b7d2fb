"""The graph as neomodel classes: the declared schema, and a way to browse by objects.

Reads and writes of graphmem are Cypher files; nothing here is on their way. A node's `id` is the
attribute `uid`, because neomodel keeps the name `id` for itself.
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
