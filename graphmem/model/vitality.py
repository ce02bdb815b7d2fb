"""How alive a belief is: how easily it comes to mind, how well founded and how settled it is."""

from __future__ import annotations

from graphmem.model.terms import Instant, Record


class Vitality(Record):
    """What the events seen at a pair of times make of a belief's life; docs/beliefs.md says how."""

    retrieval: float
    """R in [0, 1]: how easily it comes to mind; it fades until it is looked at or supported."""
    stability_days: float
    """S, 1 to 365: the time constant with which R fades at ordinary importance."""
    storage: int
    """How many pieces of evidence count, for it and against it."""
    last_access_at: Instant | None
    """When it was last looked at, in the scopes of the reader; None: never."""
    mean: float
    """In [0, 1]: the initial confidence and all evidence, each weighted by its precision."""
    precision: float
    """Of the mean, from 1: the sum of all weights."""
    gate: float
    """In [0.1, 0.9]: a prediction error that a contradiction must pass to unsettle it."""
    flagged_at: Instant | None
    """Since when it is flagged for revision; None: it is not."""
    importance: float
    """In [0, 1]: the greatest of the episodes that support it; 0.5 when there is none."""
    derived: bool
    """It was only inferred by consolidation: nobody stated it, and nothing else supports it."""


class StatusReceipt(Record):
    """What `archive`, `restore_belief` or `resolve` did."""

    event_id: str
    belief_id: str
    changed: bool
    """Whether it made a difference; False: it was so already, or a later event says otherwise."""
    status: str
    """Of the belief after it: current, superseded or archived."""
    flagged: bool
    """Whether it is flagged for revision after it."""
    repeated: bool = False
    """True when this very event id had been recorded before."""
