"""Roll up the search log: searches give way to their counts once their ratings are checkpointed.

Looks stay: how easily a belief comes to mind, which episodes stay whole and what a card says rest
on them. Ratings, audits and dashboards alone read searches, and these are ten times as many.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem import catalog
from graphmem.model import EventType, RollUpReport
from graphmem.ports import OnPart, RequestContext, Tx
from graphmem.rules import drafts

PAGE = 50
"""Sessions of one transaction."""
ALONE = 500
"""Searches outside any session, of one transaction."""

ROLLABLE = catalog.query("attention/rollable", dict)
CHECKPOINT = catalog.query("attention/checkpoint", dict)
ROLL_UP = catalog.query("attention/roll_up", catalog.ignored)
ROLLABLE_ALONE = catalog.query("attention/rollable_alone", dict)
FIND_ALONE = catalog.query("attention/alone", dict)
ROLL_UP_ALONE = catalog.query("attention/roll_up_alone", catalog.ignored)


async def rollable(to: RequestContext, before: datetime) -> RollUpReport:
    """Return what `roll_up` would take."""

    async def work(tx: Tx) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        within = await tx.fetch(ROLLABLE, tenant=to.wall.tenant, before=before)
        [alone] = await tx.fetch(ROLLABLE_ALONE, tenant=to.wall.tenant, before=before)
        return within, alone

    within, alone = await to.world.graph.read(work)
    found = within[0] if within else {"sessions": 0, "searches": 0, "results": 0}
    return RollUpReport(applied=False, **{name: n + alone.get(name, 0) for name, n in found.items()})


async def roll_up(to: RequestContext, before: datetime, on_part: OnPart) -> RollUpReport:
    """Roll up settled sessions that ended before an instant, and older searches outside any.

    Sessions go in the order in which they ended, up to the first that did not end before. Safe to
    interrupt and to run in several places at once: what is removed and the ratings that rest on it
    are checkpointed in one transaction.
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
    while alone := await to.world.graph.write(lambda tx: _alone(to, tx, before)):
        counted["searches"] += len(alone)
        counted["results"] += sum(row["results"] for row in alone)
        on_part("search", len(alone))
    return RollUpReport(applied=True, **counted)


async def _alone(to: RequestContext, tx: Tx, before: datetime) -> list[dict[str, Any]]:
    """Roll up a page of searches outside any session: nothing is rated by them."""
    rows = await tx.fetch(FIND_ALONE, tenant=to.wall.tenant, before=before, limit=ALONE)
    by_scope: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_scope[row["scope"]].append(row)
    if rows:
        events = [_of_alone(scope, found, to) for scope, found in sorted(by_scope.items())]
        await tx.fetch(ROLL_UP_ALONE, tenant=to.wall.tenant, events=events)
    return rows


def _of_alone(scope: str, rows: Sequence[Mapping[str, Any]], to: RequestContext) -> dict[str, Any]:
    told = {"searches": len(rows), "results": sum(row["results"] for row in rows)}
    return {
        # Of several that are removed together the first gives its name: it is gone with them.
        "id": f"roll_{rows[0]['id']}",
        "ids": [row["id"] for row in rows],
        "scope": scope,
        "type": EventType.ROLL_UP,
        "occurred_at": to.world.clock.now(),
        "request_hash": drafts.request_hash(scope, EventType.ROLL_UP, rows[0]["id"]),
        "payload": json.dumps(told),
    }


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
