"""Reports of erasure, export, import and the upkeep of caches."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from graphmem.model.terms import Record


class ErasureTarget(StrEnum):
    """What can be forgotten."""

    MEMORY = "memory"
    BELIEF = "belief"
    EPISODE = "episode"
    SCOPE = "scope"
    TENANT = "tenant"


class RemainingNode(Record):
    """A node that stays and says the same words: what was forgotten came from it, or is like it."""

    label: str
    id: str


class ErasureReport(Record):
    """What erasure did, or would do."""

    what: ErasureTarget
    id: str
    applied: bool
    repeated: bool = False
    """It was forgotten before, and nothing of it was left to erase."""
    counts: dict[str, int] = Field(default_factory=dict)
    """Nodes that went, or would go, by label."""
    unmentioned: int = 0
    """Events and replies that stay and named it; they do not any more."""
    digest_lines: int = 0
    """Lines of digests that told of it."""
    left: int | None = None
    """Nodes that a second look found of it; None: nothing was erased yet."""
    elsewhere: tuple[RemainingNode, ...] = ()
    """Nodes that stay and hold the same words; 20 at most."""

    @property
    def clean(self) -> bool:
        """Whether the second look found nothing."""
        return self.left == 0


class ExportReport(Record):
    """What a file holds."""

    records: Mapping[str, int]
    """Nodes by label."""
    links: int
    """Relationships between them."""
    known: datetime
    """By the server's clock: what was recorded until then is in it, what came later is not."""
    resumed: int = 0
    """Records that an interrupted export had written already."""
    later: int = 0
    """Nodes that this call passed over since they were recorded later: by writers beside it, or by
    a server whose clock was ahead then."""


class ImportReport(Record):
    """What became of the records of a file."""

    tenant: str
    """Whose they were."""
    known: datetime
    """Until when, by the clock of the server they come from."""
    written: int
    """Nodes made."""
    links: int
    """Relationships made."""
    there: int
    """Nodes that were there already, just so."""
    kept: int
    """Nodes that were there, have gone on since, and stay as they are."""


class ForeignImportReport(Record):
    """What became of another memory's data."""

    done: Mapping[str, int]
    """Writes by what they did: episode, remember, supersede, deprecate, observe, retract. Those
    that an earlier run had done count as well."""
    refused: tuple[str, ...] = ()
    """Records that could not be taken, each with why."""
    unplaced: Mapping[str, int] = {}
    """Fields that have no place here, by record and name, and how often they were filled in."""


class Mismatch(Record):
    """One cache that its events do not bear out."""

    kind: str
    """memory, belief or slot."""
    id: str
    cached: str
    found: str
    """What the events say."""


class RebuildReport(Record):
    """What `verify` or `rebuild` found, and what `rebuild` did."""

    wrong: tuple[Mismatch, ...]
    """What was not as the events say; after `rebuild` it is, but for memories without events."""
    checkpointed: int = 0
    """Pieces of evidence that checkpoints hold now."""


class SkippedNodes(Record):
    """Memories, or SUPERSEDES edges, that `backfill` left as they are, all for one reason."""

    kind: str
    """memory or edge."""
    problem: str
    hint: str
    """What to do about it; Cypher on `m`, a memory, or `s`, an edge."""
    count: int
    ids: tuple[str, ...]
    """Of the first of them: of an edge `newer -> older`, of memories without an id what
    elementId() gives."""


class BackfillReport(Record):
    """What `backfill` did."""

    memories: int
    """That had no event of their own scope and have now."""
    filled: int
    """That had one and lacked something else."""
    embedded: int
    """Of these and those, that were given an embedding."""
    edges: int
    """SUPERSEDES edges that have their event now; of two between the same memories one counts."""
    events: int
    """Synthetic events that all of this took."""
    capped: int
    """Memories whose `reinforce_count` is above 1,000, which is as many as events were made; the
    payload of their ADD keeps the number."""
    unfit: tuple[SkippedNodes, ...]
    """What was left as it is, and what to do about it; nothing of it was written."""
