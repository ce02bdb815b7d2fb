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
from graphmem.adapters.neomodel_nodes.declarations import EvidenceEdge as EvidenceEdge
from graphmem.adapters.neomodel_nodes.declarations import RatedEdge as RatedEdge
from graphmem.adapters.neomodel_nodes.declarations import ReturnedEdge as ReturnedEdge
from graphmem.adapters.neomodel_nodes.declarations import Supersedes as Supersedes
from graphmem.adapters.neomodel_nodes.nodes import Archive as Archive
from graphmem.adapters.neomodel_nodes.nodes import Artifact as Artifact
from graphmem.adapters.neomodel_nodes.nodes import Belief as Belief
from graphmem.adapters.neomodel_nodes.nodes import Episode as Episode
from graphmem.adapters.neomodel_nodes.nodes import Event as Event
from graphmem.adapters.neomodel_nodes.nodes import Item as Item
from graphmem.adapters.neomodel_nodes.nodes import ItemText as ItemText
from graphmem.adapters.neomodel_nodes.nodes import Memory as Memory
from graphmem.adapters.neomodel_nodes.nodes import Name as Name
from graphmem.adapters.neomodel_nodes.nodes import Namespace as Namespace
from graphmem.adapters.neomodel_nodes.nodes import Predicate as Predicate
from graphmem.adapters.neomodel_nodes.nodes import Rating as Rating
from graphmem.adapters.neomodel_nodes.nodes import Reply as Reply
from graphmem.adapters.neomodel_nodes.nodes import Seal as Seal
from graphmem.adapters.neomodel_nodes.nodes import Tenant as Tenant
from graphmem.adapters.neomodel_nodes.nodes import Turn as Turn
from graphmem.adapters.neomodel_nodes.state_nodes import Checkpoint as Checkpoint
from graphmem.adapters.neomodel_nodes.state_nodes import Consolidation as Consolidation
from graphmem.adapters.neomodel_nodes.state_nodes import EmbeddingModel as EmbeddingModel
from graphmem.adapters.neomodel_nodes.state_nodes import Migration as Migration
from graphmem.adapters.neomodel_nodes.state_nodes import MigrationLock as MigrationLock
from graphmem.adapters.neomodel_nodes.state_nodes import NameLock as NameLock
from graphmem.adapters.neomodel_nodes.state_nodes import Rater as Rater
from graphmem.adapters.neomodel_nodes.state_nodes import Rejection as Rejection
from graphmem.adapters.neomodel_nodes.state_nodes import Tombstone as Tombstone
from graphmem.client import connect

if TYPE_CHECKING:
    from graphmem.settings import Settings


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
