"""Methods of a handle that archive beliefs, restore them and clear their flags."""

from __future__ import annotations

from datetime import datetime

from graphmem.client.given import Because, BeliefLike, belief_id_of
from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, valid
from graphmem.model import EventSource, EventType, StatusReceipt
from graphmem.operations import evidence


class AsyncLifecycle(Instrumented):
    """Methods that change the status of beliefs, awaited."""

    async def archive(
        self,
        belief: BeliefLike,
        *,
        reason: str | None = None,
        id: str | None = None,  # noqa: A002
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> StatusReceipt:
        """Archive a belief: hide it from recall like a superseded one, without deleting it.

        The belief keeps its evidence, and further evidence counts. `restore_belief`, or stating it
        again with `believe`, makes it current.

        Args:
            belief: id of the belief, or a receipt or record of it.
            reason: why; kept with the event.
            id: idempotency key; the same id and content return the first result again.
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
        origin = valid(
            EventSource,
            id=id,
            at=at,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            note=note,
        )
        return await self._mark_belief(EventType.ARCHIVE, belief, reason, origin)

    async def restore_belief(
        self,
        belief: BeliefLike,
        *,
        reason: str | None = None,
        id: str | None = None,  # noqa: A002
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> StatusReceipt:
        """Make an archived or superseded belief current again.

        Args:
            belief: id of the belief, or a receipt or record of it.
            reason: why; kept with the event.
            id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            NotFoundError, ForeignScopeError, InvalidInputError, EventConflictError: see `archive`.
        """
        origin = valid(
            EventSource,
            id=id,
            at=at,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            note=note,
        )
        return await self._mark_belief(EventType.RESTORE, belief, reason, origin)

    async def resolve(
        self,
        belief: BeliefLike,
        *,
        reason: str | None = None,
        id: str | None = None,  # noqa: A002
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> StatusReceipt:
        """Clear the flag of a belief that was due for revision and may stay as it is.

        If the belief is not flagged, the receipt reports that nothing changed.

        Args:
            belief: id of the belief, or a receipt or record of it.
            reason: why; kept with the event.
            id: idempotency key; the same id and content return the first result again.
            at: when it happened, with a time zone; now by default.
            source: where it comes from, for example manual, hook or import.
            actor: who recorded it.
            artifact_ref: file name, address or session that it comes from.
            note: free text that is kept with the event.

        Raises:
            NotFoundError, ForeignScopeError, InvalidInputError, EventConflictError: see `archive`.
        """
        origin = valid(
            EventSource,
            id=id,
            at=at,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            note=note,
        )
        return await self._mark_belief(EventType.RESOLVE, belief, reason, origin)

    async def _mark_belief(
        self, kind: EventType, belief: BeliefLike, reason: str | None, origin: EventSource
    ) -> StatusReceipt:
        why = valid(Because, reason=reason).reason or origin.note
        origin = origin.model_copy(update={"note": why})
        return await evidence.mark(self._state.binding, kind, belief_id_of(belief), origin)


class Lifecycle:
    """Methods that change the status of beliefs; blocking twin of `AsyncLifecycle`."""

    _state: HandleState

    _mark_belief = AsyncLifecycle._mark_belief

    archive = blocking(AsyncLifecycle.archive)
    restore_belief = blocking(AsyncLifecycle.restore_belief)
    resolve = blocking(AsyncLifecycle.resolve)
