"""Read memories by id or page by page; reading leaves no trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from graphmem import catalog
from graphmem.model import AsOf, Memory, Page, Status
from graphmem.ports import RequestContext, Tx
from graphmem.rules import asking, assertions, moments, paging
from graphmem.rules.conflicts import consistent

GET = catalog.query("commit/get", lambda row: Memory(**row["card"]))
GET_AS_OF = catalog.query("commit/get_as_of", dict)
LOST = catalog.query("belief/lost", lambda row: row["lost"])
LIST = catalog.query("commit/list", lambda row: Memory(**row["card"]))
LIST_AS_OF = catalog.query("commit/list_as_of", dict)


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memories to list."""

    tags: tuple[str, ...] = ()
    """All of them must be there."""
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    statuses: tuple[Status, ...] = (Status.CURRENT,)


@consistent
async def get(to: RequestContext, memory_id: str, as_of: AsOf | None = None) -> Memory:
    """Return a memory, whatever its status, and which of its claims have lost.

    Raises:
        NotFoundError: nothing visible has this id, or had it at `as_of`.
        InvalidInputError: `as_of.known` lies in the future.
    """
    wanted = {"tenant": to.wall.tenant, "scopes": list(to.wall.scopes)}

    async def work(tx: Tx) -> list[Memory]:
        if as_of is None:
            found = await tx.fetch(GET, **wanted, ids=[memory_id])
        else:
            times = moments.time_bounds(as_of)
            [then] = await tx.fetch(GET_AS_OF, **wanted, ids=[memory_id], **times)
            found = _memories(then, provisional=moments.is_provisional(as_of, then["now"]))
        return [await _judged(tx, to, memory, as_of) for memory in found]

    found = await to.world.graph.read(work)
    if not found:
        raise moments.missing(memory_id, as_of)
    return found[0]


async def _judged(tx: Tx, to: RequestContext, memory: Memory, as_of: AsOf | None) -> Memory:
    if not memory.claim_ids:
        return memory
    by = asking.ReadOptions(as_of or AsOf())
    params = asking.params(by, to.wall, to.world.settings, to.world.clock.now())
    [lost] = await tx.fetch(LOST, **params, ids=list(memory.claim_ids))
    return assertions.judged(memory, lost)


@consistent
async def memory_page(
    to: RequestContext, want: MemoryFilter, *, cursor: str | None, limit: int, as_of: AsOf | None = None
) -> Page:
    """Return one page of memories, newest first, and the cursor of the next.

    Raises:
        InvalidInputError: the cursor was not made by `memory_page`, or `as_of.known` lies in the future.
    """
    before_at, before_id = paging.position(cursor)
    wanted = {
        "tenant": to.wall.tenant,
        "scopes": list(to.wall.scopes),
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
        found, provisional = await to.world.graph.read(lambda tx: tx.fetch(LIST, **wanted)), False
    else:
        [then] = await to.world.graph.read(
            lambda tx: tx.fetch(LIST_AS_OF, **wanted, **moments.time_bounds(as_of))
        )
        provisional = moments.is_provisional(as_of, then["now"])
        found = _memories(then, provisional=provisional)
    last = found[-1] if len(found) == limit else None
    return Page(
        memories=tuple(found),
        next_cursor=paging.cursor(last.created_at, last.id) if last else None,
        provisional=provisional,
    )


def _memories(then: Mapping[str, Any], *, provisional: bool) -> list[Memory]:
    return [Memory(**card, provisional=provisional) for card in then["cards"]]
