"""Decisions of people about what must not be believed again."""

from __future__ import annotations

from graphmem.model.terms import Instant, Record


class Rejection(Record):
    """Decision of a person that a value must not be believed again; `unreject` takes it back."""

    event_id: str
    rejected_at: Instant
    reason: str | None = None
    """Reason that the person gave; None if what the value was about was erased."""
    actor: str | None = None


class RejectionReceipt(Record):
    """Receipt of `reject` or `unreject`."""

    event_id: str
    rejected: bool
    """Whether the value is rejected afterwards."""
    changed: bool
    """False if it was so before."""
    memory_ids: tuple[str, ...] = ()
    """Ids of the memories that state the value, in any spelling."""
    belief_ids: tuple[str, ...] = ()
    """Ids of the beliefs that state the value, in any spelling."""
    repeated: bool = False
    """Whether this event id had been recorded before; the ids are then empty."""
