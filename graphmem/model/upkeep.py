"""What was found of the caches."""

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


class Rebuilt(Record):
    """What `verify` or `rebuild` found, and what `rebuild` did."""

    wrong: tuple[Mismatch, ...]
    """What was not as the events say; after `rebuild` it is."""
    checkpointed: int = 0
    """Pieces of evidence that checkpoints hold now."""
