"""Methods of the namespace `beliefs` that change beliefs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from graphmem.client.arguments import (
    AskedId,
    BeliefLike,
    ItemId,
    belief_id_of,
    event_source,
)
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.client.state import HandleState
from graphmem.errors import InvalidInputError
from graphmem.model import (
    EventSource,
    EventType,
    Hypothesis,
    Instant,
    Note,
    Origin,
    Part,
    ReplacementReceipt,
    RetractionReceipt,
    Statement,
    StatusReceipt,
)
from graphmem.operations.evidence import recording
from graphmem.rules import claims
from graphmem.validation import As, valid, valid_part

_PAIR = 2
Statements: TypeAlias = Annotated[Sequence[str], As(tuple[Statement, ...])]


class AsyncBeliefChanges(AsyncNamespace):
    """Methods that retract evidence and replace, archive or restore beliefs, awaited."""

    _prefix = "beliefs."

    async def retract(
        self,
        event_id: ItemId,
        *,
        missing_ok: bool = False,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> RetractionReceipt:
        """Retract evidence or a declaration. That holds for every valid time, from now on.

        Without its declaration a predicate has the one before it, or the default. A retraction can
        be retracted too; of all retractions of an event the newest decides.

        Args:
            event_id: id of the evidence, of the declaration as `predicates.list` has it, or of a
                retraction.
            missing_ok: accept an event that does not exist yet; it is retracted when it arrives.
                Only a person's handle may.
            at: when it happened, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            RefusedError: the event is another than evidence, a declaration or a retraction, or is
                this retraction.
            ForeignScopeError: the event belongs to another scope.
            NotFoundError: the event does not exist.
            PersonOnlyError: a person wrote the event, and the handle is not a person's.
        """
        given = event_source(origin, at)
        return await recording.retract(self._state.context, event_id, given, missing_ok=missing_ok)

    async def revise(
        self,
        belief_id: BeliefLike,
        statement: Statement | None = None,
        *,
        reason: Note | None = None,
        subject: Part | None = None,
        predicate: Part | None = None,
        object: Part | None = None,  # noqa: A002
        confidence: float = 0.5,
        episode_id: AskedId | None = None,
        turn_id: AskedId | None = None,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> ReplacementReceipt:
        """Replace a belief by another wording or another triple.

        The older belief stays readable with its evidence; the newer one starts without evidence.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            statement: the new belief in words; may be omitted if a triple is given.
            reason: the reason; kept with the event.
            subject: subject of the new triple; give all three parts or none.
            predicate: predicate of the new triple.
            object: object of the new triple.
            confidence: confidence before any evidence, 0 to 1.
            episode_id: id of the episode that the evidence comes from; the session's by default.
            turn_id: id of the turn that it quotes.
            at: when it happened, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            SupersededBeliefError: the belief was superseded already.
            SelfSupersessionError: the new wording is that of the belief itself.
        """
        given = locals()
        by = event_source(origin, at, reason)
        new = valid_part(Hypothesis, {**given, **dict(by)})
        return await _replace(self._state, EventType.REVISE, [belief_id], [new], by)

    async def split(
        self,
        belief_id: BeliefLike,
        statements: Statements,
        *,
        reason: Note | None = None,
        episode_id: AskedId | None = None,
        turn_id: AskedId | None = None,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> ReplacementReceipt:
        """Replace a belief that states several things by several.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            statements: two or more statements in words.
            reason: the reason; kept with the event.
            episode_id: id of the episode that the evidence comes from; the session's by default.
            turn_id: id of the turn that it quotes.
            at: when it happened, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            SupersededBeliefError, SelfSupersessionError: see `revise`.
        """
        by = event_source(origin, at, reason)
        own = {"episode_id": episode_id, "turn_id": turn_id, **dict(by)}
        new = [valid(Hypothesis, statement=s, **own) for s in statements]
        if len({claims.statement_claim("", str(one.statement)).id for one in new}) < _PAIR:
            raise InvalidInputError("`statements` must be at least two different statements.")
        return await _replace(self._state, EventType.SPLIT, [belief_id], new, by)

    async def merge(
        self,
        beliefs: Annotated[Sequence[BeliefLike], As(tuple[BeliefLike, ...])],
        statement: Statement,
        *,
        reason: Note | None = None,
        subject: Part | None = None,
        predicate: Part | None = None,
        object: Part | None = None,  # noqa: A002
        confidence: float = 0.5,
        episode_id: AskedId | None = None,
        turn_id: AskedId | None = None,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> ReplacementReceipt:
        """Replace several beliefs that state the same by one belief.

        Args:
            beliefs: two or more ids of beliefs, receipts or records.
            statement: the new belief in words.
            reason: the reason; kept with the event.
            subject: subject of the new triple; give all three parts or none.
            predicate: predicate of the new triple.
            object: object of the new triple.
            confidence: confidence before any evidence, 0 to 1.
            episode_id: id of the episode that the evidence comes from; the session's by default.
            turn_id: id of the turn that it quotes.
            at: when it happened, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            SupersededBeliefError, SelfSupersessionError: see `revise`.
        """
        if len({belief_id_of(one) for one in beliefs}) < _PAIR:
            raise InvalidInputError("`beliefs` must name at least two beliefs.")
        given = locals()
        by = event_source(origin, at, reason)
        new = valid_part(Hypothesis, {**given, **dict(by)})
        return await _replace(self._state, EventType.MERGE, beliefs, [new], by)

    async def archive(
        self,
        belief_id: BeliefLike,
        *,
        reason: Note | None = None,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> StatusReceipt:
        """Archive a belief: hide it from recall without deleting it.

        The belief keeps its evidence, and further evidence counts. `beliefs.restore`, or stating it
        again with `believe`, makes it current.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            reason: the reason; kept with the event.
            at: when it happened, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            SupersededBeliefError: the belief was superseded already.
            InvalidInputError: an argument is invalid, or `at` is in the future.
        """
        by = event_source(origin, at, reason)
        known = belief_id_of(belief_id)
        return await recording.mark(self._state.context, EventType.ARCHIVE, known, by)

    async def restore(
        self,
        belief_id: BeliefLike,
        *,
        reason: Note | None = None,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> StatusReceipt:
        """Make an archived or superseded belief current again.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            reason: the reason; kept with the event.
            at: when it happened, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.
        """
        by = event_source(origin, at, reason)
        known = belief_id_of(belief_id)
        return await recording.mark(self._state.context, EventType.RESTORE, known, by)

    async def clear_flag(
        self,
        belief_id: BeliefLike,
        *,
        reason: Note | None = None,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> StatusReceipt:
        """Clear the flag of a belief that was due for revision.

        If the belief is not flagged, the receipt reports that nothing changed.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            reason: the reason; kept with the event.
            at: when it happened, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.
        """
        by = event_source(origin, at, reason)
        known = belief_id_of(belief_id)
        return await recording.mark(self._state.context, EventType.RESOLVE, known, by)


class BeliefChanges(Namespace):
    """Methods that retract evidence and change beliefs; see `AsyncBeliefChanges`."""

    retract = blocking(AsyncBeliefChanges.retract)
    revise = blocking(AsyncBeliefChanges.revise)
    split = blocking(AsyncBeliefChanges.split)
    merge = blocking(AsyncBeliefChanges.merge)
    archive = blocking(AsyncBeliefChanges.archive)
    restore = blocking(AsyncBeliefChanges.restore)
    clear_flag = blocking(AsyncBeliefChanges.clear_flag)


async def _replace(
    state: HandleState,
    kind: EventType,
    older: Sequence[BeliefLike],
    newer: Sequence[Hypothesis],
    by: EventSource,
) -> ReplacementReceipt:
    ids = [belief_id_of(one) for one in older]
    placed = [await state.placed(one) for one in newer]
    return await recording.replace(state.context, kind, ids, placed, by)
