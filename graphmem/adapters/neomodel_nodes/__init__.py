"""The graph as neomodel classes: the declared schema, and a way to browse by objects.

Reads and writes of graphmem are Cypher files; nothing here is on their way. A node's `id` is the
attribute `uid`, because neomodel keeps the name `id` for itself.
"""

from graphmem.adapters.neomodel_nodes.browsing import browsing
from graphmem.adapters.neomodel_nodes.indexes import Index
from graphmem.adapters.neomodel_nodes.nodes import (
    EDGES,
    NODES,
    Belief,
    Episode,
    Event,
    Memory,
    Predicate,
    Speaks,
    Supersedes,
    Tenant,
    Turn,
)
from graphmem.adapters.neomodel_nodes.schema import declared
from graphmem.adapters.neomodel_nodes.workings import (
    Archive,
    Checkpoint,
    Consolidation,
    EmbeddingModel,
    Migration,
    MigrationLock,
    NameLock,
    Reply,
)

__all__ = [
    "EDGES",
    "NODES",
    "Archive",
    "Belief",
    "Checkpoint",
    "Consolidation",
    "EmbeddingModel",
    "Episode",
    "Event",
    "Index",
    "Memory",
    "Migration",
    "MigrationLock",
    "NameLock",
    "Predicate",
    "Reply",
    "Speaks",
    "Supersedes",
    "Tenant",
    "Turn",
    "browsing",
    "declared",
]
