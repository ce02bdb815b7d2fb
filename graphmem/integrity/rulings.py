"""Compare the tombstones of rejected values with their events, and nodes with the tombstones."""

from __future__ import annotations

from typing import Any

from graphmem import stored
from graphmem.graph import catalog
from graphmem.integrity import Mismatch
from graphmem.ports import OnProgress, RequestContext, Tx
from graphmem.rules import drafts, rejections

PAGE = 500
KEYS = ("value_key", "statement_key")
"""Properties by which a memory or a belief is recognised as rejected."""

EVENTS = catalog.query("reject/events", dict)
MISSING = catalog.query("reject/find_missing", lambda row: (row["id"], row["tombstone"]))
RESTORE = catalog.query("reject/restore", catalog.ignored)
VALUES = catalog.query("reject/values", dict)
REFRESH = catalog.query("reject/refresh", catalog.ignored)


async def check(context: RequestContext, *, repair: bool, on_page: OnProgress) -> list[Mismatch]:
    """Return the rejections that a tombstone, a memory or a belief lacks.

    A tombstone may have more rulings than there are events, because it outlives erased ones.
    """
    wrong: list[Mismatch] = []
    tenant = context.tenant
    # An event that is being deleted has no properties.
    rows = [row for row in await context.fetch(EVENTS) if row["digest"] is not None]
    for page in drafts.batches(rows, PAGE):
        keyed = [
            row
            | {
                "tombstone": rejections.tombstone_id(row["scope"], row["digest"]),
                "value_key": rejections.value_key(tenant, row["digest"]),
            }
            for row in page
        ]
        given = [{name: row[name] for name in ("id", "tombstone", "value_key")} for row in keyed]
        lacking = set(await context.fetch(MISSING, events=given))
        wrong += (
            Mismatch(kind="rejection", id=one, cached="not in the tombstone", found="an event")
            for one in sorted({event_id for event_id, _ in lacking})
        )
        if repair and lacking:
            lost = [row for row in keyed if (row["id"], row["tombstone"]) in lacking]
            await context.fetch(RESTORE, events=lost)
        on_page("rejection", len(page))
    for label in ("Memory", "Belief"):
        wrong += await _items(context, label, repair=repair, on_page=on_page)
    return wrong


async def _items(
    context: RequestContext, label: str, *, repair: bool, on_page: OnProgress
) -> list[Mismatch]:
    wrong: list[Mismatch] = []
    after = ""
    while rows := await context.fetch(VALUES, label=label, after=after, limit=PAGE):
        after = rows[-1]["id"]
        # Nor has a memory or a belief that is being deleted.
        rows = [row for row in rows if row["scope"] is not None]
        right = [row | rejections.item_keys(context.tenant, row) for row in rows]
        found = [
            (stored, row)
            for stored, row in zip(rows, right, strict=True)
            if any(stored[name] != row[name] for name in KEYS) or not stored["current"]
        ]
        wrong += (
            Mismatch(
                kind=label.lower(),
                id=row["id"],
                cached=f"value {stored['value_key']}, rulings otherwise",
                found=f"value {row['value_key']}",
            )
            for stored, row in found
        )
        if repair and found:
            await _refresh(context, [row for _, row in found])
        on_page("rejection", len(rows))
    return wrong


async def _refresh(context: RequestContext, rows: list[dict[str, Any]]) -> None:
    items = [{name: row[name] for name in ("label", "id", *KEYS)} for row in rows]

    async def work(tx: Tx) -> None:
        await stored.lock(tx)
        await tx.fetch(REFRESH, items=items)

    await context.write(work)
