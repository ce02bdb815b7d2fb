"""Pruning: what nobody uses is compressed or put away, and can be brought back."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from graphmem.model.rating import Tier
from graphmem.model.terms import Instant, Record

Wait = Annotated[float, Field(ge=0, le=36_500, allow_inf_nan=False)]


class PrunePolicy(Record):
    """After how many days without a touch; Vector ELO, the last one is ours."""

    archive_days: Wait = 30.0
    """A VERY_LOW item is archived."""
    compress_days: Wait = 14.0
    """A LOW item is compressed."""
    compressed_days: Wait = 30.0
    """A LOW item is archived, counted from its compression at the earliest."""


class PruneAction(StrEnum):
    """What becomes of an item."""

    KEEP = "keep"
    COMPRESS = "compress"
    """Its text goes to an archive, and a summary stays in its place."""
    ARCHIVE = "archive"
    """It is hidden; it can be restored."""


class PruneCandidate(Record):
    """A LOW or VERY_LOW item, and what becomes of it."""

    kind: str
    """Memory, Belief or Episode."""
    id: str
    text: str
    """Its first 200 characters."""
    elo: float
    """Faded to the time of the plan."""
    tier: Tier
    idle_days: float
    """Since it was written or opened; to be found is no touch."""
    fate: PruneAction
    reason: str
    """In words, with its numbers."""
    sha256: str
    """Of its text before, whole and in UTF-8."""


class PruneReport(Record):
    """What pruning did, or would do."""

    applied: bool
    """False for a plan, and when nothing was to be done."""
    run_id: str | None
    """By which all of it is restored; None: nothing was written."""
    at: Instant
    rated: int
    """Items that were looked at: those of the scope that have a rating."""
    items: tuple[PruneCandidate, ...]
    """Those that are compressed or archived, the lowest rating first."""
    kept: int
    """LOW and VERY_LOW items that stay for now."""


class PruneRecord(Record):
    """What an earlier run compressed or archived: a line of its manifest."""

    run_id: str
    at: Instant
    kind: str
    id: str
    text: str
    """Its first 200 characters."""
    fate: PruneAction
    elo: float
    """At that time."""
    reason: str
    sha256: str
    """Of its text before."""
    away: bool
    """Nothing has brought it back since."""


class PruneRestoreReport(Record):
    """What was brought back."""

    items: int
    """That are now as they were; those that somebody had brought back already are not counted."""
