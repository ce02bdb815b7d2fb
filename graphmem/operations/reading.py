"""Read memories by id or page by page; reading leaves no trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem import catalog
from graphmem.errors import NotFoundError
from graphmem.model import Memory, Page, Status
from graphmem.ports import Binding
from graphmem.rules import paging

GET = catalog.query("commit/get", lambda row: Memory(**row["card"]))
LIST = catalog.query("commit/list", lambda row: Memory(**row["card"]))


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories to list."""

    tags: tuple[str, ...] = ()
    """All of them must be there."""
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    statuses: tuple[Status, ...] = (Status.CURRENT,)


async def get(to: Binding, memory_id: str) -> Memory:
    """Return a memory, whatever its status.

    Raises:
        NotFoundError: nothing visible has this id.
    """
    found = await to.world.graph.read(
        lambda tx: tx.fetch(
            GET, tenant=to.wall.tenant, scopes=list(to.wall.scopes), ids=[memory_id]
        )
    )
    if not found:
        raise NotFoundError(f"No memory {memory_id!r}.")
    return found[0]


async def page(to: Binding, want: Filter, *, cursor: str | None, limit: int) -> Page:
    """Return one page of memories, newest first, and the cursor of the next.

    Raises:
        InvalidInputError: the cursor was not made by `page`.
    """
    before_at, before_id = paging.position(cursor)
    found: Sequence[Memory] = await to.world.graph.read(
        lambda tx: tx.fetch(
            LIST,
            tenant=to.wall.tenant,
            scopes=list(to.wall.scopes),
            statuses=list(want.statuses),
            tags=list(want.tags),
            source=want.source,
            since=want.since,
            until=want.until,
            before_at=before_at,
            before_id=before_id,
            limit=limit,
        )
    )
    last = found[-1] if len(found) == limit else None
    return Page(
        memories=tuple(found),
        next_cursor=paging.cursor(last.created_at, last.id) if last else None,
    )
