"""Shorten ids for people and models, and read shortened ones."""

from __future__ import annotations

from collections.abc import Iterable

from graphmem.errors import AmbiguousIdError
from graphmem.graph import catalog
from graphmem.ports import RequestContext
from graphmem.rules import short_ids

MAX_CANDIDATES = 5
"""Maximum number of ids that an error about an ambiguous prefix names."""
NEIGHBOURS = catalog.query("ids/neighbours", lambda row: short_ids.Neighbours(**row))
ITEMS_OF_EVENT = catalog.query("ids/items_of_event", lambda row: str(row["id"]))
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


async def items_of_event(context: RequestContext, event_id: str) -> list[str]:
    """Return the ids of the memories, beliefs and episodes that an event is about."""
    return await context.fetch(ITEMS_OF_EVENT, id=event_id)
