"""Methods of the namespace `beliefs` that change beliefs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from graphmem.client.arguments import (
    Because,
    BeliefLike,
    Target,
    belief_id_of,
    event_source,
    evidence_from,
    hypothesis,
    several,
)
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.client.state import HandleState, valid
from graphmem.errors import InvalidInputError
from graphmem.model import (
    EventSource,
    EventType,
    EvidenceSource,
    Hypothesis,
    ReplacementReceipt,
    RetractionReceipt,
    StatusReceipt,
)
from graphmem.operations import evidence
from graphmem.rules import claims

_PAIR = 2


class AsyncBeliefChanges(AsyncNamespace):
    """Methods that retract evidence and replace, archive or restore beliefs, awaited."""

    _prefix = "beliefs."

    async def retract(
        self,
        event_id: str,
        *,
        retraction_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> RetractionReceipt:
        """Retract a piece of evidence for every valid time, from now on.

        The event may not exist yet: it is retracted when it arrives. A retraction can be retracted
        too; of all retractions of an event the newest decides.

        Args:
            event_id: id of the evidence, or of a retraction.
            retraction_id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            RefusedError: the event is neither evidence nor a retraction, or is this retraction.
            ForeignScopeError: the event belongs to another scope.
            EventConflictError, InvalidInputError: see `observe`.
        """
        target = valid(Target, event_id=event_id).event_id
        origin = event_source(retraction_id, at, source, actor, artifact_ref, note)
        return await evidence.retract(self._state.context, target, origin)

    async def revise(
        self,
        belief_id: BeliefLike,
        statement: str | None = None,
        *,
        reason: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,  # noqa: A002
        confidence: float = 0.5,
        episode_id: str | None = None,
        turn_id: str | None = None,
        event_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> ReplacementReceipt:
        """Replace a belief by another wording or another triple.

        The older belief stays readable with its evidence; the newer one starts without evidence.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            statement: the new belief in words; may be omitted if a triple is given.
            reason: why; kept with the event.
            subject: subject of the new triple; give all three parts or none.
            predicate: predicate of the new triple.
            object: object of the new triple.
            confidence: confidence before any evidence, 0 to 1.
            episode_id: id of the episode that the evidence comes from; the session's by default.
            turn_id: id of the turn that it quotes.
            event_id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            NotFoundError: no visible belief has this id.
            ForeignScopeError: the belief belongs to another scope.
            SupersededBeliefError: the belief was superseded already.
            SelfSupersessionError: the new wording is that of the belief itself.
            InvalidInputError, EventConflictError: see `observe`.
        """
        origin = evidence_from(episode_id, turn_id, event_id, at, source, actor, artifact_ref, note)
        new = hypothesis(statement, subject, predicate, object, confidence, origin)
        return await _replace(self._state, EventType.REVISE, [belief_id], [new], reason)

    async def split(
        self,
        belief_id: BeliefLike,
        statements: Sequence[str],
        *,
        reason: str | None = None,
        episode_id: str | None = None,
        turn_id: str | None = None,
        event_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> ReplacementReceipt:
        """Replace a belief that states several things by several beliefs.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            statements: two or more statements in words.
            reason: why; kept with the event.
            episode_id: id of the episode that the evidence comes from; the session's by default.
            turn_id: id of the turn that it quotes.
            event_id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            NotFoundError, ForeignScopeError, SupersededBeliefError, SelfSupersessionError,
            InvalidInputError, EventConflictError: see `revise`.
        """
        origin = evidence_from(episode_id, turn_id, event_id, at, source, actor, artifact_ref, note)
        given = valid(EvidenceSource, **origin).model_dump()
        new = [valid(Hypothesis, statement=s, **given) for s in several("statements", statements)]
        if len({claims.statement_claim("", str(one.statement)).id for one in new}) < _PAIR:
            raise InvalidInputError("A belief is split into two statements at least.")
        return await _replace(self._state, EventType.SPLIT, [belief_id], new, reason)

    async def merge(
        self,
        beliefs: Sequence[BeliefLike],
        statement: str,
        *,
        reason: str | None = None,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,  # noqa: A002
        confidence: float = 0.5,
        episode_id: str | None = None,
        turn_id: str | None = None,
        event_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> ReplacementReceipt:
        """Replace several beliefs that state the same by one belief.

        Args:
            beliefs: two or more ids of beliefs, receipts or records.
            statement: the new belief in words.
            reason: why; kept with the event.
            subject: subject of the new triple; give all three parts or none.
            predicate: predicate of the new triple.
            object: object of the new triple.
            confidence: confidence before any evidence, 0 to 1.
            episode_id: id of the episode that the evidence comes from; the session's by default.
            turn_id: id of the turn that it quotes.
            event_id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            NotFoundError, ForeignScopeError, SupersededBeliefError, SelfSupersessionError,
            InvalidInputError, EventConflictError: see `revise`.
        """
        older = several("beliefs", beliefs)
        if len({belief_id_of(one) for one in older}) < _PAIR:
            raise InvalidInputError("Two beliefs at least are merged.")
        origin = evidence_from(episode_id, turn_id, event_id, at, source, actor, artifact_ref, note)
        new = hypothesis(statement, subject, predicate, object, confidence, origin)
        return await _replace(self._state, EventType.MERGE, older, [new], reason)

    async def archive(
        self,
        belief_id: BeliefLike,
        *,
        reason: str | None = None,
        event_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> StatusReceipt:
        """Archive a belief: hide it from recall like a superseded one, without deleting it.

        The belief keeps its evidence, and further evidence counts. `beliefs.restore`, or stating it
        again with `believe`, makes it current.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            reason: why; kept with the event.
            event_id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            NotFoundError: no visible belief has this id.
            ForeignScopeError: the belief belongs to another scope.
            SupersededBeliefError: the belief was superseded already.
            InvalidInputError: an argument is invalid, or `at` is in the future.
            EventConflictError: the id was used for another event.
        """
        origin = event_source(event_id, at, source, actor, artifact_ref, note)
        return await _mark_belief(self._state, EventType.ARCHIVE, belief_id, reason, origin)

    async def restore(
        self,
        belief_id: BeliefLike,
        *,
        reason: str | None = None,
        event_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> StatusReceipt:
        """Make an archived or superseded belief current again.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            reason: why; kept with the event.
            event_id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            NotFoundError, ForeignScopeError, InvalidInputError, EventConflictError: see `archive`.
        """
        origin = event_source(event_id, at, source, actor, artifact_ref, note)
        return await _mark_belief(self._state, EventType.RESTORE, belief_id, reason, origin)

    async def clear_flag(
        self,
        belief_id: BeliefLike,
        *,
        reason: str | None = None,
        event_id: str | None = None,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> StatusReceipt:
        """Clear the flag of a belief that was due for revision and may stay as it is.

        If the belief is not flagged, the receipt reports that nothing changed.

        Args:
            belief_id: id of the belief, or a receipt or record of it.
            reason: why; kept with the event.
            event_id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            NotFoundError, ForeignScopeError, InvalidInputError, EventConflictError: see `archive`.
        """
        origin = event_source(event_id, at, source, actor, artifact_ref, note)
        return await _mark_belief(self._state, EventType.RESOLVE, belief_id, reason, origin)


class BeliefChanges(Namespace):
    """Methods that retract evidence and change beliefs; see `AsyncBeliefChanges`."""

    retract = blocking(AsyncBeliefChanges.retract)
    revise = blocking(AsyncBeliefChanges.revise)
    split = blocking(AsyncBeliefChanges.split)
    merge = blocking(AsyncBeliefChanges.merge)
    archive = blocking(AsyncBeliefChanges.archive)
    restore = blocking(AsyncBeliefChanges.restore)
    clear_flag = blocking(AsyncBeliefChanges.clear_flag)


async def _mark_belief(
    state: HandleState,
    kind: EventType,
    belief_id: BeliefLike,
    reason: str | None,
    origin: EventSource,
) -> StatusReceipt:
    why = valid(Because, reason=reason).reason or origin.note
    origin = origin.model_copy(update={"note": why})
    return await evidence.mark(state.context, kind, belief_id_of(belief_id), origin)


async def _replace(
    state: HandleState,
    kind: EventType,
    older: Sequence[BeliefLike],
    newer: Sequence[Hypothesis],
    reason: str | None,
) -> ReplacementReceipt:
    ids = [belief_id_of(one) for one in older]
    why = valid(Because, reason=reason).reason or newer[0].note
    source = newer[0].model_dump(include=set(EventSource.model_fields)) | {"note": why}
    placed = [await state.placed(one) for one in newer]
    return await evidence.replace(state.context, kind, ids, placed, EventSource(**source))
