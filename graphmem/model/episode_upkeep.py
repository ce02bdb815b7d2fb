"""Upkeep of episodes: which graduate into a digest, which are compressed, and what was done."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from graphmem.model.belief import Unit
from graphmem.model.terms import Instant, Record

Days = Annotated[float, Field(ge=0, le=36_500, allow_inf_nan=False)]


class UpkeepPolicy(Record):
    """Which episodes graduate and which are compressed."""

    importance: Unit = 0.7
    """From here on an episode may graduate; below it, it may be compressed."""
    accesses: Annotated[int, Field(ge=1, le=10**6)] = 3
    """An important episode that was looked at so often graduates at any age."""
    graduate_days: Days = 14.0
    """An important episode graduates when it is so old."""
    most: Annotated[int, Field(ge=1, le=1_000)] = 10
    """Episodes that graduate in one cycle."""
    compress_days: Days = 30.0
    """An episode that nobody looked at is compressed when it is so old."""


class GraduatedEpisode(Record):
    """An episode that has, or would have, a line in a digest."""

    episode_id: str
    occurred_at: Instant
    line: str
    """As it was made, without the line's end."""
    added: bool
    """False: a line with this id was there already and stays as it is."""


class GraduationReport(Record):
    """What one cycle of graduation did, or would do."""

    applied: bool
    """False for a dry run, and when nothing was to be done."""
    file: str
    """Name of the digest's file, without its folder."""
    episodes: tuple[GraduatedEpisode, ...] = ()
    """The most important first."""
    more: bool = False
    """Others are left for the next cycle."""


class CompressedEpisode(Record):
    """An episode whose full text was, or would be, put into an archive."""

    episode_id: str
    occurred_at: Instant
    characters: int
    """Of the full text."""
    kept: str
    """What stays to be read: its summary, else what was made of its text."""


class CompressionReport(Record):
    """What a run of compression did, or would do."""

    applied: bool
    """False for a dry run, and when nothing was to be done."""
    episodes: tuple[CompressedEpisode, ...] = ()
    """The oldest first."""


class RestoredEpisode(Record):
    """What `restore_episode` did."""

    episode_id: str
    changed: bool
    """False: it was not compressed."""
    event_id: str | None
    """Of the RESTORE; None when nothing changed."""
