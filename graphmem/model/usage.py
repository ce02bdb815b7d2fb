"""Records of the use of memory: ratings, audits, packs, pruning and statistics."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from graphmem.model.memory import EventType, Status
from graphmem.model.terms import Instant, Record


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    """What was done is lost for the ratings."""
    WARNING = "warning"
    """It was done in another way than is good."""
    INFO = "info"
    """It may have been done for a good reason."""


class AuditFinding(Record):
    """What was done against the protocol."""

    code: str
    """keyword_for_concept, search_without_session, access_without_session, access_without_search,
    access_before_search or session_not_ended."""
    severity: Severity
    message: str
    """What was wrong, and what to do."""
    ids: tuple[str, ...]
    """Of the searches, of the items opened, or of the session; a session before its items."""


class SessionAudit(Record):
    """What was done in one session."""

    id: str
    """Of the event that began it."""
    session_id: str
    agent: str | None
    scope: str
    started_at: Instant
    ended_at: Instant | None
    """None: it goes on, or was forgotten."""
    searches: int
    accesses: int
    lost: int | None
    """How much of what was logged is not in the graph; None: nobody can tell, as it has not ended
    or was ended by rating."""


class Audit(Record):
    """Sessions of a time, and findings, the worst first."""

    sessions: tuple[SessionAudit, ...]
    """Newest first."""
    findings: tuple[AuditFinding, ...]


class Tier(StrEnum):
    """How much an item is used, by its faded rating; what was never rated has none."""

    HIGH = "HIGH"
    """1600 or more."""
    MEDIUM = "MEDIUM"
    """From 1200, where a rating begins, to below 1600."""
    LOW = "LOW"
    """From 800, where fading ends, to below 1200."""
    VERY_LOW = "VERY_LOW"
    """Below 800."""


class Rating(Record):
    """The rating of an item at the time of a read."""

    elo: float
    """Faded towards 800 since it was touched."""
    tier: Tier
    games: int
    """Pairs of results it was one of, >= 1."""
    touched_at: Instant
    """When it was last opened, or else first returned beside one that was."""


class RatedItem(Record):
    """An item and its rating."""

    kind: str
    """Memory, Belief, Episode or Artifact."""
    id: str
    scope: str
    text: str | None
    """What it says, or how it is called; None: it is no longer there."""
    rating: Rating


class RatingReport(Record):
    """What rating the log has done."""

    sessions: int
    """That had ended."""
    abandoned: int
    """Of these, sessions that nobody ended and that nothing was logged in for a day."""
    searches: int
    """Of which some results were opened and others were not."""
    updates: int
    """Ratings that changed."""


class RatingUpdate(Record):
    """What the games of one search made of one rating."""

    search_id: str
    at: Instant
    kind: str
    id: str
    text: str | None
    before: float
    after: float


class UsageCount(Record):
    """One thing that was logged."""

    id: str
    """Of the event."""
    at: Instant
    scope: str
    session_id: str | None
    """None: outside any session."""
    tool: str | None
    """Of a search; None: a look at one item."""
    query: str | None
    items: tuple[tuple[str, str, str | None], ...]
    """Kind, id and text of what was looked at, or of the three best results."""


class UsageDashboard(Record):
    """What a memory is really used for."""

    top: tuple[RatedItem, ...]
    """Highest rating first."""
    tiers: dict[Tier, int]
    """How many items are in each."""
    histogram: tuple[tuple[float, int], ...]
    """Where a step of 50 points begins, and the items in it; steps without items are left out."""
    activity: tuple[UsageCount, ...]
    """Newest first."""
    updates: tuple[RatingUpdate, ...]
    """Newest first."""


class QualityStats(Record):
    """What ratings say of a list of results; they had no part in ranking it."""

    results: int
    rated: int
    tiers: dict[Tier, int]
    mean_elo: float | None
    """Of those rated; None: none is."""
    high_in_top_five: float | None
    """Share of the first five results that are HIGH; None: no results."""


class RatingStep(Record):
    """How many items of a kind have a rating in a step."""

    kind: str
    """Memory, Belief, Episode or Artifact."""
    least: float
    """The step begins here."""
    below: float
    """And ends before this."""
    tier: Tier
    items: int
    total: float
    """Sum of their ratings."""


class ConsolidationWork(Record):
    """What consolidating has taken, as it was kept, and what waits for it."""

    fresh: int
    """Episodes that the last finished run of their scope had not seen."""
    decided: int
    """Clusters that were seen to."""
    undecided: int
    """Clusters that only went wrong so far."""
    failures: int
    """Attempts that went wrong."""
    calls: int
    tokens_in: int
    tokens_out: int
    """Of the language model's answers that were kept."""
    cost_usd: float
    """As far as prices are known."""


class TenantStats(Record):
    """All that is measured of one tenant, at one time, in all its scopes."""

    tenant: str
    memories: Mapping[Status, int]
    beliefs: Mapping[Status, int]
    events: Mapping[EventType, int]
    """Every status and type is there, if with 0."""
    episodes: int
    turns: int
    artifacts: int
    archives: int
    """Texts of compressed episodes."""
    ratings: tuple[RatingStep, ...]
    unrated: int
    """Sessions that have ended and are not rated yet."""
    unembedded: int
    """Beliefs that wait for an embedding."""
    consolidation: ConsolidationWork


class RollUpReport(Record):
    """Searches that gave way to their counts."""

    applied: bool
    """False: nothing was written."""
    sessions: int
    """In which something was searched for."""
    searches: int
    """In these sessions, and outside any."""
    results: int
    """That these searches returned."""


class DetailLevel(StrEnum):
    """How an item stands in a pack."""

    WHOLE = "whole"
    SUMMARY = "summary"
    """Signatures of code, headings of markdown, else the first sentences."""
    POINTER = "pointer"
    """One line that names it."""
    LEFT_OUT = "left_out"


class PackItem(Record):
    """What became of one item."""

    id: str
    kind: str
    ref: str
    """Its path or other name; empty when it has none."""
    elo: float | None
    """Its faded rating; None: never rated."""
    tier: Tier | None
    """None: never rated."""
    how: DetailLevel
    why: str
    """In words."""
    tokens: int
    """Of its part of the pack; 0 when it is left out."""
    sha256: str
    """Of its text, whole and in UTF-8: what the part was made of."""


class Pack(Record):
    """Items for a prompt, the most used whole and the least used left out."""

    text: str
    """In markdown; empty when nothing is in it."""
    items: tuple[PackItem, ...]
    """The manifest: every item once, in the order of the text; what is left out stands where it
    would have been."""
    budget: int
    """Tokens that it may have."""
    tokens: int
    """That it has, HIGH items whatever the budget."""
    overflow: int
    """Tokens over the budget, >= 0; only HIGH items are in a pack that is over it."""
    whole_tokens: int
    """That it would have with every item whole, those left out too."""
    saved_tokens: int
    """`whole_tokens` less `tokens`; below 0 when a line about an item is longer than its text."""
    saved_share: float
    """Of `whole_tokens`, at most 1; 0 without items."""
    counted_by: str
    """What counted the tokens: the name of a model, or of an estimate."""
    blocked_paths: tuple[str, ...]
    """Patterns; an item whose ref one of them matches is left out, HIGH too."""


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
