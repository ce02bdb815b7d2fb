"""The graph as neomodel classes, for people who like to browse by objects; reading only.

The classes are what the migrated schema is: labels, properties, relationships, keys and indexes. A
node's `id` is the attribute `uid`, because neomodel keeps the name `id` for itself. docs/objects.md
has examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphmem.adapters import neomodel_nodes
from graphmem.adapters.neomodel_nodes import (
    Archive,
    Artifact,
    Belief,
    Checkpoint,
    Consolidation,
    EmbeddingModel,
    Episode,
    Event,
    EvidenceEdge,
    Item,
    ItemText,
    Memory,
    Migration,
    MigrationLock,
    Name,
    NameLock,
    Namespace,
    Predicate,
    RatedEdge,
    Rater,
    Rating,
    Reply,
    ReturnedEdge,
    Supersedes,
    Tenant,
    Tombstone,
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
    """Connect the classes for reading, for as long as the block lasts.

    All in it is one read transaction: what would write is refused by the server. neomodel has one
    connection for the whole process, so blocks do not nest, and it knows no tenant: filter by it.

    Args:
        settings: those of the environment by default; without a URI the managed server is started.

    Raises:
        ConfigurationError: a URI without a password, or one that is no address of Neo4j.
        LocalServerError: the managed server did not start.
        InvalidInputError: neomodel is connected already.
        GraphAccessError: the server refused the credentials.
        GraphUnavailableError: the server cannot be reached.
    """
    known = settings or connect.settings()
    at = connect.address(known, connect.silent)
    with neomodel_nodes.browsing(at.uri, at.user, at.password, known.database):
        yield
