"""The part of a handle that puts beliefs away, brings them back and clears their flags."""

from __future__ import annotations

from typing import Unpack

from graphmem.client.given import Because, BeliefLike, From, belief_id_of
from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, valid
from graphmem.model import EventSource, EventType, StatusReceipt
from graphmem.operations import evidence


class AsyncLifecycle(Instrumented):
    """What becomes of beliefs beside their evidence, awaited."""

    async def archive(
        self, belief: BeliefLike, *, reason: str | None = None, **source: Unpack[From]
    ) -> StatusReceipt:
        """Put a belief away: hidden from recall like a superseded one, and never deleted.

        It keeps its evidence, and further evidence counts; `restore_belief`, or stating it again
        by `believe`, makes it current.

        Args:
            belief: its id, or what made it.
            reason: why; kept with the event.
            source: where this comes from.

        Raises:
            NotFoundError: nothing visible has this id.
            ForeignScopeError: the belief belongs to another scope.
            SupersededBeliefError: something stands in its place already.
            InvalidInputError: an argument does not fit, or it lies in the future.
            EventConflictError: the id was used for something else.
        """
        return await self._mark_belief(EventType.ARCHIVE, belief, reason, source)

    async def restore_belief(
        self, belief: BeliefLike, *, reason: str | None = None, **source: Unpack[From]
    ) -> StatusReceipt:
        """Make an archived belief current again; a superseded one too.

        Raises:
            NotFoundError, ForeignScopeError, InvalidInputError, EventConflictError: see `archive`.
        """
        return await self._mark_belief(EventType.RESTORE, belief, reason, source)

    async def resolve(
        self, belief: BeliefLike, *, reason: str | None = None, **source: Unpack[From]
    ) -> StatusReceipt:
        """Clear the flag of a belief that was to be revised and may stay as it is.

        Of one that is not flagged the result says that nothing changed.

        Raises:
            NotFoundError, ForeignScopeError, InvalidInputError, EventConflictError: see `archive`.
        """
        return await self._mark_belief(EventType.RESOLVE, belief, reason, source)

    async def _mark_belief(
        self, kind: EventType, belief: BeliefLike, reason: str | None, source: From
    ) -> StatusReceipt:
        given = valid(EventSource, **source)
        why = valid(Because, reason=reason).reason or given.note
        given = given.model_copy(update={"note": why})
        return await evidence.mark(self._state.binding, kind, belief_id_of(belief), given)


class Lifecycle:
    """What becomes of beliefs beside their evidence, blocking: the twin of `AsyncLifecycle`."""

    _state: HandleState

    _mark_belief = AsyncLifecycle._mark_belief

    archive = blocking(AsyncLifecycle.archive)
    restore_belief = blocking(AsyncLifecycle.restore_belief)
    resolve = blocking(AsyncLifecycle.resolve)
