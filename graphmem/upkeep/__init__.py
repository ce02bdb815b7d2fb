"""Compression, graduation and pruning of unused data."""

from __future__ import annotations

from enum import StrEnum

from graphmem.model.policies import PrunePolicy as PrunePolicy
from graphmem.model.policies import UpkeepPolicy as UpkeepPolicy
from graphmem.model.terms import Instant, Record, Tier


class PinReceipt(Record):
    """Receipt of `episodes.pin` or `episodes.unpin`."""

    event_id: str
    episode_id: str
    pinned: bool
    """Whether pruning leaves the episode alone from now on."""


class PruneAction(StrEnum):
    """Action of pruning on an item."""

    KEEP = "keep"
    COMPRESS = "compress"
    """Move the text to an archive and leave a summary."""
    ARCHIVE = "archive"
    """Hide the item; it can be restored."""


class PruneCandidate(Record):
    """A LOW or VERY_LOW episode and the action chosen for it."""

    kind: str
    """Episode; memories and beliefs are never pruned."""
    id: str
    text: str
    """Its first 200 characters."""
    elo: float
    """Rating, decayed to the time of the plan."""
    tier: Tier
    idle_days: float
    """Days since it was written or opened; being found is not a touch."""
    returned_days: float | None
    """Days since a search returned it or one of its turns; None if the search log has no entry."""
    action: PruneAction
    reason: str
    """Reason, as a sentence with its numbers."""
    sha256: str
    """Digest of its complete text in UTF-8 before pruning."""


class PruneReport(Record):
    """Result of pruning or of its preview."""

    applied: bool
    """False for a preview, and if there was nothing to do."""
    run_id: str | None
    """Id to restore the whole run by; None if nothing was written."""
    at: Instant
    rated: int
    """Number of episodes of the scope that have a rating."""
    items: tuple[PruneCandidate, ...]
    """Items compressed or archived, lowest rating first."""
    kept: int
    """Number of LOW and VERY_LOW episodes that stay unchanged."""


class PruneRecord(Record):
    """One line of a run's manifest: an item it compressed or archived."""

    run_id: str
    at: Instant
    kind: str
    id: str
    text: str
    """Its first 200 characters."""
    action: PruneAction
    elo: float
    """Rating at that time."""
    reason: str
    sha256: str
    """Digest of its text before pruning."""
    away: bool
    """Whether it has not been restored since."""


class PruneRestoreReport(Record):
    """Result of restoring pruned items."""

    items: int
    """Number of items restored now; those restored before are not counted."""


class GraduatedEpisode(Record):
    """An episode with a line in a digest; in a preview, the line to add."""

    episode_id: str
    occurred_at: Instant
    line: str
    """The line, without its line ending."""
    added: bool
    """False if a line with this id existed; it stays unchanged."""


class GraduationReport(Record):
    """Result of one cycle of graduation or of its preview."""

    applied: bool
    """False for a preview, and if there was nothing to do."""
    file: str
    """Name of the digest file, without its folder."""
    episodes: tuple[GraduatedEpisode, ...] = ()
    """The most important first."""
    more: bool = False
    """Whether other episodes are left for the next cycle."""
    failed: tuple[FailedItem, ...] = ()
    """Episodes that were skipped, because the write about them failed."""


class CompressedEpisode(Record):
    """An episode whose text is archived or whose turns are not searched; planned in a preview."""

    episode_id: str
    occurred_at: Instant
    characters: int
    """Number of characters of the full text, or of the turns."""
    kept: str
    """Text that recall finds: its summary, or else the one made from its text."""
    turns: int = 0
    """Number of turns that state nothing and are not searched any more; their words stay."""


class CompressionReport(Record):
    """Result of a run of compression or of its preview."""

    applied: bool
    """False for a preview, and if there was nothing to do."""
    episodes: tuple[CompressedEpisode, ...] = ()
    """Compressed episodes, oldest first."""
    failed: tuple[FailedItem, ...] = ()
    """Episodes that were skipped, because the write about them failed."""


class RestoredEpisode(Record):
    """Result of `episodes.restore`."""

    episode_id: str
    changed: bool
    """False if it was not compressed."""
    event_id: str | None
    """Id of the RESTORE event; None if nothing changed."""


class FailedItem(Record):
    """An item that was skipped, because the work on it failed."""

    id: str
    code: str
    problem: str
