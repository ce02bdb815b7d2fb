"""What is looked at: the full card of an item, and memories that nobody has said for long."""

from __future__ import annotations

from graphmem.model.belief import Belief
from graphmem.model.belief_lineage import BeliefEvent, EpisodeRef
from graphmem.model.conversation import Episode, Turn
from graphmem.model.memory import Memory, MemoryEvent
from graphmem.model.terms import Instant, Record

Item = Memory | Belief | Turn | Episode
"""Anything that can be looked at."""


class ChainNeighbor(Record):
    """What stands next to a memory or a belief in its chain, and the event that put it there."""

    id: str
    text: str
    """The memory's content, or the belief's statement."""
    status: str
    event_id: str
    occurred_at: Instant
    in_force: bool
    """False once the older one came back."""


class Card(Record):
    """All that is kept of one item, and where it comes from; `why` has the arithmetic."""

    item: Item
    events: tuple[MemoryEvent | BeliefEvent, ...] = ()
    """Of a memory what happened to it, of a belief what states it and counts as evidence: the 20
    newest, oldest of them first."""
    turns: tuple[Turn, ...] = ()
    """Of a memory or a belief, whose words these events rest on; of a turn, the three said before
    it and the three after it; of an episode, its first 100, in their order."""
    episodes: tuple[EpisodeRef, ...] = ()
    """In which the events occurred or the turn was said, oldest first."""
    supersedes: tuple[ChainNeighbor, ...] = ()
    """What it was put in the place of, oldest first; 20 of each at most."""
    superseded_by: tuple[ChainNeighbor, ...] = ()
    """What was put in its place, oldest first."""
    claims: tuple[Belief, ...] = ()
    """Of a memory, what its text asserts, the newest first; 100 at most."""
    accesses: int
    """How often it was expanded before, in the scopes of the reader, as far as that is written."""
    last_access_at: Instant | None
    """When last; None: never."""


class StaleMemory(Record):
    """A current memory that nobody has said for long; it may no longer be true."""

    memory: Memory
    """Its `lost_ids` say which of its claims have lost."""
    days: float
    """Since it was last said."""
    trace: float
    """How much its history counts now, >= 0."""


class StalePage(Record):
    """Some of these, longest ago first."""

    memories: tuple[StaleMemory, ...]
    next_cursor: str | None
    """Pass it on to get the next page; None on the last one."""
