"""The part of a handle that holds what is cached to the events."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from graphmem.client.state import State, blocking
from graphmem.model import Mismatch, Rebuilt, Slot
from graphmem.operations import belief, evidence, rebuilding
from graphmem.ports import Binding
from graphmem.rules.asking import Reading

TOLERANCE = 1e-9
CANDIDATES = 1_000

OnPart = Callable[[str, int], None]


def _silent(_kind: str, _count: int) -> None:
    """Say nothing."""


class AsyncUpkeep:
    """The caches of a tenant, awaited."""

    _state: State

    async def verify(self, on_part: OnPart = _silent) -> Rebuilt:
        """Compare every cache of the tenant with what its events say; nothing is written.

        Looked at are the status of memories and beliefs, their SUPERSEDES edges, and the
        checkpoints of long slots, which are read with and without them.

        Args:
            on_part: told after each part what it was and how many nodes or slots it had.
        """
        to = self._state.binding
        wrong = await rebuilding.lineage(to, mend=False, on_page=on_part)
        for place in await evidence.long_slots(to):
            wrong += await _compared(to, place)
            on_part("slot", 1)
        return Rebuilt(wrong=tuple(wrong))

    async def rebuild(self, on_part: OnPart = _silent) -> Rebuilt:
        """Make every cache of the tenant anew from its events; safe to interrupt and to repeat.

        Args:
            on_part: told after each part what it was and how many nodes or slots it had.
        """
        to = self._state.binding
        wrong = await rebuilding.lineage(to, mend=True, on_page=on_part)
        held = 0
        for place in await evidence.long_slots(to):
            await evidence.forget_checkpoint(to, place)
            held += await evidence.keep_checkpoint(to, place)
            on_part("slot", 1)
        await evidence.embed_statements(to)
        return Rebuilt(wrong=tuple(wrong), checkpointed=held)


async def _compared(to: Binding, place: evidence.Place) -> list[Mismatch]:
    at = replace(
        to, wall=to.wall.model_copy(update={"scope": place.scope, "scopes": (place.scope,)})
    )
    slots = [
        await belief.current(
            at,
            place.subject_key,
            place.predicate_key,
            Reading(),
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

    _state: State

    verify = blocking(AsyncUpkeep.verify)
    rebuild = blocking(AsyncUpkeep.rebuild)
