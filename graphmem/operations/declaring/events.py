"""One event that holds for a whole tenant, appended once."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem import catalog
from graphmem.errors import EventConflictError
from graphmem.model import GLOBAL_SCOPE, EventSource, EventType
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, drafts, identity

LOCK = catalog.query("commit/lock", catalog.ignored)
LOCK_NAMES = catalog.query("belief/lock_names", catalog.ignored)
LOOK = catalog.query("belief/look", dict)


def drafted(
    kind: EventType,
    said: Sequence[str | None],
    payload: Mapping[str, str | None],
    given: EventSource,
    now: datetime,
) -> dict[str, Any]:
    """Return the event's own fields but those that only its kind has.

    Args:
        kind: of event.
        said: what a repeated id is compared by, beside where the event comes from.
        payload: what is kept as it was written; the note is added.
        given: where it comes from.
        now: by the clock.

    Raises:
        InvalidInputError: it lies in the future.
    """
    return {
        "id": given.id or identity.event_id(now),
        "scope": GLOBAL_SCOPE,
        "type": kind,
        "occurred_at": drafts.happened(given.at, now),
        "request_hash": drafts.request_hash(kind, *said, *claims.stated(given)),
        **claims.origin(given),
        "payload": json.dumps({**payload, "note": given.note}, ensure_ascii=False),
    }


async def append(
    to: RequestContext, row: Mapping[str, Any], write: Callable[[Tx], Coroutine[Any, Any, None]]
) -> None:
    """Do what appends an event, under the lock of its tenant; nothing, when it is there already.

    Raises:
        EventConflictError: the id was used for something else.
    """

    async def work(tx: Tx) -> None:
        await tx.fetch(LOCK, tenant=to.wall.tenant)
        await tx.fetch(LOCK_NAMES, tenant=to.wall.tenant, ids=[row["id"]])
        [found] = await tx.fetch(
            LOOK,
            tenant=to.wall.tenant,
            scopes=list(to.wall.scopes),
            event_ids=[row["id"]],
            belief_ids=[],
        )
        for event in found["events"]:
            if event["request_hash"] != row["request_hash"]:
                raise EventConflictError(f"The id {row['id']!r} was used for something else.")
            return
        await write(tx)

    await to.world.graph.write(work)
