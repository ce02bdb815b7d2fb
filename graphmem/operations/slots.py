"""Read slots page by page, each with its best candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphmem import catalog
from graphmem.model import Candidate, Slot, SlotPage
from graphmem.ports import RequestContext
from graphmem.rules import asking, claims, moments, paging
from graphmem.rules.asking import ReadOptions
from graphmem.rules.conflicts import consistent

SLOTS = catalog.query("belief/slots", dict)


@consistent
async def slot_page(
    to: RequestContext, by: ReadOptions, subject: str | None, *, cursor: str | None, limit: int, values: int
) -> SlotPage:
    """Return one page of slots that evidence speaks of, and the cursor of the next.

    Args:
        to: where.
        by: as of when, and by which policy.
        subject: of the slots; None: all of them.
        cursor: where the page before ended.
        limit: slots at most.
        values: candidates of each at most, the best.

    Raises:
        InvalidInputError: the cursor was not made by `slot_page`, or `known` lies in the future.
    """
    after = paging.key(cursor, 3)
    params = asking.params(by, to.wall, to.world.settings, to.world.clock.now())
    rows = await to.world.graph.read(
        lambda tx: tx.fetch(
            SLOTS,
            **params,
            subject=None if subject is None else claims.folded(subject),
            after_scope=after[0],
            after_subject=after[1],
            after_predicate=after[2],
            slots=limit,
            limit=values,
        )
    )
    for row in rows[:1]:
        moments.refuse_future(by.as_of, row["now"])
    last = rows[-1] if len(rows) == limit else None
    keys = ("scope", "subject_key", "predicate_key")
    return SlotPage(
        slots=tuple(_slot(row, by, params) for row in rows),
        next_cursor=paging.keyed(*(last[key] for key in keys)) if last else None,
    )


def _slot(row: Mapping[str, Any], by: ReadOptions, params: Mapping[str, Any]) -> Slot:
    found = row["candidates"]
    # Of evidence that was taken back nothing is left, not even how the slot was written.
    return Slot(
        scope=row["scope"],
        subject=found[0]["subject"] if found else row["subject_key"],
        predicate=row["predicate"] or row["predicate_key"],
        policy=claims.policy_of(row["policy"]),
        candidates=tuple(
            Candidate(**{k: v for k, v in c.items() if k != "subject"}) for c in found
        ),
        total=row["total"],
        valid=params["valid"],
        provisional=moments.is_provisional(by.as_of, row["now"]),
        names=tuple(row["names"][1:]),
    )
