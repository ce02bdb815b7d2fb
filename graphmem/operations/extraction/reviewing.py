"""Proposals that wait for somebody's decision: listed, accepted, rejected."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from graphmem import catalog
from graphmem.errors import ForeignScopeError, NotFoundError, RefusedError
from graphmem.model import EventSource, EventType, ProposalPage, ProposalStatus, ReviewReport
from graphmem.operations.extraction import writing
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, drafts, identity, moments, paging
from graphmem.rules.conflicts import consistent
from graphmem.rules.extraction import saying

LOCK = catalog.query("commit/lock", catalog.ignored)
PROPOSALS = catalog.query("extract/proposals", lambda row: row["proposal"])
PROPOSED = catalog.query("extract/proposed", lambda row: row["proposal"])
DECIDE = catalog.query("extract/decide", catalog.ignored)


@consistent
async def page(
    to: RequestContext, status: ProposalStatus | None, *, cursor: str | None, limit: int
) -> ProposalPage:
    """Return one page of proposals, oldest first, and the cursor of the next.

    Raises:
        InvalidInputError: the cursor was not made by `page`.
    """
    at, last_id = paging.position(cursor)
    rows = await to.world.graph.read(
        lambda tx: tx.fetch(
            PROPOSALS,
            tenant=to.wall.tenant,
            scopes=list(to.wall.scopes),
            status=status,
            after_at=at or moments.BEGINNING,
            after_id=last_id or "",
            limit=limit,
        )
    )
    last = rows[-1] if len(rows) == limit else None
    return ProposalPage(
        proposals=tuple(saying.proposed(row) for row in rows),
        next_cursor=paging.cursor(last["recorded_at"], last["id"]) if last else None,
    )


async def accept(to: RequestContext, ids: Sequence[str], given: EventSource) -> ReviewReport:
    """Let proposals become evidence; what is evidence already is passed over.

    Raises:
        NotFoundError: nothing visible has one of the ids; nothing is accepted.
        ForeignScopeError: a proposal belongs to another scope; likewise.
    """
    return await _decide(to, EventType.ACCEPT, ids, given)


async def reject(to: RequestContext, ids: Sequence[str], given: EventSource) -> ReviewReport:
    """Refuse proposals: no extraction proposes them again.

    Raises:
        NotFoundError, ForeignScopeError: see `accept`.
        RefusedError: one of them was accepted; nothing is rejected.
    """
    return await _decide(to, EventType.REJECT, ids, given)


async def _decide(to: RequestContext, kind: EventType, ids: Sequence[str], given: EventSource) -> ReviewReport:
    wanted = list(dict.fromkeys(ids))
    now = to.world.clock.now()

    async def work(tx: Tx) -> ReviewReport:
        # Of an acceptance and a rejection at once the first holds.
        await tx.fetch(LOCK, tenant=to.wall.tenant)
        rows = await tx.fetch(
            PROPOSED, tenant=to.wall.tenant, scopes=list(to.wall.scopes), ids=wanted
        )
        _decidable(rows, wanted, to.wall.scope, kind)
        done = {EventType.ACCEPT: ProposalStatus.ACCEPTED}.get(kind, ProposalStatus.REJECTED)
        fresh = [row for row in rows if row["status"] != done]
        events = [_row(row["id"], to, kind, given) for row in fresh]
        await tx.fetch(DECIDE, tenant=to.wall.tenant, events=events)
        said = [saying.stored(row) for row in fresh] if kind is EventType.ACCEPT else []
        await writing.append(tx, to, said, now)
        return ReviewReport(
            proposal_ids=tuple(row["id"] for row in fresh),
            repeated=tuple(row["id"] for row in rows if row["status"] == done),
            event_ids=tuple(one.event_id for one in said),
            belief_ids=tuple(one.claim.id for one in said),
        )

    return await to.world.graph.write(work)


def _decidable(
    rows: Sequence[Mapping[str, Any]], wanted: Sequence[str], scope: str, kind: EventType
) -> None:
    there = {row["id"]: row for row in rows}
    for proposal_id in wanted:
        if proposal_id not in there:
            raise NotFoundError(f"No proposal {proposal_id!r}.")
        row = there[proposal_id]
        if row["scope"] != scope:
            raise ForeignScopeError(f"Proposal {proposal_id!r} belongs to scope {row['scope']!r}.")
        if kind is EventType.REJECT and row["status"] == ProposalStatus.ACCEPTED:
            event_id = saying.stored(row).event_id
            raise RefusedError(
                f"Proposal {proposal_id!r} was accepted.",
                hint=f"Take its evidence back: `retract` {event_id!r}.",
            )


def _row(proposal_id: str, to: RequestContext, kind: EventType, given: EventSource) -> dict[str, Any]:
    return {
        "id": f"{kind.lower()}_" + identity.digest(proposal_id)[:32],
        "proposal_id": proposal_id,
        "scope": to.wall.scope,
        "type": kind,
        "occurred_at": drafts.happened(given.at, to.world.clock.now()),
        "request_hash": drafts.request_hash(to.wall.scope, kind, proposal_id),
        **claims.origin(given),
        "payload": json.dumps({"note": given.note} if given.note else {}, ensure_ascii=False),
    }
