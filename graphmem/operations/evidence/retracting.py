"""Take evidence back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from graphmem import catalog
from graphmem.errors import ForeignScopeError, RefusedError
from graphmem.model import EventSource, EventType, RetractionReceipt, TenantScope
from graphmem.operations.evidence import writing
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, drafts, identity

RETRACT_LOCK = catalog.query("commit/lock", catalog.ignored)
RETRACT = catalog.query("belief/retract", catalog.ignored)


async def retract(to: RequestContext, target_id: str, given: EventSource) -> RetractionReceipt:
    """Cancel one event for every valid time, from now on; it may not be there yet.

    A retraction can be retracted in turn: of all that concern an event the newest holds.

    Raises:
        RefusedError: the event is neither evidence nor a retraction, or is the retraction itself.
        ForeignScopeError: it belongs to another scope.
        EventConflictError: the id was used for something else.
        InvalidInputError: it lies in the future.
    """
    if given.id == target_id:
        raise RefusedError("An event cannot retract itself.", hint="Give it an id of its own.")
    now = to.world.clock.now()
    event_id = given.id or identity.event_id(now)
    row: dict[str, Any] = {
        "id": event_id,
        "scope": to.wall.scope,
        "type": EventType.RETRACT,
        "occurred_at": drafts.happened(given.at, now),
        "request_hash": drafts.request_hash(
            to.wall.scope, EventType.RETRACT, target_id, *claims.stated(given)
        ),
        **claims.origin(given),
        "target_id": target_id,
        "payload": json.dumps({"note": given.note} if given.note else {}, ensure_ascii=False),
    }

    async def work(tx: Tx) -> RetractionReceipt:
        # The tenant too: a state of the slot that is being computed must not outlive this.
        await tx.fetch(RETRACT_LOCK, tenant=to.wall.tenant)
        await tx.fetch(writing.LOCK_NAMES, tenant=to.wall.tenant, ids=sorted({event_id, target_id}))
        found = await writing.look(tx, to, [event_id, target_id], [])
        events = {event["id"]: event for event in found["events"]}
        target, known = events.get(target_id), events.get(event_id)
        _retractable(target, to.wall)
        if known is not None:
            writing.same(known, row["request_hash"])
        else:
            await tx.fetch(RETRACT, tenant=to.wall.tenant, event=row)
        return RetractionReceipt(
            event_id=event_id,
            target_id=target_id,
            found=target is not None and target["scope"] == to.wall.scope,
            repeated=known is not None,
        )

    return await to.world.graph.write(work)


def _retractable(target: Mapping[str, Any] | None, wall: TenantScope) -> None:
    if target is None or target["scope"] not in wall.scopes:
        return
    if target["scope"] != wall.scope:
        raise ForeignScopeError(f"Event {target['id']!r} belongs to scope {target['scope']!r}.")
    if not target["speaks"] and target["type"] != EventType.RETRACT:
        raise RefusedError(
            f"Event {target['id']!r} is a {target['type']}: only evidence can be taken back.",
            hint="To hide a memory there is `deprecate`; to change a belief `revise`.",
        )
