"""What callers say of a text that they offer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

from graphmem.client.state import valid
from graphmem.errors import InvalidInputError
from graphmem.model import NewMemory, Triple


class Origin(TypedDict, total=False):
    """Where a text comes from; every part is optional."""

    id: str
    """Makes the write idempotent."""
    at: datetime
    """When it was said, with a time zone; now by default."""
    tags: Sequence[str]
    source: str
    """For example manual, hook, import."""
    actor: str
    artifact_ref: str
    """A file name, an address, a session."""


class Said(Origin, total=False):
    """Where a text comes from and what it asserts."""

    claims: Sequence[Triple | tuple[str, str, str]]
    """Subject, predicate and object of each; the text is a piece of evidence for it."""
    confidence: float
    """In the claims, in [0, 1]; 0.8 by default."""
    source_type: str
    """Of that evidence: EXPLICIT by default, or another that has a weight."""


def unclaimed(content: str, origin: Origin) -> NewMemory:
    """Return a text that nothing is claimed with.

    Raises:
        InvalidInputError: an argument does not fit, claims among them.
    """
    wish = valid(NewMemory, content=content, **origin)
    if wish.claims:
        raise InvalidInputError(
            "Claims are taken by `remember` only.",
            hint="Remember the text with its claims first: the same text is then found again.",
        )
    return wish
