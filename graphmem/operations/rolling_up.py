"""Roll up the search log: searches give way to their counts once their ratings are checkpointed.

Looks stay: how easily a belief comes to mind, which episodes stay whole and what a card says rest
on them. Ratings, audits and dashboards alone read searches, and these are ten times as many.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from graphmem import catalog
from graphmem.model import EventType, RolledUp
from graphmem.ports import Binding, OnPart, Tx
from graphmem.rules import drafts

PAGE = 50
"""Sessions of one transaction."""

ROLLABLE = catalog.query("attention/rollable", dict)
CHECKPOINT = catalog.query("attention/checkpoint", dict)
ROLL_UP = catalog.query("attention/roll_up", catalog.ignored)


async def rollable(to: Binding, before: datetime) -> RolledUp:
    """Return what `roll_up` would take."""
    rows = await to.world.graph.read(
        lambda tx: tx.fetch(ROLLABLE, tenant=to.wall.tenant, before=before)
    )
    found = rows[0] if rows else {"sessions": 0, "searches": 0, "results": 0}
    return RolledUp(applied=False, **found)


async def roll_up(to: Binding, before: datetime, on_part: OnPart) -> RolledUp:
    """Roll up settled sessions that ended before an instant, some a transaction.

    In the order in which they ended, up to the first that did not end before. Safe to interrupt
    and to run in several places at once: what is removed and the ratings that rest on it are
    checkpointed in one transaction.
    """
    counted = {"sessions": 0, "searches": 0, "results": 0}

    async def work(tx: Tx) -> list[dict[str, Any]]:
        rows = await tx.fetch(CHECKPOINT, tenant=to.wall.tenant, before=before, sessions=PAGE)
        events = [_event(row, to.world.clock.now()) for row in rows if row["searches"]]
        if events:
            await tx.fetch(ROLL_UP, tenant=to.wall.tenant, events=events)
        return rows

    while rows := await to.world.graph.write(work):
        counted["sessions"] += sum(row["searches"] > 0 for row in rows)
        for name in ("searches", "results"):
            counted[name] += sum(row[name] for row in rows)
        on_part("session", len(rows))
    return RolledUp(applied=True, **counted)


def _event(row: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    told = {name: row[name] for name in ("searches", "results", "games")}
    return {
        "id": f"roll_{row['id']}",
        "scope": row["scope"],
        "type": EventType.ROLL_UP,
        "occurred_at": now,
        "request_hash": drafts.request_hash(row["scope"], EventType.ROLL_UP, row["id"]),
        "actor": row["agent"],
        "within": row["id"],
        "payload": json.dumps({**json.loads(row["payload"]), **told}, ensure_ascii=False),
    }
