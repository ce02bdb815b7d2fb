"""Rate what was used, and read ratings and the activity behind them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from graphmem.graph import catalog
from graphmem.model import EventType, Rating, Tier
from graphmem.ports import OnProgress, RequestContext
from graphmem.rules import drafts, rating
from graphmem.usage import (
    RatedItem,
    RatingReport,
    RatingUpdate,
    UsageCount,
    UsageDashboard,
)

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


def read_params(context: RequestContext, kinds: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of a read of ratings, which decay until now."""
    return {
        "kinds": list(kinds),
        "valid": context.services.clock.now(),
        "rating_decay": rating.decay_params(rating.from_settings(context.services.settings)),
    }


async def settle(context: RequestContext, on_progress: OnProgress) -> RatingReport:
    """Rate the new log entries of the tenant, in batches of sessions.

    The call is safe to interrupt and to run concurrently: each session is rated once, in order of
    the sessions' ends.
    """
    abandoned = await _end_abandoned(context)
    counted = {"sessions": 0, "searches": 0, "updates": 0}
    by = asdict(rating.from_settings(context.services.settings))
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
        RATINGS, min_elo=min_elo, below=below, limit=limit, **read_params(context, kinds)
    )
    return [_item(row, by) for row in rows]


async def attention(context: RequestContext, kinds: Sequence[str], limit: int) -> UsageDashboard:
    """Return the top items, the rating histogram, and the latest log entries and updates."""
    asked, by = read_params(context, kinds), rating.from_settings(context.services.settings)
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
