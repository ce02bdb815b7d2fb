"""Settle the search log, and read what it says of the items that searches return."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from graphmem import catalog
from graphmem.model import (
    EventType,
    RatedItem,
    Rating,
    RatingReport,
    RatingUpdate,
    Tier,
    UsageCount,
    UsageDashboard,
)
from graphmem.ports import OnPart, RequestContext
from graphmem.rules import drafts, rating
from graphmem.rules.conflicts import consistent
from graphmem.rules.rating import STANDARD

RATING_PAGE = 50
"""Sessions of one transaction."""
ENDS = 500
DROPPED = 2_000
STEP = 50.0
"""Points of a bar of the histogram."""
ABANDONED = timedelta(days=1)
"""A session that nobody ends is over when nothing was logged in it for so long."""

ABANDONED_SESSIONS = catalog.query("attention/abandoned", dict)
END = catalog.query("attention/end", catalog.ignored)
RATE = catalog.query("attention/rate", dict)
FORGET = catalog.query("attention/forget_ratings", lambda row: row["dropped"])
RATINGS = catalog.query("attention/ratings", dict)
SPREAD = catalog.query("attention/spread", dict)
RECENT = catalog.query("attention/recent", dict)
UPDATES = catalog.query("attention/updates", lambda row: RatingUpdate(**row))


async def settle(to: RequestContext, on_part: OnPart) -> RatingReport:
    """Rate what is new in the log of the tenant, some sessions a transaction.

    Safe to interrupt and to run in several places at once: each session is settled once, in the
    order in which they ended.
    """
    abandoned = await _end_abandoned(to)
    counted = {"sessions": 0, "searches": 0, "updates": 0}
    while True:
        found = await to.world.graph.write(
            lambda tx: tx.fetch(
                RATE, tenant=to.wall.tenant, sessions=RATING_PAGE, by=rating.sent(STANDARD)
            )
        )
        if not found:
            return RatingReport(abandoned=abandoned, **counted)
        [done] = found
        counted = {name: counted[name] + done[name] for name in counted}
        on_part("session", done["sessions"])


async def settle_again(to: RequestContext, on_part: OnPart) -> RatingReport:
    """Drop all ratings of the tenant and settle its log from the beginning."""
    while True:
        [dropped] = await to.world.graph.write(
            lambda tx: tx.fetch(FORGET, tenant=to.wall.tenant, limit=DROPPED)
        )
        if not dropped:
            return await settle(to, on_part)
        on_part("rating", dropped)


@consistent
async def items(
    to: RequestContext, tier: Tier | None, kinds: Sequence[str], limit: int
) -> list[RatedItem]:
    """Return what is rated highest, of a tier or of all."""
    least, below = rating.bounds(tier)
    rows = await to.world.graph.read(
        lambda tx: tx.fetch(RATINGS, least=least, below=below, limit=limit, **_read(to, kinds))
    )
    return [_item(row) for row in rows]


@consistent
async def attention(to: RequestContext, kinds: Sequence[str], limit: int) -> UsageDashboard:
    """Return the top, the spread, and what was logged and rated last."""
    asked, seen = _read(to, kinds), {"tenant": to.wall.tenant, "scopes": list(to.wall.scopes)}
    least, below = rating.bounds(None)

    async def work(tx: Any) -> tuple[list[Any], list[Any], list[Any], list[RatingUpdate]]:
        return (
            await tx.fetch(RATINGS, least=least, below=below, limit=limit, **asked),
            await tx.fetch(SPREAD, step=STEP, **asked),
            await tx.fetch(RECENT, limit=limit, **seen),
            await tx.fetch(UPDATES, limit=limit, **seen),
        )

    top, spread, recent, updates = await to.world.graph.read(work)
    tiers = dict.fromkeys(Tier, 0)
    for step in spread:
        tiers[rating.tier(step["least"])] += step["items"]
    return UsageDashboard(
        top=tuple(_item(row) for row in top),
        tiers=tiers,
        histogram=tuple((step["least"], step["items"]) for step in spread),
        activity=tuple(_activity(row) for row in recent),
        updates=tuple(updates),
    )


async def _end_abandoned(to: RequestContext) -> int:
    """End the sessions that nobody ended, each at what was logged in it last."""
    before = to.world.clock.now() - ABANDONED
    rows = await to.world.graph.read(
        lambda tx: tx.fetch(ABANDONED_SESSIONS, tenant=to.wall.tenant, before=before)
    )
    for start in range(0, len(rows), ENDS):
        await _end(to, [_ended(row) for row in rows[start : start + ENDS]])
    return len(rows)


async def _end(to: RequestContext, events: Sequence[Mapping[str, Any]]) -> None:
    await to.world.graph.write(lambda tx: tx.fetch(END, tenant=to.wall.tenant, events=events))


def _ended(row: Mapping[str, Any]) -> Mapping[str, Any]:
    told = {"session_id": json.loads(row["payload"])["session_id"], "abandoned": True}
    return {
        # Made of the beginning, so that two who see to it at once end it once.
        "id": f"end_{row['id']}",
        "scope": row["scope"],
        "type": EventType.SESSION_END,
        "occurred_at": row["last_at"],
        "request_hash": drafts.request_hash(row["scope"], EventType.SESSION_END, row["id"]),
        "actor": row["agent"],
        "within": row["id"],
        "payload": json.dumps(told, ensure_ascii=False),
    }


def _read(to: RequestContext, kinds: Sequence[str]) -> dict[str, Any]:
    return {
        "tenant": to.wall.tenant,
        "scopes": list(to.wall.scopes),
        "kinds": list(kinds),
        "valid": to.world.clock.now(),
        "fade": rating.fade(STANDARD),
    }


def _item(row: Mapping[str, Any]) -> RatedItem:
    return RatedItem(
        kind=row["kind"],
        id=row["id"],
        scope=row["scope"],
        text=row["text"],
        rating=Rating(
            elo=row["elo"],
            tier=rating.tier(row["elo"]),
            games=row["games"],
            touched_at=row["touched_at"],
        ),
    )


def _activity(row: Mapping[str, Any]) -> UsageCount:
    told = json.loads(row["payload"]) if row["payload"] else {}
    return UsageCount(
        id=row["id"],
        at=row["at"],
        scope=row["scope"],
        session_id=row["actor"],
        tool=told.get("tool"),
        query=told.get("query"),
        items=tuple((one["kind"], one["id"], one["text"]) for one in row["items"]),
    )
