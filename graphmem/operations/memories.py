"""Read memories and how they came about: events, chains and traces; and stale memories."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from graphmem.graph import catalog
from graphmem.model import (
    AsOf,
    ChainLink,
    Memory,
    MemoryChain,
    MemoryEvent,
    MemoryReasons,
    Page,
    StaleMemory,
    StalePage,
    StaleReason,
    Status,
    Trace,
    TraceContribution,
)
from graphmem.ports import Query, RequestContext, Tx
from graphmem.rules import claims, drafts, formulas, read_options, trust
from graphmem.rules.read_options import ReadOptions

GET_AS_OF = catalog.query("memory/get_as_of", dict)
LOST = catalog.query("belief/find_lost", lambda row: row["lost"])

LIST_AS_OF = catalog.query("memory/list_as_of", dict)

STALE = catalog.query("usage/stale", dict)
STATES = catalog.query("belief/states", read_options.parse_belief)

DAY = timedelta(days=1)

CLAIMED_PAGE = 200
"""Memories with claims that are checked together."""
EVEN = 0.5
"""Belief below which a claim has more evidence against it than for it."""

HISTORY = catalog.query("lineage/history", dict)
CHAIN = catalog.query("lineage/chain", lambda row: row)
CHAIN_AS_OF = catalog.query("lineage/chain_as_of", dict)
TRACE = catalog.query("recall/trace", dict)

WHY_AS_OF = catalog.together(GET_AS_OF, CHAIN_AS_OF, HISTORY, TRACE)


def _memory(card: Mapping[str, Any], *, provisional: bool = False) -> Memory:
    return Memory(**{**card, "trust": trust.parse(card["trust"])}, provisional=provisional)


GET = catalog.query("memory/get", lambda row: _memory(row["card"]))
LIST = catalog.query("memory/list", lambda row: _memory(row["card"]))


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Filter for a list of memories."""

    tags: tuple[str, ...] = ()
    """Tags that a memory must all have."""
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    statuses: tuple[Status, ...] = (Status.CURRENT,)


async def get(context: RequestContext, memory_id: str, as_of: AsOf | None = None) -> Memory:
    """Return a memory, whatever its status, and which of its claims have lost."""
    now = context.services.clock.now()

    async def work(tx: Tx) -> list[Memory]:
        times = read_options.time_bounds(as_of)
        if as_of is None:
            found = await tx.fetch(GET, ids=[memory_id], **times)
        else:
            [then] = await tx.fetch(GET_AS_OF, ids=[memory_id], **times)
            found = _memories_then(then, as_of)
        return [await _judged(tx, context, memory, as_of, now) for memory in found]

    found = await context.read(work)
    if not found:
        raise read_options.memory_not_found(memory_id, as_of)
    return found[0]


async def _judged(
    tx: Tx, context: RequestContext, memory: Memory, as_of: AsOf | None, now: datetime
) -> Memory:
    if not memory.claim_ids:
        return memory
    params = context.read_params(LOST, ReadOptions(as_of or AsOf()), now)
    [lost] = await tx.fetch(LOST, **params, ids=list(memory.claim_ids))
    return claims.mark_lost_claims(memory, lost)


async def memory_page(
    context: RequestContext,
    want: MemoryFilter,
    *,
    cursor: str | None,
    limit: int,
    as_of: AsOf | None = None,
) -> Page:
    """Return one page of memories, newest first, and the cursor of the next."""
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
    times = read_options.time_bounds(as_of)
    if as_of is None:
        found, provisional = await context.fetch(LIST, **wanted, **times), False
    else:
        [then] = await context.fetch(LIST_AS_OF, **wanted, **times)
        found = _memories_then(then, as_of)
        provisional = read_options.is_provisional(as_of, then["now"])
    last = found[-1] if len(found) == limit else None
    return Page(
        memories=tuple(found),
        next_cursor=read_options.time_cursor(last.created_at, last.id) if last else None,
        provisional=provisional,
    )


def _memories_then(then: Mapping[str, Any], as_of: AsOf) -> list[Memory]:
    provisional = read_options.is_provisional(as_of, then["now"])
    return [_memory(card, provisional=provisional) for card in then["cards"]]


async def stale_page(
    context: RequestContext, days: int, *, cursor: str | None, limit: int
) -> StalePage:
    """Return one page of stale memories, those last stated longest ago first.

    A memory is stale if it was last stated more than `days` ago, or if a claim of it has lost or
    is refuted, whatever its age.
    """
    after_at, after_id = read_options.parse_time_cursor(cursor)
    now = context.services.clock.now()
    until = now - timedelta(days=days)
    place = after_at or read_options.BEGINNING, after_id or ""

    async def work(tx: Tx) -> list[StaleMemory]:
        found: list[StaleMemory] = []
        if place[0] < until:
            rows = await _stale_rows(context, tx, now, until, place, limit, claimed=False)
            found = await _with_reasons(context, tx, now, rows, aged=True)
        at = max(place, (until, ""))
        while len(found) < limit:
            # Younger memories are listed only if their claims are contradicted.
            later = now + drafts.MAX_CLOCK_SKEW
            rows = await _stale_rows(context, tx, now, later, at, CLAIMED_PAGE, claimed=True)
            found += await _with_reasons(context, tx, now, rows, aged=False)
            if len(rows) < CLAIMED_PAGE:
                break
            at = rows[-1]["card"]["last_seen_at"], rows[-1]["card"]["id"]
        return found[:limit]

    found = await context.read(work)
    last = found[-1].memory if len(found) == limit else None
    return StalePage(
        memories=tuple(found),
        next_cursor=read_options.time_cursor(last.last_seen_at, last.id) if last else None,
    )


async def _stale_rows(  # noqa: PLR0913 - the bounds of one page
    context: RequestContext,
    tx: Tx,
    now: datetime,
    until: datetime,
    after: tuple[datetime, str],
    limit: int,
    *,
    claimed: bool,
) -> list[dict[str, Any]]:
    return await tx.fetch(
        STALE,
        **context.read_params(STALE, ReadOptions(), now)
        | {
            "until": until,
            "claimed": claimed,
            "after_at": after[0],
            "after_id": after[1],
            "trace": formulas.trace_params(read_options.trace_rank(context.services.settings)),
            "limit": limit,
        },
    )


async def _with_reasons(
    context: RequestContext,
    tx: Tx,
    now: datetime,
    rows: Sequence[Mapping[str, Any]],
    *,
    aged: bool,
) -> list[StaleMemory]:
    """Return the memories of rows with the reasons why they are stale; without one, not."""
    claimed = sorted({claim for row in rows for claim in row["card"]["claim_ids"]})
    lost: Collection[str] = ()
    weak: set[str] = set()
    if claimed:
        [lost] = await tx.fetch(LOST, **context.read_params(LOST, ReadOptions(), now), ids=claimed)
        believed = context.read_params(STATES, ReadOptions(), now)
        page = {"statuses": list(Status), "before_at": None, "before_id": "", "limit": len(claimed)}
        states = await tx.fetch(STATES, **believed | page, ids=claimed)
        weak = {one.id for one in states if one.belief < EVEN}
    found = []
    for row in rows:
        memory = claims.mark_lost_claims(Memory(**row["card"]), lost)
        reasons = [StaleReason.AGE] if aged else []
        if memory.lost_ids:
            reasons.append(StaleReason.CONTRADICTED)
        if weak.difference(lost).intersection(memory.claim_ids):
            reasons.append(StaleReason.UNSUPPORTED)
        if reasons:
            since = (now - memory.last_seen_at) / DAY
            found.append(
                StaleMemory(memory=memory, days=since, trace=row["trace"], reasons=tuple(reasons))
            )
    return found


WHY = catalog.together(GET, CHAIN, HISTORY, TRACE)


async def history(
    context: RequestContext, memory_id: str, *, limit: int, as_of: AsOf | None = None
) -> tuple[MemoryEvent, ...]:
    """Return the newest events of a memory, in chronological order."""
    times = read_options.time_bounds(as_of)
    [found] = await context.fetch(HISTORY, id=memory_id, limit=limit, **times)
    read_options.check_not_future(as_of, found["now"])
    if not found["events"]:
        raise read_options.memory_not_found(memory_id, as_of)
    return tuple(map(read_options.parse_memory_event, found["events"]))


async def chain(context: RequestContext, memory_id: str, as_of: AsOf | None = None) -> MemoryChain:
    """Return every memory that superseded this one or was superseded by it, at any distance."""
    query: Query[Any] = CHAIN if as_of is None else CHAIN_AS_OF
    rows = await context.fetch(query, id=memory_id, **read_options.time_bounds(as_of))
    return _chain(rows, memory_id, as_of)


def _chain(rows: Sequence[Mapping[str, Any]], memory_id: str, as_of: AsOf | None) -> MemoryChain:
    """Return the chain of the rows of `CHAIN`, or of the only row of `CHAIN_AS_OF`."""
    provisional = False
    if as_of is not None:
        [then] = rows
        rows, provisional = then["memories"], read_options.is_provisional(as_of, then["now"])
    if memory_id not in {row["card"]["id"] for row in rows}:
        raise read_options.memory_not_found(memory_id, as_of)
    links = [ChainLink(**link, older_id=row["card"]["id"]) for row in rows for link in row["links"]]
    links.sort(key=lambda link: (link.occurred_at, link.event_id))
    cards = claims.add_chain_ends((row["card"] for row in rows), links)
    memories = tuple(Memory(**card, provisional=provisional) for card in cards)
    hidden = {link.older_id for link in links if link.in_force}
    return MemoryChain(
        memories=memories,
        links=tuple(links),
        head_ids=tuple(m.id for m in memories if m.id not in hidden),
        provisional=provisional,
    )


async def reasons(
    context: RequestContext, memory_id: str, as_of: AsOf | None, *, limit: int
) -> MemoryReasons:
    """Return how a memory came about: its events, its chain and its trace."""
    now, by = context.services.clock.now(), read_options.trace_rank(context.services.settings)
    at = (as_of.valid if as_of else None) or now
    params = {
        "ids": [memory_id],
        "id": memory_id,
        **read_options.time_bounds(as_of),
        "at": at,
        "trace": formulas.trace_params(by),
        "limit": limit,
    }

    async def work(tx: Tx) -> tuple[Memory, Sequence[Any]]:
        [(own, *rest)] = await tx.fetch(WHY if as_of is None else WHY_AS_OF, **params)
        found = own if as_of is None else _memories_then(own[0], as_of)
        if not found:
            raise read_options.memory_not_found(memory_id, as_of)
        return await _judged(tx, context, found[0], as_of, now), rest

    memory, (links, [past], [row]) = await context.read(work)
    return MemoryReasons(
        memory=memory,
        trust=memory.trust or "unknown",
        history=tuple(map(read_options.parse_memory_event, past["events"])),
        chain=_chain(links, memory_id, as_of),
        trace=Trace(
            at=at,
            by=by,
            trace=row["trace"],
            factor=formulas.trace_score(1.0, row["trace"], by),
            sayings=tuple(TraceContribution(**one) for one in row["contributions"]),
            total=row["total"],
        ),
    )
