"""The part of a handle that reads what is believed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from graphmem.client.given import (
    Asked,
    BeliefLike,
    By,
    Id,
    belief_id_of,
    reading_of,
    records,
    several,
)
from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, bounded, valid, yes_or_no
from graphmem.model import (
    AsOf,
    Belief,
    BeliefChain,
    BeliefEvent,
    BeliefPage,
    FlipSet,
    HypotheticalEvidence,
    Part,
    Predicate,
    Provenance,
    Record,
    Slot,
    SlotPage,
    Status,
    Trail,
)
from graphmem.operations import belief, declarations, reasons

MOST_ROWS = 1_000
MOST_PIECES = 10**9
MOST_VALUES = 100


class _Subject(Record):
    subject: Part | None


class AsyncBeliefs(Instrumented):
    """Beliefs as one reader sees them, awaited."""

    async def predicates(self) -> Sequence[Predicate]:
        """Return every predicate that a policy was declared for, by name."""
        return await declarations.predicates(self._state.binding)

    async def current(
        self, subject: str, predicate: str, *, limit: int = 100, **by: Unpack[By]
    ) -> Slot:
        """Return the values of a slot, best first, as its predicate's policy reads the evidence.

        The handle's own scope is looked at first; when it knows nothing of the slot, the others
        that it may see.

        Args:
            subject: compared trimmed and without regard to case, as the predicate is.
            predicate: for example works_on.
            limit: candidates to return, 1 to 1,000.
            by: as of when, and by which policy.

        Raises:
            InvalidInputError: an argument does not fit, or `known` lies in the future.
        """
        asked = valid(Asked, subject=subject, predicate=predicate)
        count = bounded("limit", limit, MOST_ROWS)
        return await belief.current(
            self._state.binding, asked.subject, asked.predicate, reading_of(by), limit=count
        )

    async def belief(self, belief_id: BeliefLike, **by: Unpack[By]) -> Belief:
        """Return a belief, what is believed of it and where its test stands.

        Raises:
            NotFoundError: nothing visible has this id, or nothing was known of it then.
            InvalidInputError: an argument does not fit, or `known` lies in the future.
        """
        return await belief.belief(self._state.binding, belief_id_of(belief_id), reading_of(by))

    async def beliefs(
        self,
        *,
        cursor: str | None = None,
        limit: int = 50,
        superseded: bool = False,
        archived: bool = False,
        **by: Unpack[By],
    ) -> BeliefPage:
        """Return one page of beliefs, newest first.

        Args:
            cursor: the `next_cursor` of the page before.
            limit: rows, 1 to 1,000.
            superseded: show those that something else stands in the place of, too.
            archived: show those that were put away, too.
            by: as of when, and by which policy.

        Raises:
            InvalidInputError: the cursor is not one that a page gave.
        """
        hidden = (
            (Status.SUPERSEDED, yes_or_no("superseded", superseded)),
            (Status.ARCHIVED, yes_or_no("archived", archived)),
        )
        statuses = [Status.CURRENT, *(status for status, shown in hidden if shown)]
        count = bounded("limit", limit, MOST_ROWS)
        return await belief.belief_page(
            self._state.binding, reading_of(by), statuses, cursor=cursor, limit=count
        )

    async def evidence_for(
        self,
        belief_id: BeliefLike,
        *,
        start: int = 0,
        limit: int = 100,
        pooled: bool = False,
        as_of: AsOf | None = None,
    ) -> Trail:
        """Return the sequential test of a belief, piece by piece, oldest first.

        Args:
            belief_id: or what made the belief.
            start: pieces to pass over.
            limit: pieces to show, 1 to 1,000.
            pooled: of an episode and a polarity only the strongest piece counts.
            as_of: when; now by default.

        Raises:
            NotFoundError: nothing visible has this id, or nothing was known of it then.
            InvalidInputError: an argument does not fit, or `known` lies in the future.
        """
        suppose = belief.TrailRequest(
            pooled=yes_or_no("pooled", pooled),
            skip=bounded("start", start, MOST_PIECES, least=0),
            limit=bounded("limit", limit, MOST_ROWS),
        )
        by = reading_of({"as_of": as_of})
        return await belief.test(self._state.binding, belief_id_of(belief_id), by, suppose)

    async def what_if(
        self,
        belief_id: BeliefLike,
        evidence: Iterable[HypotheticalEvidence | Mapping[str, Any]] = (),
        *,
        without: Iterable[str] = (),
        pooled: bool = False,
        as_of: AsOf | None = None,
    ) -> Trail:
        """Return where the test would stand with other evidence; nothing is written.

        Args:
            belief_id: or what made the belief.
            evidence: pieces to suppose, at most 1,000: records, or maps of kind, strength and
                optionally at and episode.
            without: ids of events to leave out.
            pooled: of an episode and a polarity only the strongest piece counts.
            as_of: when; now by default.

        Raises:
            NotFoundError: nothing visible has this id, or nothing was known of it then.
            InvalidInputError: an argument does not fit, or `known` lies in the future.
        """
        extra = records("evidence", HypotheticalEvidence, evidence)
        left = [valid(Id, id=one).id for one in several("without", without)]
        suppose = belief.TrailRequest(
            pooled=yes_or_no("pooled", pooled), extra=tuple(extra), without=tuple(left)
        )
        by = reading_of({"as_of": as_of})
        return await belief.test(self._state.binding, belief_id_of(belief_id), by, suppose)

    async def flip_set(self, belief_id: BeliefLike, *, as_of: AsOf | None = None) -> FlipSet:
        """Return a smallest set of evidence without which the test has another status.

        Of several such sets one is returned, always the same. None is pooled.

        Args:
            belief_id: or what made the belief; at most 1,000 pieces of evidence count for it.
            as_of: when; now by default.

        Raises:
            NotFoundError: nothing visible has this id, or nothing was known of it then.
            InvalidInputError: more evidence counts, an argument does not fit, or `known` lies in
                the future.
        """
        by = reading_of({"as_of": as_of})
        return await belief.flip_set(self._state.binding, belief_id_of(belief_id), by)

    async def slots(
        self,
        subject: str | None = None,
        *,
        cursor: str | None = None,
        limit: int = 50,
        values: int = 3,
        **by: Unpack[By],
    ) -> SlotPage:
        """Return one page of slots, each with its best values, in the order of their names.

        Slots of every scope that the handle may see are listed, each where it lives.

        Args:
            subject: of the slots; all of them by default.
            cursor: the `next_cursor` of the page before.
            limit: slots, 1 to 1,000.
            values: of each slot, the best, 1 to 100; `current` shows them all.
            by: as of when, and by which policy.

        Raises:
            InvalidInputError: an argument does not fit, the cursor is not one that a page gave,
                or `known` lies in the future.
        """
        return await belief.slot_page(
            self._state.binding,
            reading_of(by),
            valid(_Subject, subject=subject).subject,
            cursor=cursor,
            limit=bounded("limit", limit, MOST_ROWS),
            values=bounded("values", values, MOST_VALUES),
        )

    async def belief_chain(
        self, belief_id: BeliefLike, *, as_of: AsOf | None = None
    ) -> BeliefChain:
        """Return the beliefs that took one another's place, this one among them.

        Raises:
            NotFoundError: nothing visible has this id, or nothing was known of it then.
            InvalidInputError: `known` lies in the future.
        """
        at = reading_of({"as_of": as_of}).as_of
        return await reasons.chain(self._state.binding, belief_id_of(belief_id), at)

    async def belief_history(
        self, belief_id: BeliefLike, *, limit: int = 100, as_of: AsOf | None = None
    ) -> Sequence[BeliefEvent]:
        """Return the newest events about a belief, oldest of them first.

        Args:
            belief_id: or what made the belief.
            limit: 1 to 1,000.
            as_of: when. A retraction holds for every valid time, from when it is known.

        Raises:
            NotFoundError: nothing visible has this id, or nothing was known of it then.
            InvalidInputError: an argument does not fit, or `known` lies in the future.
        """
        return await reasons.history(
            self._state.binding,
            belief_id_of(belief_id),
            reading_of({"as_of": as_of}).as_of,
            limit=bounded("limit", limit, MOST_ROWS),
        )

    async def provenance(
        self, belief_id: BeliefLike, *, limit: int = 100, as_of: AsOf | None = None
    ) -> Provenance:
        """Return where a belief comes from: its events, turns, episodes and memories.

        Args:
            belief_id: or what made the belief.
            limit: newest events to show with their turns and episodes, 1 to 1,000; and memories.
            as_of: when; now by default.

        Raises:
            NotFoundError: nothing visible has this id, or nothing was known of it then.
            InvalidInputError: an argument does not fit, or `known` lies in the future.
        """
        return await reasons.provenance(
            self._state.binding,
            belief_id_of(belief_id),
            reading_of({"as_of": as_of}).as_of,
            limit=bounded("limit", limit, MOST_ROWS),
        )


class Beliefs:
    """Beliefs as one reader sees them, blocking: the twin of `AsyncBeliefs`."""

    _state: HandleState

    predicates = blocking(AsyncBeliefs.predicates)
    current = blocking(AsyncBeliefs.current)
    belief = blocking(AsyncBeliefs.belief)
    beliefs = blocking(AsyncBeliefs.beliefs)
    evidence_for = blocking(AsyncBeliefs.evidence_for)
    what_if = blocking(AsyncBeliefs.what_if)
    flip_set = blocking(AsyncBeliefs.flip_set)
    slots = blocking(AsyncBeliefs.slots)
    belief_chain = blocking(AsyncBeliefs.belief_chain)
    belief_history = blocking(AsyncBeliefs.belief_history)
    provenance = blocking(AsyncBeliefs.provenance)
