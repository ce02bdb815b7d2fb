"""Lock what a write depends on, and look up and check what is stored already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from graphmem import catalog
from graphmem.errors import EventConflictError, ForeignScopeError, NotFoundError
from graphmem.ports import RequestContext, Tx

LOCK_TENANT = catalog.query("commit/lock", catalog.ignored)
LOCK_EVENT_IDS = catalog.query("belief/lock_event_ids", catalog.ignored)
FIND_EXISTING = catalog.query("belief/find_existing", dict)


async def lock(tx: Tx, event_ids: Iterable[str] = ()) -> None:
    """Lock the tenant and the ids of the events to write."""
    await tx.fetch(LOCK_TENANT)
    if ids := sorted(event_ids):
        await tx.fetch(LOCK_EVENT_IDS, ids=ids)


async def find_existing(
    tx: Tx | RequestContext, event_ids: Iterable[str] = (), belief_ids: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the stored events and beliefs with these ids; see belief/find_existing."""
    asked = {"event_ids": list(event_ids), "belief_ids": list(belief_ids)}
    [found] = await tx.fetch(FIND_EXISTING, **asked)
    return found


def check_same_request(event: Mapping[str, Any], event_id: str, request_hash: str) -> None:
    """Check that a stored event is the requested one.

    Raises:
        EventConflictError: the event id belongs to a different event.
    """
    if event["request_hash"] != request_hash:
        raise EventConflictError(f"The id {event_id!r} was used for something else.")


def own(row: Mapping[str, Any] | None, label: str, item_id: str, scope: str) -> Mapping[str, Any]:
    """Return the row of a visible item, which must be of the write scope.

    Args:
        row: the item with its scope; None if there is none.
        label: kind of the item, for errors, for example "Belief".
        item_id: id of the item.
        scope: write scope.

    Raises:
        NotFoundError: no visible item has this id.
        ForeignScopeError: the item belongs to another scope.
    """
    if row is None:
        raise NotFoundError(f"No {label.lower()} {item_id!r}.")
    if row["scope"] != scope:
        raise ForeignScopeError(f"{label} {item_id!r} belongs to scope {row['scope']!r}.")
    return row
