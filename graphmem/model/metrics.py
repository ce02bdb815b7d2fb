"""How much a tenant's part of the graph holds, and what waits in it: what monitoring is told."""

from __future__ import annotations

from collections.abc import Mapping

from graphmem.model.memory import EventType, Status
from graphmem.model.rating import Tier
from graphmem.model.terms import Record


class RatingStep(Record):
    """How many items of a kind have a rating in a step."""

    kind: str
    """Memory, Belief, Episode or Artifact."""
    least: float
    """The step begins here."""
    below: float
    """And ends before this."""
    tier: Tier
    items: int
    total: float
    """Sum of their ratings."""


class ConsolidationWork(Record):
    """What consolidating has taken, as it was kept, and what waits for it."""

    fresh: int
    """Episodes that the last finished run of their scope had not seen."""
    decided: int
    """Clusters that were seen to."""
    undecided: int
    """Clusters that only went wrong so far."""
    failures: int
    """Attempts that went wrong."""
    calls: int
    tokens_in: int
    tokens_out: int
    """Of the language model's answers that were kept."""
    cost_usd: float
    """As far as prices are known."""


class TenantStats(Record):
    """All that is measured of one tenant, at one time, in all its scopes."""

    tenant: str
    memories: Mapping[Status, int]
    beliefs: Mapping[Status, int]
    events: Mapping[EventType, int]
    """Every status and type is there, if with 0."""
    episodes: int
    turns: int
    artifacts: int
    archives: int
    """Texts of compressed episodes."""
    ratings: tuple[RatingStep, ...]
    unrated: int
    """Sessions that have ended and are not rated yet."""
    unembedded: int
    """Beliefs that wait for an embedding."""
    consolidation: ConsolidationWork
