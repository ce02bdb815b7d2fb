"""Namespace `beliefs` of a handle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from graphmem.client.arguments import (
    AskedId,
    AsOfLike,
    BeliefLike,
    Limit,
    belief_id_of,
    reading_of,
    records,
)
from graphmem.client.belief_changes import AsyncBeliefChanges, BeliefChanges
from graphmem.client.namespace import blocking
from graphmem.model import (
    Belief,
    BeliefChain,
    BeliefEvent,
    BeliefPage,
    FlipSet,
    HypotheticalEvidence,
    Instant,
    Part,
    Policy,
    Provenance,
    SlotPage,
    Status,
    Timeline,
    Trail,
)
from graphmem.operations import belief, reasons
from graphmem.validation import As, Whole

MAX_VALUES = 100
MAX_POINTS = 1_000


Instants: TypeAlias = Annotated[
    Iterable[datetime],
    As(Annotated[tuple[Instant, ...], Field(min_length=1, max_length=MAX_POINTS)]),
]


class AsyncBeliefs(AsyncBeliefChanges):
    """Methods that read and change beliefs, awaited."""

    _prefix = "beliefs."

    async def get(
        self,
        belief_id: BeliefLike,
        *,
        as_of: AsOfLike | None = None,
        policy: Policy | None = None,
    ) -> Belief:
        """Return a belief and the state of its sequential test.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            as_of: valid and known time of the read; now by default.
            policy: policy to read by instead of the declared one.
        """
        read = reading_of(as_of, policy)
        return await belief.belief(self._state.context, belief_id_of(belief_id), read)

    async def list(
        self,
        *,
        cursor: str | None = None,
        limit: Limit = 50,
        include_superseded: bool = False,
        include_archived: bool = False,
        include_rejected: bool = False,
        as_of: AsOfLike | None = None,
        policy: Policy | None = None,
    ) -> BeliefPage:
        """Return one page of beliefs, newest first.

        Args:
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of beliefs, 1 to 1,000.
            include_superseded: include superseded beliefs.
            include_archived: include archived beliefs.
            include_rejected: include beliefs that a person rejected.
            as_of: valid and known time of the read; now by default.
            policy: policy to read by instead of the declared one.
        """
        hidden = (
            (Status.SUPERSEDED, include_superseded),
            (Status.ARCHIVED, include_archived),
            (Status.REJECTED, include_rejected),
        )
        return await belief.belief_page(
            self._state.context,
            reading_of(as_of, policy),
            [Status.CURRENT, *(status for status, shown in hidden if shown)],
            cursor=cursor,
            limit=limit,
        )

    async def slots(
        self,
        subject: Part | None = None,
        *,
        cursor: str | None = None,
        limit: Limit = 50,
        top: Annotated[int, Whole(1, MAX_VALUES)] = 3,
        as_of: AsOfLike | None = None,
        policy: Policy | None = None,
    ) -> SlotPage:
        """Return one page of slots, by name, with their best values.

        Slots of every read scope are listed, each with its scope.

        Args:
            subject: subject of the slots; None for all subjects.
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of slots, 1 to 1,000.
            top: number of best values of each slot, 1 to 100; `current` returns them all.
            as_of: valid and known time of the read; now by default.
            policy: policy to read by instead of the declared one.
        """
        return await belief.slot_page(
            self._state.context,
            reading_of(as_of, policy),
            subject,
            belief.SlotLimits(limit, top),
            cursor=cursor,
        )

    async def history(
        self, belief_id: BeliefLike, *, limit: Limit = 100, as_of: AsOfLike | None = None
    ) -> Sequence[BeliefEvent]:
        """Return the newest events of a belief, oldest of them first.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            limit: maximum number of events, 1 to 1,000.
            as_of: valid and known time of the read. A retraction holds for every valid time, from
                the time it is known.
        """
        return await reasons.history(
            self._state.context,
            belief_id_of(belief_id),
            reading_of(as_of).as_of,
            limit=limit,
        )

    async def chain(self, belief_id: BeliefLike, *, as_of: AsOfLike | None = None) -> BeliefChain:
        """Return the chain of beliefs that replaced one another.

        Args:
            belief_id: id of a belief of the chain, or a receipt or record of it.
            as_of: valid and known time of the read; now by default.
        """
        at = reading_of(as_of).as_of
        return await reasons.chain(self._state.context, belief_id_of(belief_id), at)

    async def provenance(
        self, belief_id: BeliefLike, *, limit: Limit = 100, as_of: AsOfLike | None = None
    ) -> Provenance:
        """Return the events, turns, episodes and memories of a belief.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            limit: maximum number of newest events, with their turns and episodes, and of memories;
                1 to 1,000.
            as_of: valid and known time of the read; now by default.
        """
        return await reasons.provenance(
            self._state.context,
            belief_id_of(belief_id),
            reading_of(as_of).as_of,
            limit=limit,
        )

    async def timeline(
        self,
        of: BeliefLike,
        predicate: Part | None = None,
        *,
        instants: Instants | None = None,
        points: Annotated[int, Whole(3, MAX_POINTS)] = 60,
        top: Limit = 5,
        as_of: AsOfLike | None = None,
        policy: Policy | None = None,
    ) -> Timeline:
        """Return how a belief, or the leading values of a slot, changed over valid time.

        Each point reads the evidence up to its time, so the cost grows with the number of points.

        Args:
            of: a belief, or with `predicate` the subject of a slot.
            predicate: predicate of the slot.
            instants: times to read, 1 to 1,000; by default the times of the evidence, and now.
            points: maximum number of these default times, evenly thinned; 3 to 1,000.
            top: number of values of a slot: those that are best at any of the times.
            as_of: `valid` is the last time to read; now by default.
            policy: policy to read by instead of the declared one.
        """
        when = reasons.TimelineInstants(None if instants is None else tuple(instants), points)
        context, read = self._state.context, reading_of(as_of, policy)
        if predicate is None:
            return await reasons.timeline(context, belief_id_of(of), read, when)
        slot = belief_id_of(of), predicate
        return await reasons.timeline_slot(context, slot, read, when, best=top)

    async def what_if(
        self,
        belief_id: BeliefLike,
        evidence: Iterable[HypotheticalEvidence | Mapping[str, Any]] = (),
        *,
        without: Annotated[Iterable[str], As(tuple[AskedId, ...])] = (),
        pooled: bool = False,
        as_of: AsOfLike | None = None,
    ) -> Trail:
        """Return the sequential test with other evidence; nothing is written.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            evidence: hypothetical evidence, at most 1,000 pieces: records, or mappings of kind,
                strength and optionally at and episode.
            without: ids of events to leave out, evidence of the belief.
            pooled: count only the strongest piece of each episode and polarity.
            as_of: valid and known time of the read; now by default.

        Raises:
            NotFoundError: no visible belief has this id, it was not known at that time, or an event
                to leave out is not evidence of it.
        """
        extra = records("evidence", HypotheticalEvidence, evidence)
        suppose = belief.TrailRequest(pooled=pooled, extra=tuple(extra), without=tuple(without))
        by = reading_of(as_of)
        return await belief.test(self._state.context, belief_id_of(belief_id), by, suppose)

    async def flip_set(self, belief_id: BeliefLike, *, as_of: AsOfLike | None = None) -> FlipSet:
        """Return a smallest set of evidence that decides the test.

        If there are several such sets, the same one is returned each time. Evidence is not pooled.

        Args:
            belief_id: id of the belief, or a receipt or record of it, with at most 1,000 pieces of
                evidence.
            as_of: valid and known time of the read; now by default.

        Raises:
            InvalidInputError: the belief has more evidence, an argument is invalid, or
                `as_of.known` is in the future.
        """
        by = reading_of(as_of)
        return await belief.flip_set(self._state.context, belief_id_of(belief_id), by)


class Beliefs(BeliefChanges):
    """Methods that read and change beliefs; blocking twin of `AsyncBeliefs`."""

    get = blocking(AsyncBeliefs.get)
    list = blocking(AsyncBeliefs.list)
    slots = blocking(AsyncBeliefs.slots)
    history = blocking(AsyncBeliefs.history)
    chain = blocking(AsyncBeliefs.chain)
    provenance = blocking(AsyncBeliefs.provenance)
    timeline = blocking(AsyncBeliefs.timeline)
    what_if = blocking(AsyncBeliefs.what_if)
    flip_set = blocking(AsyncBeliefs.flip_set)
