"""Integrity: caches are compared with the events and rebuilt, and events are sealed."""

from __future__ import annotations

from graphmem.model.terms import Instant, Record


class Mismatch(Record):
    """A cached value that differs from its events."""

    kind: str
    """memory, belief, slot, episode or rejection."""
    id: str
    cached: str
    found: str
    """Value computed from the events."""


class SealReport(Record):
    """Result of sealing."""

    events: int
    seals: int
    seal: str | None
    """Id of the newest seal; None if there is none."""
    head: str | None
    """Digest of the newest seal, over all events sealed until now: keep it elsewhere."""
    until: Instant | None
    """Recording time up to which every event is sealed."""


class SealState(Record):
    """Counts of a check of seals."""

    seals: int
    head: str | None
    """Digest of the newest seal; None if there is none."""
    until: Instant | None
    """Recording time up to which every event is sealed."""
    sealed: int
    """Number of events that are as they were when they were sealed."""
    erased: int
    """Number of entries of events that were erased, or redacted by an erasure and sealed again."""
    contents: int
    """Number of memories, beliefs, turns, episodes, names and predicates as they were sealed."""
    unsealed: int
    """Number of events without a seal so far, without those of the search log."""
    late: int | None = None
    """Number of events that were sealed after later ones: redacted, imported, or recorded by a
    clock that was set back; None for a file."""
    late_ids: tuple[str, ...] = ()
    """Ids of these events: each was erased from, imported, or added afterwards."""
    asked_in: str | None = None
    """Id of the seal with the digest that was asked for; None if none was, or none has it."""


class RebuildReport(Record):
    """Result of `verify` or `rebuild`."""

    wrong: tuple[Mismatch, ...]
    """Caches that differed from the events; `rebuild` corrects them, except for memories without
    events."""
    checkpointed: int = 0
    """Number of pieces of evidence that checkpoints contain."""
    seals: SealState | None = None
    """Counts of the check of seals; None for `rebuild`."""


class SkippedMemories(Record):
    """Memories that `backfill` skipped, all for one reason."""

    problem: str
    hint: str
    """Remedy; Cypher on `m`, a memory."""
    count: int
    ids: tuple[str, ...]
    """Ids of the first of them; elementId() for a memory without a valid id."""


class BackfillReport(Record):
    """Result of `backfill`."""

    memories: int
    """Number of memories that had no event of their own scope and got one."""
    skipped: tuple[SkippedMemories, ...]
    """Skipped memories with the remedy; nothing was written for them."""
