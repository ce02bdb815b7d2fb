"""The part of a handle that says why something is believed or remembered, and since when."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Unpack

from pydantic import Field

from graphmem.client.given import Asked, BeliefLike, By, belief_id_of, reading_of
from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, bounded, valid
from graphmem.errors import NotFoundError
from graphmem.model import AsOf, BeliefReasons, Instant, MemoryReasons, Record, Timeline
from graphmem.operations import lineage, memories, reasons

MOST_ROWS = 1_000
MOST_PIECES = 10**9
MOST_POINTS = 1_000


class _Instants(Record):
    at: Annotated[tuple[Instant, ...], Field(min_length=1, max_length=MOST_POINTS)]


class AsyncReasons(Instrumented):
    """Reasons as one reader sees them, awaited."""

    async def why(
        self, item_id: BeliefLike, *, start: int = 0, limit: int = 100, **by: Unpack[By]
    ) -> BeliefReasons | MemoryReasons:
        """Return why a belief is believed as it is, event by event; of a memory how it came about.

        Args:
            item_id: of a belief or a memory, or what made the belief.
            start: pieces of a belief's evidence to pass over, the oldest.
            limit: pieces, or events of a memory, to show; 1 to 1,000.
            by: as of when, and by which policy.

        Raises:
            NotFoundError: nothing visible has this id, or had it then.
            InvalidInputError: an argument does not fit, or `known` lies in the future.
        """
        known, read = belief_id_of(item_id), reading_of(by)
        skip = bounded("start", start, MOST_PIECES, least=0)
        count = bounded("limit", limit, MOST_ROWS)
        binding = self._state.binding
        found = await reasons.belief(binding, known, read, skip=skip, limit=count)
        if found is not None:
            return found
        as_of = None if read.as_of == AsOf() else read.as_of
        try:
            memory = await memories.get(binding, known, as_of)
        except NotFoundError as error:
            raise NotFoundError(f"No belief or memory {known!r}.", hint=error.hint) from None
        return MemoryReasons(
            memory=memory,
            history=tuple(await lineage.history(binding, known, limit=count, as_of=as_of)),
            chain=await lineage.chain(binding, known, as_of),
            trace=await memories.explain(binding, known, as_of, limit=count),
        )

    async def timeline(
        self,
        of: BeliefLike,
        predicate: str | None = None,
        *,
        instants: Iterable[datetime] | None = None,
        points: int = 60,
        best: int = 5,
        **by: Unpack[By],
    ) -> Timeline:
        """Return how a belief moved, or the leading values of a slot, each read in its own time.

        Every instant reads the evidence up to it, so twice the points take twice the time; of a
        long history fewer are read.

        Args:
            of: a belief, or with a predicate the subject of a slot.
            predicate: of the slot.
            instants: when to read, 1 to 1,000; by default whenever evidence was seen, and now.
            points: how many of these at most, evenly thinned; 3 to 1,000.
            best: of a slot, the values to show: the best so many at any of the instants.
            by: as of when (`valid`: the last instant), and by which policy.

        Raises:
            NotFoundError: nothing visible has this id, or nothing was known of it then.
            InvalidInputError: an argument does not fit, or `known` lies in the future.
        """
        given = None if instants is None else valid(_Instants, at=instants).at
        when = reasons.TimelineInstants(given, bounded("points", points, MOST_POINTS, least=3))
        count, read, binding = bounded("best", best, MOST_ROWS), reading_of(by), self._state.binding
        if predicate is None:
            return await reasons.timeline(binding, belief_id_of(of), read, when)
        asked = valid(Asked, subject=of, predicate=predicate)
        slot = asked.subject, asked.predicate
        return await reasons.timeline_slot(binding, slot, read, when, best=count)


class Reasons:
    """Reasons as one reader sees them, blocking: the twin of `AsyncReasons`."""

    _state: HandleState

    why = blocking(AsyncReasons.why)
    timeline = blocking(AsyncReasons.timeline)
