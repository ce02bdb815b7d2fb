"""Mark a belief: archive it, restore it, flag it for revision, or say that this is resolved."""

from __future__ import annotations

import json
from typing import Any

from graphmem import catalog
from graphmem.errors import ForeignScopeError, NotFoundError, SupersededBeliefError
from graphmem.model import EventSource, EventType, Status, StatusReceipt
from graphmem.operations.evidence import writing
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, drafts, identity

LOCK = catalog.query("commit/lock", catalog.ignored)
MARK = catalog.query("belief/mark", dict)


async def mark(to: RequestContext, kind: EventType, belief_id: str, given: EventSource) -> StatusReceipt:
    """Append one ARCHIVE, RESTORE, FLAG or RESOLVE event to a belief and return what it is now.

    Of all marks the newest holds, by (instant, id); a statement since brings an archived belief
    back, too.

    Raises:
        NotFoundError: nothing visible has this id.
        ForeignScopeError: the belief belongs to another scope.
        SupersededBeliefError: it is to be archived, and something stands in its place.
        EventConflictError: the id was used for something else.
        InvalidInputError: it lies in the future.
    """
    now = to.world.clock.now()
    event_id = given.id or identity.event_id(now)
    row: dict[str, Any] = {
        "id": event_id,
        "belief_id": belief_id,
        "scope": to.wall.scope,
        "type": kind,
        "occurred_at": drafts.happened(given.at, now),
        "request_hash": drafts.request_hash(to.wall.scope, kind, belief_id, *claims.stated(given)),
        **claims.origin(given),
        "payload": json.dumps({"note": given.note} if given.note else {}, ensure_ascii=False),
    }

    async def work(tx: Tx) -> StatusReceipt:
        await tx.fetch(LOCK, tenant=to.wall.tenant)
        await tx.fetch(writing.LOCK_NAMES, tenant=to.wall.tenant, ids=[event_id])
        found = await writing.look(tx, to, [event_id], [belief_id])
        for event in found["events"]:
            writing.same(event, row["request_hash"])
        if not found["beliefs"]:
            raise NotFoundError(f"No belief {belief_id!r}.")
        [belief] = found["beliefs"]
        if belief["scope"] != to.wall.scope:
            raise ForeignScopeError(f"Belief {belief_id!r} belongs to scope {belief['scope']!r}.")
        repeated = bool(found["events"])
        hides = kind is EventType.ARCHIVE and not repeated
        if hides and belief["status"] == Status.SUPERSEDED:
            raise SupersededBeliefError(f"Belief {belief_id!r} was superseded already.")
        [done] = await tx.fetch(MARK, tenant=to.wall.tenant, events=[row])
        return StatusReceipt(
            event_id=event_id,
            belief_id=belief_id,
            changed=done["changed"],
            status=done["status"],
            flagged=done["flagged"],
            repeated=repeated,
        )

    return await to.world.graph.write(work)
