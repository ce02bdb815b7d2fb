"""Reports of erasure, export, import and the upkeep of caches."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from graphmem.model.terms import Record


class ErasureTarget(StrEnum):
    """Kind of data that can be erased."""

    MEMORY = "memory"
    BELIEF = "belief"
    EPISODE = "episode"
    SCOPE = "scope"
    TENANT = "tenant"


class RemainingNode(Record):
    """A remaining node with the same text: the source of the erased data, or a similar one."""

    label: str
    id: str


class ErasureReport(Record):
    """Result of an erasure or of its preview."""

    what: ErasureTarget
    id: str
    applied: bool
    repeated: bool = False
    """Whether it was erased before and nothing was left to erase."""
    counts: dict[str, int] = Field(default_factory=dict)
    """Number of erased nodes by label; for a preview, of nodes to erase."""
    unmentioned: int = 0
    """Number of remaining events and replies from which its id was removed."""
    digest_lines: int = 0
    """Number of digest lines that mentioned it."""
    left: int | None = None
    """Number of its nodes found by a second search; None if nothing was erased yet."""
    elsewhere: tuple[RemainingNode, ...] = ()
    """Remaining nodes with the same text; at most 20."""

    @property
    def clean(self) -> bool:
        """Whether the second search found nothing."""
        return self.left == 0


class ExportReport(Record):
    """Contents of an export file."""

    records: Mapping[str, int]
    """Number of nodes by label."""
    links: int
    """Number of relationships between them."""
    known: datetime
    """Time by the server's clock; the file contains everything recorded until then."""
    resumed: int = 0
    """Number of records that an interrupted export had already written."""
    later: int = 0
    """Number of nodes skipped by this call because they were recorded later: by concurrent writers,
    or by a server whose clock was ahead."""


class ImportReport(Record):
    """Outcome of the records of an imported file."""

    tenant: str
    """Tenant that the records come from."""
    known: datetime
    """Time of the export, by the clock of the exporting server."""
    written: int
    """Number of nodes created."""
    links: int
    """Number of relationships created."""
    there: int
    """Number of identical nodes that already existed."""
    kept: int
    """Number of existing nodes that have changed since and stay unchanged."""


class ForeignImportReport(Record):
    """Outcome of an import of another memory's data."""

    done: Mapping[str, int]
    """Number of writes by kind: episode, remember, supersede, deprecate, observe, retract. Writes
    of an earlier run are included."""
    refused: tuple[str, ...] = ()
    """Records that were not imported, each with the reason."""
    unplaced: Mapping[str, int] = {}
    """Fields without an equivalent, by record and name, and how often they had a value."""


class Mismatch(Record):
    """A cached value that differs from its events."""

    kind: str
    """memory, belief or slot."""
    id: str
    cached: str
    found: str
    """Value computed from the events."""


class RebuildReport(Record):
    """Result of `verify` or `rebuild`."""

    wrong: tuple[Mismatch, ...]
    """Caches that differed from the events; `rebuild` corrects them, except for memories without
    events."""
    checkpointed: int = 0
    """Number of pieces of evidence that checkpoints contain."""


class SkippedNodes(Record):
    """Memories or SUPERSEDES edges that `backfill` skipped, all for one reason."""

    kind: str
    """memory or edge."""
    problem: str
    hint: str
    """Remedy; Cypher on `m`, a memory, or `s`, an edge."""
    count: int
    ids: tuple[str, ...]
    """Ids of the first of them: `newer -> older` for an edge, elementId() for a memory without an
    id."""


class BackfillReport(Record):
    """Result of `backfill`."""

    memories: int
    """Number of memories that had no event of their own scope and got one."""
    filled: int
    """Number of memories that had one and lacked something else."""
    embedded: int
    """Number of memories (new or repaired) that were embedded."""
    edges: int
    """Number of SUPERSEDES edges that got their event; of two between the same memories one
    counts."""
    events: int
    """Number of synthetic events created."""
    capped: int
    """Number of memories whose `reinforce_count` is above 1,000, the maximum of events created; the
    payload of their ADD keeps the number."""
    unfit: tuple[SkippedNodes, ...]
    """Skipped memories and edges with the remedy; nothing was written for them."""
