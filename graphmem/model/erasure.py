"""Erasure: what is forgotten, and what a second look finds of it."""

from __future__ import annotations

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
