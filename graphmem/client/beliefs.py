"""Methods of a handle that read beliefs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graphmem.client.given import (
    Asked,
    BeliefLike,
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
    Policy,
    Provenance,
    Record,
    Slot,
    SlotPage,
    Status,
    Trail,
)
from graphmem.operations import belief, reasons

MOST_ROWS = 1_000
MOST_PIECES = 10**9
MOST_VALUES = 100


class _Subject(Record):
    subject: Part | None


class AsyncBeliefs(Instrumented):
    """Methods that read beliefs, awaited."""

    async def current(
        self,
        subject: str,
        predicate: str,
        *,
        limit: int = 100,
        as_of: AsOf | None = None,
        policy: Policy | None = None,
        present_policy: bool = False,
    ) -> Slot:
        """Return the values of a slot, best first, read by the policy of its predicate.

        The write scope is read first. If it has no evidence for the slot, the other read scopes
        are read in their order.

        Args:
            subject: subject of the slot; compared trimmed and without regard to case.
            predicate: predicate of the slot, for example works_on; compared in the same way.
            limit: maximum number of candidates, 1 to 1,000.
            as_of: valid and known time of the read; now by default.
            policy: policy to read by instead of the declared one.
            present_policy: read the past by the policy that is declared now.

        Raises:
            InvalidInputError: an argument is invalid, or `as_of.known` is in the future.
        """
        asked = valid(Asked, subject=subject, predicate=predicate)
        return await belief.current(
            self._state.binding,
            asked.subject,
            asked.predicate,
            reading_of(as_of, policy, present_policy=present_policy),
            limit=bounded("limit", limit, MOST_ROWS),
        )

    async def belief(
        self,
        belief_id: BeliefLike,
        *,
        as_of: AsOf | None = None,
        policy: Policy | None = None,
        present_policy: bool = False,
    ) -> Belief:
        """Return a belief, its projection and the state of its sequential test.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            as_of: valid and known time of the read; now by default.
            policy: policy to read by instead of the declared one.
            present_policy: read the past by the policy that is declared now.

        Raises:
            NotFoundError: no visible belief has this id, or it was not known at that time.
            InvalidInputError: an argument is invalid, or `as_of.known` is in the future.
        """
        read = reading_of(as_of, policy, present_policy=present_policy)
        return await belief.belief(self._state.binding, belief_id_of(belief_id), read)

    async def beliefs(
        self,
        *,
        cursor: str | None = None,
        limit: int = 50,
        superseded: bool = False,
        archived: bool = False,
        as_of: AsOf | None = None,
        policy: Policy | None = None,
        present_policy: bool = False,
    ) -> BeliefPage:
        """Return one page of beliefs, newest first.

        Args:
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of beliefs, 1 to 1,000.
            superseded: include superseded beliefs.
            archived: include archived beliefs.
            as_of: valid and known time of the read; now by default.
            policy: policy to read by instead of the declared one.
            present_policy: read the past by the policy that is declared now.

        Raises:
            InvalidInputError: an argument is invalid, or the cursor is not from a page.
        """
        hidden = (
            (Status.SUPERSEDED, yes_or_no("superseded", superseded)),
            (Status.ARCHIVED, yes_or_no("archived", archived)),
        )
        return await belief.belief_page(
            self._state.binding,
            reading_of(as_of, policy, present_policy=present_policy),
            [Status.CURRENT, *(status for status, shown in hidden if shown)],
            cursor=cursor,
            limit=bounded("limit", limit, MOST_ROWS),
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
        """Return the sequential test of a belief, oldest piece of evidence first.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            start: number of the oldest pieces to skip.
            limit: maximum number of pieces, 1 to 1,000.
            pooled: count only the strongest piece of each episode and polarity.
            as_of: valid and known time of the read; now by default.

        Raises:
            NotFoundError: no visible belief has this id, or it was not known at that time.
            InvalidInputError: an argument is invalid, or `as_of.known` is in the future.
        """
        suppose = belief.TrailRequest(
            pooled=yes_or_no("pooled", pooled),
            skip=bounded("start", start, MOST_PIECES, least=0),
            limit=bounded("limit", limit, MOST_ROWS),
        )
        by = reading_of(as_of)
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
        """Return the sequential test with other evidence; nothing is written.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            evidence: hypothetical evidence, at most 1,000 pieces: records, or mappings of kind,
                strength and optionally at and episode.
            without: ids of events to leave out.
            pooled: count only the strongest piece of each episode and polarity.
            as_of: valid and known time of the read; now by default.

        Raises:
            NotFoundError: no visible belief has this id, or it was not known at that time.
            InvalidInputError: an argument is invalid, or `as_of.known` is in the future.
        """
        extra = records("evidence", HypotheticalEvidence, evidence)
        left = [valid(Id, id=one).id for one in several("without", without)]
        suppose = belief.TrailRequest(
            pooled=yes_or_no("pooled", pooled), extra=tuple(extra), without=tuple(left)
        )
        by = reading_of(as_of)
        return await belief.test(self._state.binding, belief_id_of(belief_id), by, suppose)

    async def flip_set(self, belief_id: BeliefLike, *, as_of: AsOf | None = None) -> FlipSet:
        """Return a smallest set of evidence without which the test has another status.

        If there are several such sets, the same one is returned each time. Evidence is not pooled.

        Args:
            belief_id: id of the belief, or a receipt or record of it, with at most 1,000 pieces of
                evidence.
            as_of: valid and known time of the read; now by default.

        Raises:
            NotFoundError: no visible belief has this id, or it was not known at that time.
            InvalidInputError: the belief has more evidence, an argument is invalid, or
                `as_of.known` is in the future.
        """
        by = reading_of(as_of)
        return await belief.flip_set(self._state.binding, belief_id_of(belief_id), by)

    async def slots(
        self,
        subject: str | None = None,
        *,
        cursor: str | None = None,
        limit: int = 50,
        values: int = 3,
        as_of: AsOf | None = None,
        policy: Policy | None = None,
        present_policy: bool = False,
    ) -> SlotPage:
        """Return one page of slots with their best values, ordered by subject and predicate.

        Slots of every read scope are listed, each with its scope.

        Args:
            subject: subject of the slots; None for all subjects.
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of slots, 1 to 1,000.
            values: number of best values of each slot, 1 to 100; `current` returns them all.
            as_of: valid and known time of the read; now by default.
            policy: policy to read by instead of the declared one.
            present_policy: read the past by the policy that is declared now.

        Raises:
            InvalidInputError: an argument is invalid, the cursor is not from a page, or
                `as_of.known` is in the future.
        """
        return await belief.slot_page(
            self._state.binding,
            reading_of(as_of, policy, present_policy=present_policy),
            valid(_Subject, subject=subject).subject,
            cursor=cursor,
            limit=bounded("limit", limit, MOST_ROWS),
            values=bounded("values", values, MOST_VALUES),
        )

    async def belief_chain(
        self, belief_id: BeliefLike, *, as_of: AsOf | None = None
    ) -> BeliefChain:
        """Return the chain of beliefs that superseded one another, including this one.

        Raises:
            NotFoundError: no visible belief has this id, or it was not known at that time.
            InvalidInputError: `as_of.known` is in the future.
        """
        at = reading_of(as_of).as_of
        return await reasons.chain(self._state.binding, belief_id_of(belief_id), at)

    async def belief_history(
        self, belief_id: BeliefLike, *, limit: int = 100, as_of: AsOf | None = None
    ) -> Sequence[BeliefEvent]:
        """Return the newest events of a belief, oldest of them first.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            limit: maximum number of events, 1 to 1,000.
            as_of: valid and known time of the read. A retraction holds for every valid time, from
                the time it is known.

        Raises:
            NotFoundError: no visible belief has this id, or it was not known at that time.
            InvalidInputError: an argument is invalid, or `as_of.known` is in the future.
        """
        return await reasons.history(
            self._state.binding,
            belief_id_of(belief_id),
            reading_of(as_of).as_of,
            limit=bounded("limit", limit, MOST_ROWS),
        )

    async def provenance(
        self, belief_id: BeliefLike, *, limit: int = 100, as_of: AsOf | None = None
    ) -> Provenance:
        """Return the provenance of a belief: its events, turns, episodes and memories.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            limit: maximum number of newest events, with their turns and episodes, and of memories;
                1 to 1,000.
            as_of: valid and known time of the read; now by default.

        Raises:
            NotFoundError: no visible belief has this id, or it was not known at that time.
            InvalidInputError: an argument is invalid, or `as_of.known` is in the future.
        """
        return await reasons.provenance(
            self._state.binding,
            belief_id_of(belief_id),
            reading_of(as_of).as_of,
            limit=bounded("limit", limit, MOST_ROWS),
        )


class Beliefs:
    """Methods that read beliefs; blocking twin of `AsyncBeliefs`."""

    _state: HandleState

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
