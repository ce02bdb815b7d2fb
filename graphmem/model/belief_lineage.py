"""How beliefs came about: their chains, their histories and where they come from."""

from __future__ import annotations

from graphmem.model.belief import EvidenceKind
from graphmem.model.conversation import Turn
from graphmem.model.memory import ChainLink, Memory, MemoryEvent
from graphmem.model.terms import Instant, Record


class BeliefCard(Record):
    """What a belief says, without what is believed of it; its wording is that of now."""

    id: str
    scope: str
    statement: str
    subject: str | None
    predicate: str | None
    object: str | None
    status: str
    """current, superseded or archived."""
    created_at: Instant
    """When it was first stated, or spoken of."""
    recorded_at: Instant
    head_ids: tuple[str, ...] = ()
    """For a superseded belief: what stands at the end of its chain."""


class BeliefChain(Record):
    """All beliefs that took one another's place, and where it ends."""

    beliefs: tuple[BeliefCard, ...]
    links: tuple[ChainLink, ...]
    head_ids: tuple[str, ...]
    provisional: bool = False
    """The answer may still change: `known` is younger than the longest transaction."""


class BeliefEvent(MemoryEvent):
    """One line of a belief's history."""

    kind: EvidenceKind | None = None
    """Of evidence: which way it points."""
    confidence: float | None = None
    strength: float | None = None
    """Of testimony, as the sequential test counts it."""
    source_type: str | None = None
    retracted: bool = False
    """Evidence that was taken back."""
    target_id: str | None = None
    """Of a retraction: the event that it cancels."""
    memory_id: str | None = None
    """The memory whose text it was committed with."""


class EpisodeRef(Record):
    """An episode, as the place of an event."""

    id: str
    session_id: str | None
    summary: str | None
    occurred_at: Instant


class Provenance(Record):
    """Where a belief comes from."""

    belief: BeliefCard
    events: tuple[BeliefEvent, ...]
    """What states it and what counts as evidence: the newest of them, oldest first."""
    total: int
    """How many there are, shown or not."""
    turns: tuple[Turn, ...]
    """Whose words these events rest on."""
    episodes: tuple[EpisodeRef, ...]
    """In which they occurred, oldest first."""
    memories: tuple[Memory, ...]
    """Whose text claims it."""
    supersedes: tuple[ChainLink, ...]
    superseded_by: tuple[ChainLink, ...]
    provisional: bool = False
    """See `BeliefChain`."""
