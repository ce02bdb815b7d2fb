"""Read memories, pages of memories, stale memories and traces."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from graphmem import catalog
from graphmem.model import (
    AsOf,
    Memory,
    Page,
    StaleMemory,
    StalePage,
    Status,
    Trace,
    TraceContribution,
)
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, formulas, read_options
from graphmem.rules.conflicts import retry_conversion
from graphmem.rules.read_options import ReadOptions

GET = catalog.query("memory/get", lambda row: Memory(**row["card"]))
GET_AS_OF = catalog.query("memory/get_as_of", dict)
LOST = catalog.query("belief/find_lost", lambda row: row["lost"])
LIST = catalog.query("memory/list", lambda row: Memory(**row["card"]))
LIST_AS_OF = catalog.query("memory/list_as_of", dict)


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Filter for a list of memories."""

    tags: tuple[str, ...] = ()
    """Tags that a memory must all have."""
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    statuses: tuple[Status, ...] = (Status.CURRENT,)


@retry_conversion
async def get(context: RequestContext, memory_id: str, as_of: AsOf | None = None) -> Memory:
    """Return a memory, whatever its status, and which of its claims have lost.

    Raises:
        NotFoundError: no visible memory has this id, or had it at `as_of`.
        InvalidInputError: `as_of.known` is in the future.
    """

    async def work(tx: Tx) -> list[Memory]:
        if as_of is None:
            found = await tx.fetch(GET, ids=[memory_id])
        else:
            times = read_options.time_bounds(as_of)
            [then] = await tx.fetch(GET_AS_OF, ids=[memory_id], **times)
            found = _memories(then, provisional=read_options.is_provisional(as_of, then["now"]))
        return [await _judged(tx, context, memory, as_of) for memory in found]

    found = await context.read(work)
    if not found:
        raise read_options.memory_not_found(memory_id, as_of)
    return found[0]


async def _judged(tx: Tx, context: RequestContext, memory: Memory, as_of: AsOf | None) -> Memory:
    if not memory.claim_ids:
        return memory
    params = context.read_params(LOST, ReadOptions(as_of or AsOf()))
    [lost] = await tx.fetch(LOST, **params, ids=list(memory.claim_ids))
    return claims.mark_lost_claims(memory, lost)


@retry_conversion
async def memory_page(
    context: RequestContext,
    want: MemoryFilter,
    *,
    cursor: str | None,
    limit: int,
    as_of: AsOf | None = None,
) -> Page:
    """Return one page of memories, newest first, and the cursor of the next.

    Raises:
        InvalidInputError: `cursor` was not returned by `memory_page`, or `as_of.known` is in the
            future.
    """
    before_at, before_id = read_options.parse_time_cursor(cursor)
    wanted = {
        "statuses": list(want.statuses),
        "tags": list(want.tags),
        "source": want.source,
        "since": want.since,
        "until": want.until,
        "before_at": before_at,
        "before_id": before_id,
        "limit": limit,
    }
    if as_of is None:
        found, provisional = (await context.fetch(LIST, **wanted), False)
    else:
        [then] = await context.fetch(LIST_AS_OF, **wanted, **read_options.time_bounds(as_of))
        provisional = read_options.is_provisional(as_of, then["now"])
        found = _memories(then, provisional=provisional)
    last = found[-1] if len(found) == limit else None
    return Page(
        memories=tuple(found),
        next_cursor=read_options.time_cursor(last.created_at, last.id) if last else None,
        provisional=provisional,
    )


def _memories(then: Mapping[str, Any], *, provisional: bool) -> list[Memory]:
    return [Memory(**card, provisional=provisional) for card in then["cards"]]


STALE = catalog.query("usage/stale", dict)

DAY = timedelta(days=1)


@retry_conversion
async def stale_page(
    context: RequestContext, days: int, *, cursor: str | None, limit: int
) -> StalePage:
    """Return one page of memories last seen more than `days` ago, and the cursor of the next.

    Raises:
        InvalidInputError: `cursor` was not returned by `stale_page`.
    """
    after_at, after_id = read_options.parse_time_cursor(cursor)
    now = context.services.clock.now()
    wanted = context.read_params(STALE, ReadOptions(), now) | {
        "until": now - timedelta(days=days),
        "after_at": after_at or read_options.BEGINNING,
        "after_id": after_id or "",
        "trace": formulas.trace_params(formulas.STANDARD_TRACE),
        "limit": limit,
    }

    async def work(tx: Tx) -> tuple[Sequence[Mapping[str, Any]], Collection[str]]:
        rows = await tx.fetch(STALE, **wanted)
        claimed = {claim for row in rows for claim in row["card"]["claim_ids"]}
        if not claimed:
            return rows, ()
        params = context.read_params(LOST, ReadOptions(), now)
        [lost] = await tx.fetch(LOST, **params, ids=sorted(claimed))
        return rows, lost

    rows, lost = await context.read(work)
    found = []
    for row in rows:
        memory = claims.mark_lost_claims(Memory(**row["card"]), lost)
        found.append(
            StaleMemory(memory=memory, days=(now - memory.last_seen_at) / DAY, trace=row["trace"])
        )
    last = found[-1].memory if len(found) == limit else None
    return StalePage(
        memories=tuple(found),
        next_cursor=read_options.time_cursor(last.last_seen_at, last.id) if last else None,
    )


TRACE = catalog.query("recall/trace", dict)


@retry_conversion
async def explain(
    context: RequestContext, memory_id: str, as_of: AsOf | None, *, limit: int
) -> Trace:
    """Return the trace of a memory, computed from its events, and the newest of them."""
    asked, by = as_of or AsOf(), formulas.STANDARD_TRACE
    valid = asked.valid or context.services.clock.now()
    rows = await context.fetch(
        TRACE,
        id=memory_id,
        valid=valid,
        known=asked.known,
        trace=formulas.trace_params(by),
        limit=limit,
    )
    if not rows:
        raise read_options.memory_not_found(memory_id, as_of)
    [row] = rows
    return Trace(
        at=valid,
        by=by,
        trace=row["trace"],
        factor=formulas.trace_score(1.0, row["trace"], by),
        sayings=tuple(TraceContribution(**one) for one in row["contributions"]),
        total=row["total"],
    )
