"""Namespace `proposals` of a handle."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from graphmem.client.arguments import event_source, several
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.client.state import MAX_ROWS, bounded, valid
from graphmem.extraction import ProposalPage, ProposalStatus, ReviewReport, review
from graphmem.model import Name, Record
from graphmem.operations import evidence, lineage


class _Status(Record):
    status: ProposalStatus | None


class _Ids(Record):
    proposal_ids: tuple[Name, ...]


class AsyncProposals(AsyncNamespace):
    """Methods that review proposals, awaited."""

    _prefix = "proposals."

    async def list(
        self, *, status: str | None = "open", cursor: str | None = None, limit: int = 50
    ) -> ProposalPage:
        """Return a page of the proposals of extraction and of updates, oldest first.

        Args:
            status: open, accepted or dismissed; None for all.
            cursor: `next_cursor` of the previous page; `status` must be the same.
            limit: maximum number of proposals, 1 to 1,000.

        Raises:
            InvalidInputError: an argument is invalid.
        """
        wanted = valid(_Status, status=status).status
        count = bounded("limit", limit, MAX_ROWS)
        return await review.page(self._state.context, wanted, cursor=cursor, limit=count)

    async def accept(
        self,
        proposal_ids: Iterable[str],
        *,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> ReviewReport:
        """Turn proposals into evidence, and those of updates into supersessions: all or none.

        Evidence declares the cardinality that its proposal suggests, if its predicate is undeclared
        and not on the built-in list. A dismissed proposal can be accepted later. `retract` takes
        the evidence of an accepted proposal back, `memories.restore` reverts an update.

        Args:
            proposal_ids: ids of proposals.
            at: when it was decided, with a time zone; now by default.
            source: where the decision comes from, for example manual.
            actor: who decided.
            artifact_ref: file name, address or session that it comes from.
            note: why; kept with the event.

        Raises:
            NotFoundError: no visible proposal has one of the ids.
            ForeignScopeError: a proposal belongs to another scope.
            InvalidInputError: an argument is invalid.
        """
        to = self._state.context
        origin = event_source(None, at, source, actor, artifact_ref, note)
        done = await review.accept(to, _ids(proposal_ids), origin, lineage.replace_with)
        if done.belief_ids:
            await evidence.embed_statements(to, done.belief_ids)
        return done

    async def dismiss(
        self,
        proposal_ids: Iterable[str],
        *,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> ReviewReport:
        """Dismiss proposals, all of them or none; no extraction proposes them again.

        Args:
            proposal_ids: ids of proposals.
            at: when it was decided, with a time zone; now by default.
            source: where the decision comes from, for example manual.
            actor: who decided.
            artifact_ref: file name, address or session that it comes from.
            note: why; kept with the event.

        Raises:
            RefusedError: a proposal is already accepted.
            NotFoundError, ForeignScopeError, InvalidInputError: see `accept`.
        """
        origin = event_source(None, at, source, actor, artifact_ref, note)
        return await review.dismiss(self._state.context, _ids(proposal_ids), origin)


class Proposals(Namespace):
    """Methods that review proposals; blocking twin of `AsyncProposals`."""

    list = blocking(AsyncProposals.list)
    accept = blocking(AsyncProposals.accept)
    dismiss = blocking(AsyncProposals.dismiss)


def _ids(given: Iterable[str]) -> tuple[str, ...]:
    return valid(_Ids, proposal_ids=tuple(several("proposal_ids", given))).proposal_ids
