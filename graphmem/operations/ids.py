"""Shorten ids for people and models, and read shortened ones."""

from __future__ import annotations

from collections.abc import Iterable

from graphmem.errors import AmbiguousIdError
from graphmem.graph import catalog
from graphmem.model import MemoryEvent
from graphmem.ports import RequestContext
from graphmem.rules import read_options, short_ids

MAX_CANDIDATES = 5
"""Maximum number of ids that an error about an ambiguous prefix names."""
NEIGHBOURS = catalog.query("ids/neighbours", lambda row: short_ids.Neighbours(**row))
EVENT = catalog.query(
    "ids/event", lambda row: (read_options.parse_memory_event(row["event"]), list(row["about"]))
)
RESOLVE = catalog.query("ids/resolve", lambda row: (row["prefix"], row["id"]))


async def shortened(context: RequestContext, ids: Iterable[str]) -> dict[str, str]:
    """Return the short forms of ids; those that callers chose are left out and stay whole."""
    known = short_ids.derived(ids)
    if not any(known.values()):
        return {}
    return short_ids.shorten(await context.fetch(NEIGHBOURS, **known))


async def resolved(context: RequestContext, given: Iterable[str]) -> dict[str, str]:
    """Return the whole ids of short ids in the read scopes; unknown ones are left out."""
    wanted = short_ids.prefixes(given)
    if not any(wanted.values()):
        return {}
    rows = await context.fetch(RESOLVE, **wanted, top=MAX_CANDIDATES + 1)
    found = short_ids.matches(rows)
    for prefix, ids in found.items():
        if len(ids) > 1:
            more = ", …" if len(ids) > MAX_CANDIDATES else ""
            raise AmbiguousIdError(
                f"Several ids begin with {prefix!r}: {', '.join(ids[:MAX_CANDIDATES])}{more}"
            )
    return {prefix: ids[0] for prefix, ids in found.items()}


async def event(context: RequestContext, event_id: str) -> tuple[MemoryEvent, list[str]] | None:
    """Return an event, also by a short id, and the ids of the items that it is about."""
    known = await resolved(context, [event_id])
    found = await context.fetch(EVENT, id=known.get(event_id, event_id))
    return found[0] if found else None
