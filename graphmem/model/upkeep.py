"""What was found of the caches, and of memories that came without events."""

from __future__ import annotations

from graphmem.model.terms import Record


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
