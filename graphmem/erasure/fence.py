"""Mark a tenant that moves to another graph, so that every client refuses to write to it."""

from __future__ import annotations

from typing import Literal

from graphmem.erasure import guard
from graphmem.graph import catalog
from graphmem.integrity import sealing
from graphmem.model.terms import Record
from graphmem.ports import RequestContext
from graphmem.rules import identity

KEY = "move"
"""Key of the mark among the tombstones of a tenant, whose other keys are digests or record ids."""

FIND = catalog.query("erase/find_tombstones", lambda row: row["move"])
FENCE = catalog.query("erase/fence", catalog.ignored)
LIFT = catalog.query("erase/lift_tombstone", catalog.ignored)


class Fence(Record):
    """Mark of a tenant that moves."""

    what: Literal["moved", "arriving"]
    """Whether it moved away from this graph, or is being moved to it."""
    address: str
    """Server to which it moved, or from which it arrives."""


async def find(context: RequestContext) -> Fence | None:
    """Return the mark of the tenant of a context; None if it does not move."""
    owner = identity.tenant_key(context.tenant)
    [found] = await context.fetch(FIND, tenant=owner, keys=[])
    return None if found is None else Fence(**found)


async def put(context: RequestContext, fence: Fence) -> None:
    """Mark a tenant, and wait for the writes that may not have seen the mark."""
    owner = identity.tenant_key(context.tenant)
    await context.fetch(FENCE, tenant=owner, **fence.model_dump())
    await context.services.clock.sleep(guard.TRUST_S)
    await sealing.settled(context)


async def lift(context: RequestContext) -> None:
    """Remove the mark of a tenant."""
    await context.fetch(LIFT, tenant=identity.tenant_key(context.tenant), key=KEY)
