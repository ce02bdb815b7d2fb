"""Compute ratings, audits, packs and statistics of a tenant."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from graphmem.conversation.tokens import TOKENIZER, count_tokens
from graphmem.graph import catalog
from graphmem.model import EventType, Rating, Status, Tier
from graphmem.ports import OnProgress, Query, RequestContext, Services
from graphmem.rules import drafts, rating, read_options
from graphmem.usage import (
    Audit,
    ConsolidationWork,
    FailingUnit,
    JobStatus,
    Pack,
    RatedItem,
    RatingReport,
    RatingStep,
    RatingUpdate,
    ScopePage,
    SessionAudit,
    StoredCounts,
    TenantPage,
    TenantStats,
    UsageCount,
    UsageDashboard,
    UsageGoals,
    findings,
    packs,
)
from graphmem.usage import goals as rated_goals
from graphmem.usage.findings import LoggedAccess, LoggedSearch, LoggedSession
from graphmem.usage.packs import PackBudget, PackEntry

RATING_PAGE = 50
"""Sessions per transaction."""
ENDS = 500
DROPPED = 2_000
STEP = 50.0
"""Width of a histogram bar, in rating points."""
ABANDONED = timedelta(days=1)
"""Time without log entries after which an open session counts as ended."""

ABANDONED_SESSIONS = catalog.query("usage/unclosed_sessions", dict)
END = catalog.query("usage/end_sessions", catalog.ignored)
RATE = catalog.query("usage/rate", dict)
FORGET = catalog.query("usage/forget_ratings", lambda row: row["dropped"])
RATINGS = catalog.query("usage/ratings", dict)
SPREAD = catalog.query("usage/rating_histogram", dict)
RECENT = catalog.query("usage/recent_log", dict)
UPDATES = catalog.query("usage/rating_updates", lambda row: RatingUpdate(**row))
DASHBOARD = catalog.together(RATINGS, SPREAD, RECENT, UPDATES)

AUDIT_PAGE = 500
UNNAMED = "unnamed agent"

SESSIONS = catalog.query("usage/sessions", dict)
SESSIONLESS = catalog.query("usage/sessionless", dict)

MAX_PACK, MAX_PACKED = 10_000_000, 10_000
"""Maximum tokens and rated items of a pack."""
Shorten: TypeAlias = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]
"""Returns the short forms of ids."""
PACKABLE = catalog.query("usage/pack_candidates", dict)

RATED_SESSIONS = catalog.query("usage/rated_sessions", dict)
FADED = catalog.query("usage/faded", dict)
SHORT_TERM = catalog.query("usage/short_term_size", dict)
GOALS = catalog.together(FADED, SHORT_TERM, PACKABLE)
GOAL_PAGE = 200
"""Sessions per read."""

S = TypeVar("S", Status, EventType)

TIER_STEP = 100.0
"""Width of a histogram bar in rating points; every tier starts at a multiple of it."""

SIZES = catalog.query("metrics/sizes", dict)
TENANTS = catalog.query("schema/tenants", lambda row: StoredCounts(**row))
KNOWN: Query[bool] = catalog.query("metrics/known", lambda row: row["known"])
SCOPES = catalog.query("metrics/scopes", lambda row: StoredCounts(**row))
TIERS = catalog.query("metrics/ratings", dict)
WORK = catalog.query("metrics/work", dict)
JOBS = catalog.query("metrics/jobs", lambda row: JobStatus(**row))
FAILING = catalog.query("metrics/failing_units", lambda row: FailingUnit(**row))
STATS = catalog.together(SIZES, TIERS, WORK, JOBS, FAILING)


async def settle(context: RequestContext, on_progress: OnProgress) -> RatingReport:
    """Rate the new log entries of the tenant, in batches of sessions.

    The call is safe to interrupt and to run concurrently: each session is rated once, in order of
    the sessions' ends.
    """
    abandoned = await _end_abandoned(context)
    counted = {"sessions": 0, "searches": 0, "updates": 0}
    by = rating.rating_params(rating.from_settings(context.services.settings))
    while True:
        found = await context.fetch(RATE, sessions=RATING_PAGE, by=by)
        if not found:
            return RatingReport(abandoned=abandoned, **counted)
        [done] = found
        counted = {name: counted[name] + done[name] for name in counted}
        on_progress("session", done["sessions"])


async def settle_again(context: RequestContext, on_progress: OnProgress) -> RatingReport:
    """Delete all ratings of the tenant and rate its log again from the start."""
    while True:
        [dropped] = await context.fetch(FORGET, limit=DROPPED)
        if not dropped:
            return await settle(context, on_progress)
        on_progress("rating", dropped)


async def items(
    context: RequestContext, tier: Tier | None, kinds: Sequence[str], limit: int
) -> list[RatedItem]:
    """Return the highest rated items, of one tier or of all."""
    by = rating.from_settings(context.services.settings)
    min_elo, below = rating.tier_bounds(tier, by)
    rows = await context.fetch(
        RATINGS, min_elo=min_elo, below=below, limit=limit, **_read(context, kinds)
    )
    return [_item(row, by) for row in rows]


async def attention(context: RequestContext, kinds: Sequence[str], limit: int) -> UsageDashboard:
    """Return the top items, the rating histogram, and the latest log entries and updates."""
    asked, by = _read(context, kinds), rating.from_settings(context.services.settings)
    min_elo, below = rating.tier_bounds(None, by)

    bounds = {"min_elo": min_elo, "below": below, "step": STEP, "limit": limit}
    [(top, spread, recent, updates)] = await context.fetch(DASHBOARD, **bounds, **asked)
    tiers = dict.fromkeys(Tier, 0)
    for step in spread:
        tiers[rating.tier(step["min_elo"], by)] += step["items"]
    return UsageDashboard(
        top=tuple(_item(row, by) for row in top),
        tiers=tiers,
        histogram=tuple((step["min_elo"], step["items"]) for step in spread),
        activity=tuple(_activity(row) for row in recent),
        updates=tuple(updates),
    )


async def _end_abandoned(context: RequestContext) -> int:
    """End abandoned sessions, each at the time of its last log entry."""
    before = context.services.clock.now() - ABANDONED
    rows = await context.fetch(ABANDONED_SESSIONS, before=before)
    for part in drafts.batches(rows, ENDS):
        await context.fetch(END, events=[_ended(row) for row in part])
    return len(rows)


def _ended(row: Mapping[str, Any]) -> Mapping[str, Any]:
    payload = {"session_id": json.loads(row["payload"])["session_id"], "abandoned": True}
    # The id derives from the session's start, so concurrent calls write the end once.
    event_id, scope, kind = f"end_{row['id']}", row["scope"], EventType.SESSION_END
    event = drafts.event(event_id, scope, kind, row["last_at"], (scope, kind, row["id"]), payload)
    return {**event, "actor": row["agent"], "within": row["id"]}


def _read(context: RequestContext, kinds: Sequence[str]) -> dict[str, Any]:
    return {
        "kinds": list(kinds),
        "valid": context.services.clock.now(),
        "rating_decay": rating.decay_params(rating.from_settings(context.services.settings)),
    }


def _item(row: Mapping[str, Any], by: rating.Rating) -> RatedItem:
    return RatedItem(
        kind=row["kind"],
        id=row["id"],
        scope=row["scope"],
        text=row["text"],
        rating=Rating(
            elo=row["elo"],
            tier=rating.tier(row["elo"], by),
            games=row["games"],
            touched_at=row["touched_at"],
        ),
    )


def _activity(row: Mapping[str, Any]) -> UsageCount:
    payload = json.loads(row["payload"]) if row["payload"] else {}
    return UsageCount(
        id=row["id"],
        at=row["at"],
        scope=row["scope"],
        session_id=row["actor"],
        tool=payload.get("tool"),
        query=payload.get("query"),
        items=tuple((one["kind"], one["id"], one["text"]) for one in row["items"]),
    )


class _Log:
    """Log entries in the form that the audit rules take."""

    def __init__(self) -> None:
        self.searches: list[LoggedSearch] = []
        self.accesses: list[LoggedAccess] = []
        self.sessions: list[LoggedSession] = []
        self.audits: list[SessionAudit] = []

    def session(self, row: Mapping[str, Any]) -> None:
        """Add a session with its entries."""
        name = json.loads(row["payload"])["session_id"]
        ends = [one for one in row["entries"] if one["type"] == EventType.SESSION_END]
        gone = [one for one in row["entries"] if one["type"] == EventType.ROLL_UP]
        # After a roll-up it is unknown which search an access followed.
        for one in () if gone else row["entries"]:
            self.entry(one, name)
        n_searches = sum(one["type"] == EventType.SEARCH for one in row["entries"])
        n_searches += sum(json.loads(one["payload"])["searches"] for one in gone)
        n_accesses = sum(one["type"] == EventType.ACCESS for one in row["entries"])
        n_accesses += sum(json.loads(one["payload"]).get("accesses", 0) for one in gone)
        logged = json.loads(ends[0]["payload"]).get("logged") if ends else None
        ended_at = ends[0]["at"] if ends else None
        agent = row["agent"]
        self.sessions.append(LoggedSession(name, agent or UNNAMED, row["started_at"], ended_at))
        self.audits.append(
            SessionAudit(
                id=row["id"],
                session_id=name,
                agent=agent,
                scope=row["scope"],
                started_at=row["started_at"],
                ended_at=ended_at,
                searches=n_searches,
                accesses=n_accesses,
                lost=None if logged is None else logged - n_searches - n_accesses,
            )
        )

    def entry(self, one: Mapping[str, Any], session_id: str | None) -> None:
        """Add one search or access; skip accesses to deleted items."""
        # An event that is being deleted has no type: the read is made again.
        kind = EventType(one["type"])
        if kind is EventType.SEARCH:
            payload = json.loads(one["payload"])
            asked = payload["tool"], payload["query"]
            self.searches.append(
                LoggedSearch(one["id"], session_id, *asked, one["at"], one["results"])
            )
        elif kind is EventType.ACCESS and one["item_id"] is not None:
            self.accesses.append(LoggedAccess(one["item_id"], session_id, one["at"]))


async def audit(
    context: RequestContext, since: datetime, until: datetime, session: str | None
) -> Audit:
    """Return the sessions that started in a period, by recording time, and their findings.

    Args:
        since: start of the period, inclusive.
        until: end of the period, exclusive.
        session: id of the only session to audit; entries outside sessions are then left out.
    """
    log = _Log()
    async for row in _rows(context, SESSIONS, since, until):
        if session in (None, json.loads(row["payload"])["session_id"]):
            log.session(row)
    if session is None:
        async for row in _rows(context, SESSIONLESS, since, until):
            log.entry(row["entry"], None)
    now = context.services.clock.now()
    return Audit(
        sessions=tuple(sorted(log.audits, key=lambda one: (one.started_at, one.id), reverse=True)),
        findings=tuple(findings.audit_findings(log.searches, log.accesses, log.sessions, now)),
    )


async def _rows(
    context: RequestContext,
    query: Query[dict[str, Any]],
    since: datetime,
    until: datetime,
) -> AsyncIterator[dict[str, Any]]:
    fetch = partial(context.fetch, query, since=since, until=until)
    async for rows in read_options.pages(fetch, at="recorded_at", size=AUDIT_PAGE):
        for row in rows:
            yield row


async def pack(
    context: RequestContext,
    by: PackBudget,
    kinds: Sequence[str],
    most: int,
    root: Path | None,
    shorten: Shorten,
) -> Pack:
    """Return the highest rated items as a pack.

    Args:
        most: maximum number of rated items, and of unrated memories in each scope.
        root: folder whose files and documents are packed with their text; None to pack names only.
    """
    rows = await context.fetch(PACKABLE, **_read(context, kinds), known=None, limit=most)
    return await _packed(context, rows, by, root, shorten)


async def _packed(
    context: RequestContext,
    rows: Sequence[dict[str, Any]],
    by: PackBudget,
    root: Path | None,
    shorten: Shorten,
) -> Pack:
    rule = rating.from_settings(context.services.settings)
    short = await shorten([row["id"] for row in rows])
    entries = []
    for row in rows:
        tier = None if row["elo"] is None else rating.tier(row["elo"], rule)
        text = row.pop("text") or await _text(context, row, root) or row["ref"]
        entries.append(PackEntry(**row, text=text, tier=tier, short=short.get(row["id"], "")))
    return packs.build_pack(entries, by)


async def _text(context: RequestContext, row: dict[str, str], root: Path | None) -> str | None:
    """Return the text of a file below the root; None for anything else."""
    if root is None or row["kind"] not in ("file", "document"):
        return None
    return await context.services.files.below(root, row["ref"])


async def goals(context: RequestContext, kinds: Sequence[str], shorten: Shorten) -> UsageGoals:
    """Return the goals of the ratings, measured on the log in the read scopes."""
    found: list[dict[str, Any]] = []
    after = 0
    while rows := await context.fetch(
        RATED_SESSIONS, after_position=after, top=rated_goals.TOP, limit=GOAL_PAGE
    ):
        after = rows[-1]["position"]
        found += [row for row in rows if row["searches"] or row["opened"]]
        if len(rows) < GOAL_PAGE:
            break
    rule = rating.from_settings(context.services.settings)
    points = rated_goals.replayed(found, rule)
    asked = list({one for point in points for one in (*point.opened, *point.shown) if one})
    [(faded, [size], packable)] = await context.fetch(
        GOALS,
        **_read(context, kinds),
        ratings=[one._asdict() for one in asked],
        known=None,
        limit=MAX_PACKED,
    )
    everything = PackBudget(MAX_PACK, count_tokens, TOKENIZER)
    packed = await _packed(context, packable, everything, None, shorten)
    high = {asked[row["n"]] for row in faded if rating.tier(row["elo"], rule) is Tier.HIGH}
    return rated_goals.measured(
        points,
        high,
        rule,
        packed,
        float(size["characters"] + rated_goals.ENTRY_BYTES * size["entries"]),
    )


async def read(services: Services, tenant: str) -> TenantStats:
    """Return the statistics of a tenant, read in one transaction.

    It counts nodes, so its duration is proportional to their number.
    """
    by = rating.from_settings(services.settings)
    [(sizes, ratings, [waiting], jobs, failing)] = await services.fetch(
        STATS,
        tenant=tenant,
        valid=services.clock.now(),
        rating_decay=rating.decay_params(by),
        step=TIER_STEP,
    )
    counted = {(row["kind"], row["state"]): row["items"] for row in sizes}
    unrated, unembedded = waiting.pop("unrated"), waiting.pop("unembedded")
    return TenantStats(
        tenant=tenant,
        memories=_by(counted, "memory", Status),
        beliefs=_by(counted, "belief", Status),
        events=_by(counted, "event", EventType),
        episodes=counted.get(("episode", None), 0),
        turns=counted.get(("turn", None), 0),
        artifacts=counted.get(("artifact", None), 0),
        archives=counted.get(("archive", None), 0),
        ratings=tuple(
            RatingStep(
                **row, below=row["min_elo"] + TIER_STEP, tier=rating.tier(row["min_elo"], by)
            )
            for row in ratings
        ),
        unrated=unrated,
        unembedded=unembedded,
        consolidation=ConsolidationWork(**waiting),
        jobs=tuple(jobs),
        failing=tuple(failing),
    )


def _by(
    counted: Mapping[tuple[str, str | None], int], kind: str, states: Iterable[S]
) -> dict[S, int]:
    return {state: counted.get((kind, state), 0) for state in states}


async def tenants(services: Services, *, cursor: str | None, limit: int) -> TenantPage:
    """Return one page of the tenants with data, by name; the only read of all tenants' names."""
    [after] = read_options.parse_key_cursor(cursor, 1)
    page = tuple(await services.fetch(TENANTS, after=after, limit=limit))
    return TenantPage(tenants=page, next_cursor=_cursor_after(page, limit))


async def scopes(context: RequestContext, *, cursor: str | None, limit: int) -> ScopePage:
    """Return one page of the scopes of the tenant with data, by name."""
    [after] = read_options.parse_key_cursor(cursor, 1)
    asked = {"tenant": context.tenant, "after": after, "limit": limit}
    page = tuple(await context.services.fetch(SCOPES, **asked))
    return ScopePage(scopes=page, next_cursor=_cursor_after(page, limit))


async def is_known(context: RequestContext) -> bool:
    """Return whether the tenant has any data; search logs alone do not count."""
    [known] = await context.services.fetch(KNOWN, tenant=context.tenant)
    return known


def _cursor_after(page: Sequence[StoredCounts], limit: int) -> str | None:
    return read_options.key_cursor(page[-1].name) if len(page) == limit else None
