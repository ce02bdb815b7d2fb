"""Namespace `memories` of a handle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from graphmem.client.arguments import (
    MAX_ROWS,
    AskedId,
    AsOfLike,
    Limit,
    TagsLike,
    event_source,
    moment_of,
)
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.model import (
    EventType,
    Instant,
    Memory,
    MemoryChain,
    MemoryEvent,
    Name,
    Note,
    Origin,
    Page,
    StalePage,
    Status,
)
from graphmem.operations import lineage, memories
from graphmem.validation import As, Whole

MAX_DAYS = 36_500


class AsyncMemories(AsyncNamespace):
    """Methods that read memories and change their status, awaited."""

    _prefix = "memories."

    async def get(self, memory_id: AskedId, *, as_of: AsOfLike | None = None) -> Memory:
        """Return a memory of any status, and which of its claims have lost.

        The read is not logged as an access.

        Args:
            memory_id: id of the memory.
            as_of: valid and known time; status, counts and heads follow from the events seen then.
                Tags are current: they have no history.
        """
        return await memories.get(self._state.context, memory_id, moment_of(as_of))

    async def list(
        self,
        *,
        cursor: str | None = None,
        limit: Limit = 50,
        tags: TagsLike = (),
        source: Name | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        statuses: Annotated[Sequence[Status], As(tuple[Status, ...])] = (Status.CURRENT,),
        as_of: AsOfLike | None = None,
    ) -> Page:
        """Return one page of memories, newest first. The read is not logged as an access.

        Args:
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of memories, 1 to 1,000.
            tags: list only memories with all of these tags.
            source: list only memories with an event from this source.
            since: list only memories created at or after this time.
            until: list only memories created before this time.
            statuses: list only memories of these statuses.
            as_of: valid and known time of the read. Tags are current: they have no history.
        """
        want = memories.MemoryFilter(
            tags=tuple(tags), source=source, since=since, until=until, statuses=tuple(statuses)
        )
        return await memories.memory_page(
            self._state.context, want, cursor=cursor, limit=limit, as_of=moment_of(as_of)
        )

    async def history(
        self, memory_id: AskedId, *, limit: Limit = MAX_ROWS, as_of: AsOfLike | None = None
    ) -> Sequence[MemoryEvent]:
        """Return the newest events of a memory, oldest of them first.

        Args:
            memory_id: id of the memory.
            limit: maximum number of events, 1 to 1,000.
            as_of: return only events seen at this valid and known time.
        """
        return await memories.history(
            self._state.context, memory_id, limit=limit, as_of=moment_of(as_of)
        )

    async def chain(self, memory_id: AskedId, *, as_of: AsOfLike | None = None) -> MemoryChain:
        """Return the chain of memories that replaced one another.

        Args:
            memory_id: id of a memory of the chain.
            as_of: follow supersessions seen at this valid and known time; see `get`.
        """
        return await memories.chain(self._state.context, memory_id, moment_of(as_of))

    async def deprecate(
        self,
        memory_id: AskedId,
        *,
        reason: Note | None = None,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> str:
        """Hide a memory from recall; return the id of the event.

        Args:
            memory_id: id of the memory.
            reason: the reason; kept with the event.
            at: when it happened, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.
        """
        by = event_source(origin, at, reason)
        return await lineage.mark(self._state.context, memory_id, EventType.DEPRECATE, by)

    async def restore(
        self,
        memory_id: AskedId,
        *,
        reason: Note | None = None,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> str:
        """Make a hidden memory current again; return the event's id.

        Args:
            memory_id: id of the memory.
            reason: the reason; kept with the event.
            at: when it happened, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.
        """
        by = event_source(origin, at, reason)
        return await lineage.mark(self._state.context, memory_id, EventType.RESTORE, by)

    async def stale(
        self,
        *,
        days: Annotated[int, Whole(1, MAX_DAYS)] = 90,
        cursor: str | None = None,
        limit: Limit = 50,
    ) -> StalePage:
        """Return memories that may be outdated, the oldest first.

        These are memories last stated more than `days` ago and, whatever their age, those of which
        a claim has lost its slot, was superseded or archived, or has more evidence against it than
        for it. Each has its reasons, its trace and the claims that are no longer in force. Only
        events visible to this handle count as statements; accesses do not.

        Args:
            days: age in days, 1 to 36,500.
            cursor: `next_cursor` of the previous page; `days` must be the same.
            limit: maximum number of memories, 1 to 1,000.

        Raises:
            InvalidInputError: an argument is invalid, or no page returned the cursor.
        """
        return await memories.stale_page(self._state.context, days, cursor=cursor, limit=limit)


class Memories(Namespace):
    """Methods that read memories and change their status; blocking twin of `AsyncMemories`."""

    get = blocking(AsyncMemories.get)
    list = blocking(AsyncMemories.list)
    history = blocking(AsyncMemories.history)
    chain = blocking(AsyncMemories.chain)
    deprecate = blocking(AsyncMemories.deprecate)
    restore = blocking(AsyncMemories.restore)
    stale = blocking(AsyncMemories.stale)
