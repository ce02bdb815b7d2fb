"""Keep what the older evidence of long slots comes to, so that reading them stays cheap."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from graphmem import catalog
from graphmem.errors import GraphmemError
from graphmem.model import Policy
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, moments

NEWEST = 128
"""Pieces that stay out, the newest in the world: a late one seldom lies before them."""
LEAST = 128
"""Pieces that must be new for a checkpoint to be worth while."""
MOST_AT_ONCE = 8
"""Slots that one write looks after."""

CHECKPOINT_LOCK = catalog.query("belief/lock_checkpoint", lambda row: row["settled"])
KEEP = catalog.query("belief/checkpoint", lambda row: row["events"])
DROP = catalog.query("belief/drop_checkpoint", catalog.ignored)
LONG = catalog.query("belief/long_slots", lambda row: SlotKey(**row["place"]))

log = logging.getLogger("graphmem")


@dataclass(frozen=True, slots=True)
class SlotKey:
    """Where a slot is, in the names of the graph."""

    slot_id: str
    scope: str
    subject_key: str
    predicate_key: str


async def keep(
    to: RequestContext,
    place: SlotKey,
    *,
    newest: int = NEWEST,
    least: int = LEAST,
    longest_s: float = moments.LONGEST.total_seconds(),
) -> int:
    """Bring a slot's checkpoint up to date and return how many pieces it holds more than before.

    Args:
        to: where.
        place: the slot.
        newest: pieces that stay out.
        least: pieces that must be new; with fewer nothing is changed.
        longest_s: seconds for which a write may be under way.
    """

    async def work(tx: Tx) -> int:
        [settled] = await tx.fetch(
            CHECKPOINT_LOCK, tenant=to.wall.tenant, slot_id=place.slot_id, longest_s=longest_s
        )
        weights = dict(to.world.settings.source_weights)
        added = await tx.fetch(
            KEEP,
            tenant=to.wall.tenant,
            slot_id=place.slot_id,
            scope=place.scope,
            subject=place.subject_key,
            predicate=place.predicate_key,
            now=to.world.clock.now(),
            known=None,
            settled=settled,
            newest=newest,
            least=least,
            policy=None,
            present_policy=True,
            default_policy=claims.policy_fields(Policy()),
            weights=weights,
            weights_key=claims.weights_key(weights),
        )
        if not added:
            await tx.fetch(DROP, tenant=to.wall.tenant, slot_id=place.slot_id, whole=False)
        return sum(added)

    return await to.world.graph.write(work)


async def forget(to: RequestContext, place: SlotKey) -> None:
    """Take a slot's checkpoint away, whatever it holds."""

    async def work(tx: Tx) -> None:
        await tx.fetch(CHECKPOINT_LOCK, tenant=to.wall.tenant, slot_id=place.slot_id, longest_s=0.0)
        await tx.fetch(DROP, tenant=to.wall.tenant, slot_id=place.slot_id, whole=True)

    await to.world.graph.write(work)


async def look_after(to: RequestContext, places: Iterable[SlotKey]) -> None:
    """Bring some checkpoints up to date after a write; the write stands whatever becomes of it."""
    for place in list(dict.fromkeys(places))[:MOST_AT_ONCE]:
        try:
            await keep(to, place)
        except GraphmemError:
            log.warning("The checkpoint of slot %s was not brought up to date.", place.slot_id)


async def long_slots(to: RequestContext, least: int = NEWEST + LEAST) -> list[SlotKey]:
    """Return every slot of the tenant that has at least so many pieces of evidence."""
    return await to.world.graph.read(lambda tx: tx.fetch(LONG, tenant=to.wall.tenant, least=least))
