"""Namespace `proposals` of a handle."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, TypeAlias, cast

from graphmem.client.arguments import ItemId, Limit, event_source
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.errors import InvalidInputError
from graphmem.extraction import ProposalPage, ProposalStatus, ReviewReport, review
from graphmem.model import (
    EventSource,
    EventType,
    Instant,
    Origin,
)
from graphmem.operations import lineage
from graphmem.operations.evidence import recording, writing
from graphmem.validation import As

ProposalIds: TypeAlias = Annotated[Iterable[str], As(tuple[ItemId, ...])]


class AsyncProposals(AsyncNamespace):
    """Methods that review proposals, awaited."""

    _prefix = "proposals."

    async def list(
        self,
        *,
        status: Annotated[str, As(ProposalStatus)] | None = "open",
        cursor: str | None = None,
        limit: Limit = 50,
    ) -> ProposalPage:
        """Return a page of the proposals under review, oldest first.

        Args:
            status: open, accepted or dismissed; None for all.
            cursor: `next_cursor` of the previous page; `status` must be the same.
            limit: maximum number of proposals, 1 to 1,000.
        """
        wanted = cast("ProposalStatus | None", status)
        return await review.page(self._state.context, wanted, cursor=cursor, limit=limit)

    async def accept(
        self,
        proposal_ids: ProposalIds,
        *,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> ReviewReport:
        """Turn proposals into evidence and changes: all or none.

        Evidence declares the cardinality that its proposal suggests, if its predicate is undeclared
        and not on the built-in list. A dismissed proposal can be accepted later. `retract` takes
        the evidence of an accepted proposal back, `memories.restore` reverts an update.

        Args:
            proposal_ids: ids of proposals.
            at: when it was decided, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            NotFoundError: no visible proposal has one of the ids.
            ForeignScopeError: a proposal belongs to another scope.
            PersonOnlyError: a proposal takes back what a person stated, and the handle was made for
                another writer than a person.
        """
        to = self._state.context
        by = _decision(origin, at)
        apply = {
            EventType.PROPOSE_UPDATE: lineage.replace_with,
            EventType.PROPOSE_RETRACT: recording.retract_with,
        }
        done = await review.accept(to, tuple(proposal_ids), by, apply)
        if done.belief_ids:
            await writing.embed_statements(to, done.belief_ids)
        return done

    async def dismiss(
        self,
        proposal_ids: ProposalIds,
        *,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> ReviewReport:
        """Dismiss proposals for good: all of them or none.

        Args:
            proposal_ids: ids of proposals.
            at: when it was decided, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            RefusedError: a proposal is already accepted.
        """
        by = _decision(origin, at)
        return await review.dismiss(self._state.context, tuple(proposal_ids), by)


class Proposals(Namespace):
    """Methods that review proposals; blocking twin of `AsyncProposals`."""

    list = blocking(AsyncProposals.list)
    accept = blocking(AsyncProposals.accept)
    dismiss = blocking(AsyncProposals.dismiss)


def _decision(origin: Origin | None, at: datetime | None) -> EventSource:
    if origin is not None and origin.event_id is not None:
        raise InvalidInputError(
            "origin.event_id: must be left out.", hint="The id of a proposal identifies its event."
        )
    return event_source(origin, at)
