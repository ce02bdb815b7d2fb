"""Erasure of memories, beliefs, episodes, scopes and tenants, and its guard."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from graphmem.model.terms import Record

__all__ = ["ErasureReport", "ErasureTarget", "RemainingNode"]


class ErasureTarget(StrEnum):
    """Kind of data that `forget` erases."""

    MEMORY = "memory"
    BELIEF = "belief"
    EPISODE = "episode"
    SCOPE = "scope"


class RemainingNode(Record):
    """A remaining node with the same text: the source of the erased data, or a similar one."""

    label: str
    id: str


class ErasureReport(Record):
    """Result of an erasure or of its preview."""

    what: ErasureTarget | Literal["tenant"]
    id: str
    applied: bool
    repeated: bool = False
    """Whether it was erased before and nothing was left to erase."""
    counts: dict[str, int] = Field(default_factory=dict)
    """Number of erased nodes by label; for a preview, of nodes to erase."""
    unmentioned: int = 0
    """Number of remaining events and replies from which its id was removed."""
    digest_lines: int = 0
    """Number of digest lines that mentioned it."""
    left: int | None = None
    """Number of its nodes found by a second search; None if nothing was erased yet."""
    elsewhere: tuple[RemainingNode, ...] = ()
    """Remaining nodes with the same text; at most 20."""

    @property
    def clean(self) -> bool:
        """Whether the second search found nothing."""
        return self.left == 0
