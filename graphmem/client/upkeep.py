"""Methods of a handle that verify and rebuild caches from the events."""

from __future__ import annotations

import math
from dataclasses import replace

from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking
from graphmem.model import BackfillReport, Mismatch, RebuildReport, Slot
from graphmem.operations import belief, caches, consolidation, evidence
from graphmem.ports import OnPart, RequestContext, silent
from graphmem.rules.read_options import ReadOptions

TOLERANCE = 1e-9
CANDIDATES = 1_000


class AsyncUpkeep(Instrumented):
    """Methods that verify and rebuild the caches of a tenant, awaited."""

    async def verify(self, on_part: OnPart = silent) -> RebuildReport:
        """Compare every cache of the tenant with its events; nothing is written.

        Compares the edges from consolidation's events to their beliefs, the status of memories
        and beliefs, their SUPERSEDES edges, and long slots read with and without checkpoints.

        Args:
            on_part: progress callback; receives a kind and the number of nodes or slots.
        """
        to = self._state.binding
        mismatches = await consolidation.replay(to, mend=False, on_page=on_part)
        mismatches += await caches.lineage(to, mend=False, on_page=on_part)
        for slot in await evidence.long_slots(to):
            mismatches += await _slot_mismatches(to, slot)
            on_part("slot", 1)
        return RebuildReport(wrong=tuple(mismatches))

    async def rebuild(self, on_part: OnPart = silent) -> RebuildReport:
        """Rebuild every cache of the tenant from its events; safe to interrupt and to repeat.

        Missing beliefs that consolidation derived are restored too. That needs no model, because
        the decision about each cluster is stored.

        Args:
            on_part: progress callback; receives a kind and the number of nodes or slots.
        """
        return await rebuilt(self._state.binding, on_part)

    async def backfill(self, on_part: OnPart = silent) -> BackfillReport:
        """Create missing events for memories written by another tool or in an older layout.

        Every read depends on events: a Memory node without events appears in no history and at no
        past time. A memory without an event of its own scope gets an ADD at its `created_at`, and
        `reinforce_count` REINFORCE_EXACT events, at most 1,000. Their times are spread evenly up
        to its `last_seen_at`, or are `created_at` without one. A deprecated memory gets a
        DEPRECATE at the current time, since the original time is unknown. A SUPERSEDES edge
        without an event gets a SUPERSEDE at its `occurred_at`, else at the start of the newer
        memory, but late enough to supersede the older one. All events have the source `backfill`
        and a payload that marks them as synthetic.

        Nodes must have `tenant`, `id`, `scope` and `content`; `content_hash`, `tenant_key` and
        `scope_key` are computed from them. Other missing properties are filled in: `created_at`
        (the earlier of `last_seen_at` and `recorded_at`, else now), `recorded_at` (now, by the
        server's clock), `status` (current), `tags` (none) and the embedding. An embedding of the
        right length is assumed to be from this graph's model; remove it to have it recomputed.
        Nodes with missing or mistyped properties are skipped and reported with a remedy. Nodes
        without a `tenant` are not found.

        Safe to interrupt, to repeat and to run concurrently: each memory is completed in one
        transaction, under ids derived from its own, and complete memories are skipped. Run it
        before any other write: a memory that was written again already has an event.

        Args:
            on_part: progress callback; receives `memory` or `edge` and the number checked.
        """
        return await caches.make_whole(self._state.binding, on_part)


async def rebuilt(to: RequestContext, on_part: OnPart) -> RebuildReport:
    """Rebuild every cache of a tenant; see `AsyncUpkeep.rebuild`."""
    mismatches = await consolidation.replay(to, mend=True, on_page=on_part)
    mismatches += await caches.lineage(to, mend=True, on_page=on_part)
    checkpointed = 0
    for slot in await evidence.long_slots(to):
        await evidence.forget_checkpoint(to, slot)
        checkpointed += await evidence.keep_checkpoint(to, slot)
        on_part("slot", 1)
    await evidence.embed_statements(to)
    return RebuildReport(wrong=tuple(mismatches), checkpointed=checkpointed)


async def _slot_mismatches(to: RequestContext, slot: evidence.SlotKey) -> list[Mismatch]:
    in_scope = replace(
        to, wall=to.wall.model_copy(update={"scope": slot.scope, "scopes": (slot.scope,)})
    )
    readings = [
        await belief.current(
            in_scope,
            slot.subject_key,
            slot.predicate_key,
            ReadOptions(),
            limit=CANDIDATES,
            from_zero=from_zero,
        )
        for from_zero in (False, True)
    ]
    if _agree(*readings):
        return []
    cached, found = (
        "; ".join(f"{c.object} {c.belief:.12g}" for c in reading.candidates[:5])
        for reading in readings
    )
    return [Mismatch(kind="slot", id=slot.slot_id, cached=cached, found=found)]


def _agree(cached: Slot, found: Slot) -> bool:
    if len(cached.candidates) != len(found.candidates):
        return False
    pairs = zip(cached.candidates, found.candidates, strict=True)
    return all(
        here.belief_id == there.belief_id
        and here.events == there.events
        and math.isclose(here.score, there.score, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        for here, there in pairs
    )


class Upkeep:
    """Methods that verify and rebuild the caches of a tenant; blocking twin of `AsyncUpkeep`."""

    _state: HandleState

    verify = blocking(AsyncUpkeep.verify)
    rebuild = blocking(AsyncUpkeep.rebuild)
    backfill = blocking(AsyncUpkeep.backfill)
