"""Methods of a handle that explain beliefs and memories."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated

from pydantic import Field

from graphmem.client.given import Asked, BeliefLike, belief_id_of, reading_of
from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, bounded, valid
from graphmem.errors import NotFoundError
from graphmem.model import (
    AsOf,
    BeliefReasons,
    Instant,
    MemoryReasons,
    Policy,
    Record,
    Timeline,
)
from graphmem.operations import lineage, memories, reasons

MOST_ROWS = 1_000
MOST_PIECES = 10**9
MOST_POINTS = 1_000


class _Instants(Record):
    at: Annotated[tuple[Instant, ...], Field(min_length=1, max_length=MOST_POINTS)]


class AsyncReasons(Instrumented):
    """Methods that explain beliefs and memories, awaited."""

    async def why(
        self,
        item_id: BeliefLike,
        *,
        start: int = 0,
        limit: int = 100,
        as_of: AsOf | None = None,
        policy: Policy | None = None,
        present_policy: bool = False,
    ) -> BeliefReasons | MemoryReasons:
        """Return why a belief has its projection, event by event, or how a memory came about.

        Args:
            item_id: id of a belief or a memory, or a receipt or record of a belief.
            start: number of the oldest pieces of evidence to skip.
            limit: maximum number of pieces of evidence, or events of a memory; 1 to 1,000.
            as_of: valid and known time of the read; now by default.
            policy: policy to read by instead of the declared one.
            present_policy: read the past by the policy that is declared now.

        Raises:
            NotFoundError: no visible item has this id, or it was not known at that time.
            InvalidInputError: an argument is invalid, or `as_of.known` is in the future.
        """
        known = belief_id_of(item_id)
        read = reading_of(as_of, policy, present_policy=present_policy)
        skip = bounded("start", start, MOST_PIECES, least=0)
        count = bounded("limit", limit, MOST_ROWS)
        binding = self._state.binding
        found = await reasons.belief(binding, known, read, skip=skip, limit=count)
        if found is not None:
            return found
        at = None if read.as_of == AsOf() else read.as_of
        try:
            memory = await memories.get(binding, known, at)
        except NotFoundError as error:
            raise NotFoundError(f"No belief or memory {known!r}.", hint=error.hint) from None
        return MemoryReasons(
            memory=memory,
            history=tuple(await lineage.history(binding, known, limit=count, as_of=at)),
            chain=await lineage.chain(binding, known, at),
            trace=await memories.explain(binding, known, at, limit=count),
        )

    async def timeline(
        self,
        of: BeliefLike,
        predicate: str | None = None,
        *,
        instants: Iterable[datetime] | None = None,
        points: int = 60,
        best: int = 5,
        as_of: AsOf | None = None,
        policy: Policy | None = None,
        present_policy: bool = False,
    ) -> Timeline:
        """Return how a belief, or the leading values of a slot, changed over valid time.

        Each point reads the evidence up to its time, so the cost grows with the number of points.

        Args:
            of: a belief, or with `predicate` the subject of a slot.
            predicate: predicate of the slot.
            instants: times to read, 1 to 1,000; by default the times of the evidence, and now.
            points: maximum number of these default times, evenly thinned; 3 to 1,000.
            best: number of values of a slot: those that are best at any of the times.
            as_of: `valid` is the last time to read; now by default.
            policy: policy to read by instead of the declared one.
            present_policy: read the past by the policy that is declared now.

        Raises:
            NotFoundError: no visible belief has this id, or it was not known at that time.
            InvalidInputError: an argument is invalid, or `as_of.known` is in the future.
        """
        given = None if instants is None else valid(_Instants, at=instants).at
        when = reasons.TimelineInstants(given, bounded("points", points, MOST_POINTS, least=3))
        count, binding = bounded("best", best, MOST_ROWS), self._state.binding
        read = reading_of(as_of, policy, present_policy=present_policy)
        if predicate is None:
            return await reasons.timeline(binding, belief_id_of(of), read, when)
        asked = valid(Asked, subject=of, predicate=predicate)
        slot = asked.subject, asked.predicate
        return await reasons.timeline_slot(binding, slot, read, when, best=count)


class Reasons:
    """Methods that explain beliefs and memories; blocking twin of `AsyncReasons`."""

    _state: HandleState

    why = blocking(AsyncReasons.why)
    timeline = blocking(AsyncReasons.timeline)
