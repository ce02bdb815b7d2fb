"""The part of a handle that holds what is cached to the events."""

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
    """The caches of a tenant, awaited."""

    async def verify(self, on_part: OnPart = silent) -> RebuildReport:
        """Compare every cache of the tenant with what its events say; nothing is written.

        Looked at are the edges from consolidation's events to their beliefs, the status of
        memories and beliefs, their SUPERSEDES edges, and the checkpoints of long slots, which are
        read with and without them.

        Args:
            on_part: told after each part what it was and how many nodes or slots it had.
        """
        to = self._state.binding
        wrong = await consolidation.replay(to, mend=False, on_page=on_part)
        wrong += await caches.lineage(to, mend=False, on_page=on_part)
        for place in await evidence.long_slots(to):
            wrong += await _compared(to, place)
            on_part("slot", 1)
        return RebuildReport(wrong=tuple(wrong))

    async def rebuild(self, on_part: OnPart = silent) -> RebuildReport:
        """Make every cache of the tenant anew from its events; safe to interrupt and to repeat.

        Beliefs that consolidation derived come back too, should they be gone, without a model:
        what was decided of each cluster is kept.

        Args:
            on_part: told after each part what it was and how many nodes or slots it had.
        """
        return await rebuilt(self._state.binding, on_part)

    async def backfill(self, on_part: OnPart = silent) -> BackfillReport:
        """Make the events that memories of another tool, or of an older layout, came without.

        Every read rests on events: a Memory node that has none is in no history and never was at
        any past time. One that has no event of its own scope gets an ADD at its `created_at`, and
        as many REINFORCE_EXACT as its `reinforce_count` says, at most 1,000: evenly up to its
        `last_seen_at`, or all at `created_at` without one. One kept as deprecated gets a DEPRECATE
        of now, for nothing says since when. A SUPERSEDES edge without an event gets a SUPERSEDE of
        its `occurred_at`, else of when the newer memory began, but never so early that the older
        one would not be superseded. All have the source `backfill`, and a payload that calls them
        synthetic.

        `tenant`, `id`, `scope` and `content` must be there. `content_hash`, `tenant_key` and
        `scope_key` are made from them. Filled in where it lacks is `created_at` (the earlier of
        `last_seen_at` and `recorded_at`, else now), `recorded_at` (now, by the server's clock),
        `status` (current), `tags` (none) and the embedding. An embedding of the right length is
        taken for one of this graph's model: remove it to have it made anew. What was left as it
        is, because something lacks or is of the wrong type, is reported with what to do; nodes
        without a `tenant` belong to nobody and are not seen.

        Safe to interrupt, to repeat and to run twice at once: each memory is made whole in one
        transaction, under ids that follow from its own, and what is whole is left alone. Run it
        before anything else is written: a memory that was said again has an event.

        Args:
            on_part: told after each part what it was, memory or edge, and how many of them.
        """
        return await caches.make_whole(self._state.binding, on_part)


async def rebuilt(to: RequestContext, on_part: OnPart) -> RebuildReport:
    """Make every cache of a tenant anew; see `AsyncUpkeep.rebuild`."""
    wrong = await consolidation.replay(to, mend=True, on_page=on_part)
    wrong += await caches.lineage(to, mend=True, on_page=on_part)
    held = 0
    for place in await evidence.long_slots(to):
        await evidence.forget_checkpoint(to, place)
        held += await evidence.keep_checkpoint(to, place)
        on_part("slot", 1)
    await evidence.embed_statements(to)
    return RebuildReport(wrong=tuple(wrong), checkpointed=held)


async def _compared(to: RequestContext, place: evidence.SlotKey) -> list[Mismatch]:
    at = replace(
        to, wall=to.wall.model_copy(update={"scope": place.scope, "scopes": (place.scope,)})
    )
    slots = [
        await belief.current(
            at,
            place.subject_key,
            place.predicate_key,
            ReadOptions(),
            limit=CANDIDATES,
            from_zero=from_zero,
        )
        for from_zero in (False, True)
    ]
    if _alike(*slots):
        return []
    cached, found = (
        "; ".join(f"{c.object} {c.belief:.12g}" for c in slot.candidates[:5]) for slot in slots
    )
    return [Mismatch(kind="slot", id=place.slot_id, cached=cached, found=found)]


def _alike(cached: Slot, found: Slot) -> bool:
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
    """The caches of a tenant, blocking: the twin of `AsyncUpkeep`."""

    _state: HandleState

    verify = blocking(AsyncUpkeep.verify)
    rebuild = blocking(AsyncUpkeep.rebuild)
    backfill = blocking(AsyncUpkeep.backfill)
