"""Records of upkeep: compression, graduation, pruning, checks and rebuilds."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from graphmem.model.belief import Tier, Unit
from graphmem.model.terms import Instant, Record

Wait = Annotated[float, Field(ge=0, le=36_500, allow_inf_nan=False)]


class PrunePolicy(Record):
    """Days without a touch before each action, after Vector ELO except `compressed_days`."""

    archive_days: Wait = 30.0
    """Days until a VERY_LOW item is archived."""
    compress_days: Wait = 14.0
    """Days until a LOW item is compressed."""
    compressed_days: Wait = 30.0
    """Days until a LOW item is archived, counted from its compression at the earliest."""


class PruneAction(StrEnum):
    """Action of pruning on an item."""

    KEEP = "keep"
    COMPRESS = "compress"
    """Move the text to an archive and leave a summary."""
    ARCHIVE = "archive"
    """Hide the item; it can be restored."""


class PruneCandidate(Record):
    """A LOW or VERY_LOW item and the action chosen for it."""

    kind: str
    """Memory, Belief or Episode."""
    id: str
    text: str
    """Its first 200 characters."""
    elo: float
    """Rating, decayed to the time of the plan."""
    tier: Tier
    idle_days: float
    """Days since it was written or opened; being found is not a touch."""
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
    """Number of items examined: those of the scope that have a rating."""
    items: tuple[PruneCandidate, ...]
    """Items compressed or archived, lowest rating first."""
    kept: int
    """Number of LOW and VERY_LOW items that stay unchanged."""


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


Days = Annotated[float, Field(ge=0, le=36_500, allow_inf_nan=False)]


class UpkeepPolicy(Record):
    """Thresholds for the graduation and compression of episodes."""

    importance: Unit = 0.7
    """Minimum importance for graduation; episodes below it may be compressed."""
    accesses: Annotated[int, Field(ge=1, le=10**6)] = 3
    """Number of accesses after which an important episode graduates at any age."""
    graduate_days: Days = 14.0
    """Age in days at which an important episode graduates."""
    max_episodes: Annotated[int, Field(ge=1, le=1_000)] = 10
    """Maximum number of episodes that graduate in one cycle."""
    compress_days: Days = 30.0
    """Age in days at which an episode without accesses is compressed."""


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


class CompressedEpisode(Record):
    """An episode whose full text was moved to an archive; in a preview, is to be moved."""

    episode_id: str
    occurred_at: Instant
    characters: int
    """Number of characters of the full text."""
    kept: str
    """Text that stays: its summary, or else the one made from its text."""


class CompressionReport(Record):
    """Result of a run of compression or of its preview."""

    applied: bool
    """False for a preview, and if there was nothing to do."""
    episodes: tuple[CompressedEpisode, ...] = ()
    """Compressed episodes, oldest first."""


class RestoredEpisode(Record):
    """Result of `episodes.restore`."""

    episode_id: str
    changed: bool
    """False if it was not compressed."""
    event_id: str | None
    """Id of the RESTORE event; None if nothing changed."""


class Mismatch(Record):
    """A cached value that differs from its events."""

    kind: str
    """memory, belief or slot."""
    id: str
    cached: str
    found: str
    """Value computed from the events."""


class RebuildReport(Record):
    """Result of `verify` or `rebuild`."""

    wrong: tuple[Mismatch, ...]
    """Caches that differed from the events; `rebuild` corrects them, except for memories without
    events."""
    checkpointed: int = 0
    """Number of pieces of evidence that checkpoints contain."""


class SkippedNodes(Record):
    """Memories or SUPERSEDES edges that `backfill` skipped, all for one reason."""

    kind: str
    """memory or edge."""
    problem: str
    hint: str
    """Remedy; Cypher on `m`, a memory, or `s`, an edge."""
    count: int
    ids: tuple[str, ...]
    """Ids of the first of them: `newer -> older` for an edge, elementId() for a memory without an
    id."""


class BackfillReport(Record):
    """Result of `backfill`."""

    memories: int
    """Number of memories that had no event of their own scope and got one."""
    filled: int
    """Number of memories that had one and lacked something else."""
    embedded: int
    """Number of memories (new or repaired) that were embedded."""
    edges: int
    """Number of SUPERSEDES edges that got their event; of two between the same memories one
    counts."""
    events: int
    """Number of synthetic events created."""
    capped: int
    """Number of memories whose `reinforce_count` is above 1,000, the maximum of events created; the
    payload of their ADD keeps the number."""
    unfit: tuple[SkippedNodes, ...]
    """Skipped memories and edges with the remedy; nothing was written for them."""
