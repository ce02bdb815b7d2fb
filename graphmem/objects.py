"""The graph as neomodel classes, for reading only.

The classes match the migrated schema: labels, properties, relationships, keys and indexes. A
node's `id` is the attribute `uid`, because neomodel reserves the name `id`. docs/objects.md
has examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphmem.adapters.neomodel_nodes import schema
from graphmem.adapters.neomodel_nodes.declarations import (
    EvidenceEdge,
    RatedEdge,
    ReturnedEdge,
    Supersedes,
)
from graphmem.adapters.neomodel_nodes.internal_nodes import (
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
from graphmem.adapters.neomodel_nodes.nodes import (
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
from graphmem.client import connect

if TYPE_CHECKING:
    from graphmem.settings import Settings

__all__ = [
    "Archive",
    "Artifact",
    "Belief",
    "Checkpoint",
    "Consolidation",
    "EmbeddingModel",
    "Episode",
    "Event",
    "EvidenceEdge",
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
]


@contextmanager
def browsing(settings: Settings | None = None) -> Iterator[None]:
    """Connect the classes for reading, for the duration of the block.

    The block is one read transaction, in which the server refuses writes. neomodel has one
    connection per process, so blocks do not nest, and it knows no tenants: filter by tenant.

    Args:
        settings: by default those of the environment; without a URI the managed server is started.

    Raises:
        ConfigurationError: a URI without a password, or an invalid Neo4j URI.
        LocalServerError: the managed server did not start.
        InvalidInputError: neomodel is already connected.
        GraphAccessError: the server refused the credentials.
        GraphUnavailableError: the server cannot be reached.
    """
    known = settings or connect.settings()
    at = connect.address(known, connect.silent)
    with schema.browsing(at.uri, at.user, at.password, known.database):
        yield
