"""The graph as neomodel classes, for reading only.

The classes match the migrated schema: labels, properties, relationships, keys and indexes. A
node's `id` is the attribute `uid`, because neomodel reserves the name `id`.
docs/reference/objects.md has examples.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from graphmem.client import connect
from graphmem.graph import browsing as connection
from graphmem.nodes.classes import Archive as Archive
from graphmem.nodes.classes import Artifact as Artifact
from graphmem.nodes.classes import Belief as Belief
from graphmem.nodes.classes import Episode as Episode
from graphmem.nodes.classes import Event as Event
from graphmem.nodes.classes import Item as Item
from graphmem.nodes.classes import ItemText as ItemText
from graphmem.nodes.classes import Memory as Memory
from graphmem.nodes.classes import Name as Name
from graphmem.nodes.classes import Namespace as Namespace
from graphmem.nodes.classes import Predicate as Predicate
from graphmem.nodes.classes import Rating as Rating
from graphmem.nodes.classes import Rejection as Rejection
from graphmem.nodes.classes import Reply as Reply
from graphmem.nodes.classes import Seal as Seal
from graphmem.nodes.classes import Tenant as Tenant
from graphmem.nodes.classes import Turn as Turn
from graphmem.nodes.declarations import EvidenceEdge as EvidenceEdge
from graphmem.nodes.declarations import RatedEdge as RatedEdge
from graphmem.nodes.declarations import ReturnedEdge as ReturnedEdge
from graphmem.nodes.declarations import Supersedes as Supersedes
from graphmem.nodes.state import Checkpoint as Checkpoint
from graphmem.nodes.state import Consolidation as Consolidation
from graphmem.nodes.state import EmbeddingModel as EmbeddingModel
from graphmem.nodes.state import Migration as Migration
from graphmem.nodes.state import MigrationLock as MigrationLock
from graphmem.nodes.state import NameLock as NameLock
from graphmem.nodes.state import Rater as Rater
from graphmem.nodes.state import Tombstone as Tombstone

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
    with connection.browsing(at.uri, at.user, at.password, known.database):
        yield
