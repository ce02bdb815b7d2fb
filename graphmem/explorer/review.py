"""Queue of a person: proposals, flagged beliefs, and memories that may be outdated."""

from __future__ import annotations

from asyncio import gather
from typing import Any

from graphmem.errors import InvalidInputError
from graphmem.explorer.correction import BETWEEN, PAIR
from graphmem.explorer.reader import Asked, Reader
from graphmem.model import Belief

RIGHTS = {
    "accept": "review",
    "dismiss": "review",
    "keep": "review",
    "reject": "review",
    "retire": "write",
}
"""Right that each decision needs."""
STALE = 20
NEWEST = 100
"""Number of newest beliefs among which the flagged ones are shown."""


async def review(reader: Reader, asked: Asked) -> tuple[str, dict[str, Any]]:
    """Show what waits for a decision, with what a person typed before a session ended."""
    reader.need("read")
    seen, cursor = reader.reads, asked.text("cursor") or None
    found, beliefs, stale = await gather(
        seen.proposals.list(cursor=cursor),
        seen.beliefs.list(limit=NEWEST),
        seen.memories.stale(limit=STALE),
    )
    return "review", {
        "page": found,
        "flagged": [] if cursor else [one for one in beliefs.beliefs if is_flagged(one)],
        "newest": NEWEST,
        "stale": () if cursor else stale.memories,
        "more_stale": stale.next_cursor is not None,
        "may": "review" in reader.rights,
        "may_write": "write" in reader.rights,
        "typed": {asked.text("id"): asked.text("reason")},
    }


def is_flagged(found: Belief) -> bool:
    """Return whether a belief is due for revision by its evidence."""
    vitality = found.vitality
    return found.verdict.revise_due or (vitality is not None and vitality.flagged_at is not None)


async def decide(reader: Reader, form: Asked) -> str:
    """Carry out a decision; return the steps that take it back, empty if nothing can.

    Raises:
        InvalidInputError: the decision is unknown, or its reason is too long.
        MissingRightError: the key does not grant it.
    """
    decision, item_id, reason = form.text("decision"), form.text("id"), form.short("reason")
    if decision not in RIGHTS:
        raise InvalidInputError(f"decision: must be one of {', '.join(RIGHTS)}.")
    reader.need(RIGHTS[decision])
    handle, origin = reader.handle, reader.origin(note=reason or None)
    match decision:
        case "accept":
            done = await handle.proposals.accept([item_id], origin=origin)
            if older := form.text("older"):
                return f"restore_memory{PAIR}{older}"
            return BETWEEN.join(f"retract{PAIR}{one}" for one in done.event_ids)
        case "dismiss":
            await handle.proposals.dismiss([item_id], origin=origin)
            return f"accept{PAIR}{item_id}"
        case "reject":
            await handle.reject(item_id, reason=reason, origin=reader.origin())
            return f"unreject{PAIR}{item_id}"
        case "retire":
            await handle.memories.deprecate(item_id, origin=origin)
            return f"restore_memory{PAIR}{item_id}"
        case _:
            await handle.beliefs.clear_flag(item_id, origin=origin)
            return ""
