"""The log of what was looked at: telemetry, on which no belief, no status and no trace rests.

Only how easily a belief comes to mind does: see rules/vitality.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from graphmem import catalog
from graphmem.model import EventType
from graphmem.ports import Binding, Tx, World
from graphmem.rules import drafts, identity

LOG = catalog.query("attention/log", lambda row: row["written"])


@dataclass(frozen=True, slots=True)
class Access:
    """One look at one item, made at the instant of looking."""

    tenant: str
    event_id: str
    scope: str
    label: str
    """Memory, Belief, Turn or Episode."""
    item_id: str
    at: datetime
    actor: str | None


def access(to: Binding, label: str, item_id: str, actor: str | None) -> Access:
    """Return a look of a handle's scope at an item, now."""
    now = to.world.clock.now()
    wall = to.wall
    return Access(wall.tenant, identity.event_id(now), wall.scope, label, item_id, now, actor)


async def write(world: World, accesses: Iterable[Access]) -> int:
    """Append them in one transaction and return how many are new.

    One that is there already is passed over, so writing them again is harmless; so is one whose
    item is no longer there.
    """
    # In one order everywhere, two writers wait for each other's items and never in a ring.
    ordered = sorted(accesses, key=lambda one: (one.tenant, one.label, one.item_id, one.event_id))
    batches = [(tenant, [_row(one) for one in of]) for tenant, of in groupby(ordered, _tenant)]

    async def work(tx: Tx) -> int:
        written = 0
        for tenant, rows in batches:
            written += sum(await tx.fetch(LOG, tenant=tenant, events=rows))
        return written

    return await world.graph.write(work) if batches else 0


def _tenant(one: Access) -> str:
    return one.tenant


def _row(one: Access) -> Mapping[str, Any]:
    return {
        "id": one.event_id,
        "label": one.label,
        "item_id": one.item_id,
        "scope": one.scope,
        "type": EventType.ACCESS,
        "occurred_at": one.at,
        "request_hash": drafts.request_hash(one.scope, EventType.ACCESS, one.label, one.item_id),
        "actor": one.actor,
    }
