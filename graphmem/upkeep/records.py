"""Records of upkeep: compression, graduation, pruning, checks and rebuilds."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

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


class Mismatch(Record):
    """A cached value that differs from its events."""

    kind: str
    """memory, belief, slot, episode or rejection."""
    id: str
    cached: str
    found: str
    """Value computed from the events."""


class SealReport(Record):
    """Result of sealing."""

    events: int
    """Number of events sealed."""
    seals: int
    """Number of seals appended."""
    seal: str | None
    """Id of the newest seal; None if there is none."""
    head: str | None
    """Digest of the newest seal, over all events sealed until now: keep it elsewhere."""
    until: Instant | None
    """Recording time up to which every event is sealed."""


class SealState(Record):
    """Counts of a check of seals."""

    seals: int
    """Number of seals."""
    head: str | None
    """Digest of the newest seal; None if there is none."""
    until: Instant | None
    """Recording time up to which every event is sealed."""
    sealed: int
    """Number of events that are as they were when they were sealed."""
    erased: int
    """Number of entries of events that were erased, or redacted by an erasure and sealed again."""
    contents: int
    """Number of memories, beliefs, turns, episodes, names and predicates as they were sealed."""
    unsealed: int
    """Number of events without a seal so far, without those of the search log."""
    late: int | None = None
    """Number of events that were sealed after later ones: redacted, imported, or recorded by a
    clock that was set back; None for a file."""
    late_ids: tuple[str, ...] = ()
    """Ids of these events: each was erased from, imported, or added afterwards."""
    asked_in: str | None = None
    """Id of the seal with the digest that was asked for; None if none was, or none has it."""


class RebuildReport(Record):
    """Result of `verify` or `rebuild`."""

    wrong: tuple[Mismatch, ...]
    """Caches that differed from the events; `rebuild` corrects them, except for memories without
    events."""
    checkpointed: int = 0
    """Number of pieces of evidence that checkpoints contain."""
    seals: SealState | None = None
    """Counts of the check of seals; None for `rebuild`."""


class SkippedMemories(Record):
    """Memories that `backfill` skipped, all for one reason."""

    problem: str
    hint: str
    """Remedy; Cypher on `m`, a memory."""
    count: int
    ids: tuple[str, ...]
    """Ids of the first of them; elementId() for a memory without a valid id."""


class BackfillReport(Record):
    """Result of `backfill`."""

    memories: int
    """Number of memories that had no event of their own scope and got one."""
    skipped: tuple[SkippedMemories, ...]
    """Skipped memories with the remedy; nothing was written for them."""


JobName = Literal[
    "extract", "consolidate", "rate", "graduate", "compress", "plan_pruning", "roll_up", "seal"
]


class FailedItem(Record):
    """An item that was skipped, because the work on it failed."""

    id: str
    code: str
    """Code of the error."""
    problem: str


class FailedUnit(Record):
    """A unit of work that failed in a background job; the other units were served."""

    tenant: str
    job: JobName
    scope: str | None
    """Scope of the unit; None if the job has the tenant as its unit."""
    unit: str | None
    """Name of the session or id of the item; None for the scope as a whole."""
    code: str
    """Code of the error."""
    problem: str
    failures: int
    """Number of failed attempts in a row."""
    retry_s: float
    """Seconds until the next attempt."""


class JobRun(Record):
    """One run of a background job for a tenant, over all its scopes."""

    tenant: str
    job: JobName
    at: Instant
    """Start of the run."""
    seconds: float
    """Duration of the run."""
    done: int
    """Number of results: proposals, changed beliefs, episodes, sessions or planned actions."""
    summary: str
    """Number and kind of the results, or the reason of the failure."""
    error: str | None = None
    """Code of the error that ended the run; None if every scope was tried."""
    failed: tuple[FailedUnit, ...] = ()
    """Scopes, sessions and items that failed; each is skipped until its next attempt is due."""
    waiting: int = 0
    """Number of units that were skipped, because they failed before."""


class WorkerReport(Record):
    """Runs of the background jobs that were due."""

    tenants: int
    """Number of tenants examined."""
    runs: tuple[JobRun, ...]
    """The runs, in order."""
