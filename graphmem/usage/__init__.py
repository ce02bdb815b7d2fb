"""Searches and reads that were logged, their ratings, audits, packs and dashboards."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from graphmem.model import QualityStats as QualityStats
from graphmem.model.memory import EventType, Status
from graphmem.model.terms import Instant, Rating, Record, Tier
from graphmem.rules.rating import quality_stats as quality_stats


class Severity(StrEnum):
    """Severity of an audit finding."""

    ERROR = "error"
    """The ratings lose what was done."""
    WARNING = "warning"
    """The protocol was not followed; the ratings are less exact."""
    INFO = "info"
    """Possibly intended."""


class AuditFinding(Record):
    """One violation of the search protocol."""

    code: str
    """keyword_for_concept, search_without_session, access_without_session, access_without_search,
    access_before_search or session_not_ended."""
    severity: Severity
    message: str
    """The problem and its remedy."""
    ids: tuple[str, ...]
    """Ids of the searches, of the items opened, or of the session followed by its items."""


class SessionAudit(Record):
    """Activity of one session."""

    id: str
    """Id of the event that started the session."""
    session_id: str
    agent: str | None
    scope: str
    started_at: Instant
    ended_at: Instant | None
    """None if the session is open or its end was erased."""
    searches: int
    accesses: int
    lost: int | None
    """Number of logged entries missing from the graph; None if unknown, because the session is open
    or was ended by rating."""


class Audit(Record):
    """Sessions of a period, and their findings, most severe first."""

    sessions: tuple[SessionAudit, ...]
    """Newest first."""
    findings: tuple[AuditFinding, ...]


class RatedItem(Record):
    """An item with its rating."""

    kind: str
    """Memory, Belief, Episode or Artifact."""
    id: str
    scope: str
    text: str | None
    """Text or name of the item; None if it no longer exists."""
    rating: Rating


class RatingReport(Record):
    """Result of rating the search log."""

    sessions: int
    """Number of ended sessions that were rated."""
    abandoned: int
    """Number of these that were never ended and had no entry for a day."""
    searches: int
    """Number of searches of which some results were opened and others were not."""
    updates: int
    """Number of ratings that changed."""


class RatingUpdate(Record):
    """Change of one rating by the games of one search."""

    search_id: str
    at: Instant
    kind: str
    id: str
    text: str | None
    before: float
    after: float


class UsageCount(Record):
    """One entry of the search log."""

    id: str
    at: Instant
    scope: str
    session_id: str | None
    """None if outside a session."""
    tool: str | None
    """Tool that searched; None for an access to one item."""
    query: str | None
    items: tuple[tuple[str, str, str | None], ...]
    """Kind, id and text of the item opened, or of the three best results."""


class UsageDashboard(Record):
    """Overview of what a memory is used for."""

    top: tuple[RatedItem, ...]
    """Highest rating first."""
    tiers: dict[Tier, int]
    """Number of items in each tier."""
    histogram: tuple[tuple[float, int], ...]
    """Lower bound of each step of 50 points and its number of items; empty steps are omitted."""
    activity: tuple[UsageCount, ...]
    """Newest first."""
    updates: tuple[RatingUpdate, ...]
    """Newest first."""


class UsageGoal(Record):
    """One goal of the ratings, and its value."""

    name: str
    wanted: str
    """Bound that the value must keep."""
    value: float | None
    """Share, or number of bytes; None if nothing was rated yet."""
    reached: bool | None
    """None if it is not known yet."""
    reason: str
    """Explanation of a goal that is not reached, or not known; else empty."""
    curve: tuple[tuple[int, float], ...]
    """Number of rated sessions and value then, at ten points; empty if only today's is known."""


class UsageGoals(Record):
    """The five goals of the ratings, measured on the search log."""

    sessions: int
    """Number of rated sessions in the log."""
    goals: tuple[UsageGoal, ...]


class RatingStep(Record):
    """Number of items of one kind in one step of ratings."""

    kind: str
    """Memory, Belief, Episode or Artifact."""
    min_elo: float
    """Lower bound of the step, inclusive."""
    below: float
    """Upper bound of the step, exclusive."""
    tier: Tier
    items: int
    total: float
    """Sum of the ratings."""


class ConsolidationWork(Record):
    """Recorded cost of consolidation, and the work that is waiting."""

    fresh: int
    """Number of episodes that the last finished run of their scope did not read."""
    decided: int
    """Number of clusters processed."""
    undecided: int
    """Number of clusters that have only failed so far."""
    failures: int
    """Number of failed attempts."""
    calls: int
    tokens_in: int
    tokens_out: int
    """Tokens of the language model's stored replies."""
    cost_usd: float
    """Cost in USD, as far as prices are known."""


class JobStatus(Record):
    """State of a background job of a tenant that a worker has run or is running."""

    job: str
    running: bool
    """Whether a worker holds its lease."""
    finished_at: Instant | None
    """End of the last successful run; None if there was none."""
    due_at: Instant | None
    """When it is due again; None while its first run has not ended."""
    failures: int
    """Number of failed runs since the last successful one."""
    error: str | None
    """Code of the error that ended the last run; None if it succeeded."""


class FailingUnit(Record):
    """A scope, session or item whose last attempt in a background job failed."""

    job: str
    scope: str
    unit: str
    """Name of the session or id of the item; '' for the scope as a whole."""
    code: str
    reason: str
    failures: int
    """Number of failed attempts in a row."""
    failed_at: Instant
    due_at: Instant
    """Time of the next attempt."""


class TenantStats(Record):
    """Statistics of one tenant, over all scopes, at one time."""

    tenant: str
    memories: Mapping[Status, int]
    beliefs: Mapping[Status, int]
    events: Mapping[EventType, int]
    """Every status and type has an entry, possibly 0."""
    episodes: int
    turns: int
    artifacts: int
    archives: int
    """Number of archived texts of compressed episodes."""
    ratings: tuple[RatingStep, ...]
    unrated: int
    """Number of ended sessions that are not rated yet."""
    unembedded: int
    """Number of beliefs without an embedding."""
    consolidation: ConsolidationWork
    jobs: tuple[JobStatus, ...]
    """Background jobs, by name."""
    failing: tuple[FailingUnit, ...] = ()
    """Scopes, sessions and items that a background job skips until their next attempt."""


class StoredCounts(Record):
    """Number of items that a tenant or a scope stores."""

    name: str
    """Name of the tenant or the scope."""
    memories: int
    beliefs: int
    episodes: int
    namespaces: int
    """Number of namespaces of JSON items."""


class TenantPage(Record):
    """A page of the tenants of a graph, by name."""

    tenants: tuple[StoredCounts, ...]
    next_cursor: str | None = None
    """Cursor of the next page; None after the last one."""


class ScopePage(Record):
    """A page of the scopes of a tenant, by name."""

    scopes: tuple[StoredCounts, ...]
    next_cursor: str | None = None
    """Cursor of the next page; None after the last one."""


class RollUpReport(Record):
    """Entries of the log that were replaced by their counts."""

    applied: bool
    """False if nothing was written."""
    sessions: int
    """Number of sessions with at least one search."""
    searches: int
    """Number of searches, in these sessions and outside any."""
    results: int
    """Number of results of these searches."""
    accesses: int = 0
    """Number of accesses to artifacts, in rated sessions and outside any."""
    artifacts: int = 0
    """Number of artifacts that were removed, because nothing refers to them any more."""


class DetailLevel(StrEnum):
    """Level of detail of an item in a pack."""

    WHOLE = "whole"
    SUMMARY = "summary"
    """Signatures of code, headings of Markdown, otherwise the first sentences."""
    POINTER = "pointer"
    """One line with its name."""
    LEFT_OUT = "left_out"


class PackItem(Record):
    """Placement of one item in a pack."""

    id: str
    kind: str
    ref: str
    """Path or other name; empty if the item has none."""
    elo: float | None
    """Decayed rating; None if never rated."""
    tier: Tier | None
    """None if never rated."""
    how: DetailLevel
    why: str
    """Reason, as a sentence."""
    tokens: int
    """Number of tokens of its part of the pack; 0 if left out."""
    sha256: str
    """Digest of its complete text in UTF-8, from which the part was made."""


class Pack(Record):
    """Items for a prompt: the most used in full, the least used left out."""

    text: str
    """Markdown; empty if it contains no item."""
    items: tuple[PackItem, ...]
    """Manifest: every item once, in the order of the text, including those left out."""
    budget: int
    """Maximum number of tokens."""
    tokens: int
    """Number of tokens; HIGH items are included regardless of the budget."""
    overflow: int
    """Number of tokens over the budget, >= 0; above 0 only if the pack has HIGH items only."""
    whole_tokens: int
    """Number of tokens if every item, also one left out, had a section with its id and text."""
    saved_tokens: int
    """`whole_tokens` minus `tokens`; negative if a line about an item is longer than its text."""
    saved_share: float
    """Saved share of `whole_tokens`, at most 1; 0 without items."""
    counted_by: str
    """Tokenizer: its name or that of a model."""
    blocked_paths: tuple[str, ...]
    """Patterns; an item whose ref matches one is left out, even if HIGH."""
