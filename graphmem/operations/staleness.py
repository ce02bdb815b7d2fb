"""Find current memories that nobody has said for long."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from graphmem import catalog
from graphmem.model import Memory, StaleMemory, StalePage
from graphmem.ports import RequestContext, Tx
from graphmem.rules import asking, assertions, moments, paging, tracerank
from graphmem.rules.asking import ReadOptions
from graphmem.rules.conflicts import consistent

STALE = catalog.query("attention/stale", dict)
STALE_LOST = catalog.query("belief/lost", lambda row: row["lost"])

DAY = timedelta(days=1)


@consistent
async def stale_page(to: RequestContext, days: int, *, cursor: str | None, limit: int) -> StalePage:
    """Return one page of memories last said more than `days` ago, and the cursor of the next.

    Raises:
        InvalidInputError: the cursor was not made by a page.
    """
    after_at, after_id = paging.position(cursor)
    now = to.world.clock.now()
    asked = asking.params(ReadOptions(), to.wall, to.world.settings, now)
    wanted = {name: asked[name] for name in ("tenant", "scopes", "valid", "known")}
    wanted |= {
        "until": now - timedelta(days=days),
        "after_at": after_at or moments.BEGINNING,
        "after_id": after_id or "",
        "trace": tracerank.trace_params(tracerank.STANDARD_TRACE),
        "limit": limit,
    }

    async def work(tx: Tx) -> tuple[Sequence[Mapping[str, Any]], Collection[str]]:
        rows = await tx.fetch(STALE, **wanted)
        claimed = {claim for row in rows for claim in row["card"]["claim_ids"]}
        if not claimed:
            return rows, ()
        [lost] = await tx.fetch(STALE_LOST, **asked, ids=sorted(claimed))
        return rows, lost

    rows, lost = await to.world.graph.read(work)
    found = []
    for row in rows:
        memory = assertions.judged(Memory(**row["card"]), lost)
        found.append(
            StaleMemory(memory=memory, days=(now - memory.last_seen_at) / DAY, trace=row["trace"])
        )
    last = found[-1].memory if len(found) == limit else None
    return StalePage(
        memories=tuple(found),
        next_cursor=paging.cursor(last.last_seen_at, last.id) if last else None,
    )
