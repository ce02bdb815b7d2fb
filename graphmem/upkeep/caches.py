"""Compare the caches of a tenant with its events, and rebuild them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from graphmem import catalog, stored
from graphmem.ports import OnProgress, Query, RequestContext, Tx
from graphmem.rules import formulas, fulltext, read_options
from graphmem.upkeep.records import Mismatch

PAGE = 500
UNTOLD = "nothing: no event of its own scope; `graphmem admin backfill` makes them"
"""Marker for memories without events: their stored state cannot be recomputed."""

MEMORIES = catalog.query("cache/memories", dict)
BELIEFS = catalog.query("cache/beliefs", dict)
REFRESH_MEMORIES = catalog.query("cache/refresh_memories", catalog.ignored)
RETRACE = catalog.query("cache/retrace", catalog.ignored)
FACETS = catalog.query("cache/facets", dict)
REFRESH_FACETS = catalog.query("cache/refresh_facets", catalog.ignored)
REFRESH_BELIEFS = catalog.query("belief/refresh", catalog.ignored)


async def refresh_memories(tx: Tx, context: RequestContext, ids: list[str]) -> None:
    """Recompute the caches of memories from their events."""
    await tx.fetch(REFRESH_MEMORIES, ids=ids)
    await tx.fetch(RETRACE, **formulas.retrace_params(dict.fromkeys(ids)))
    found = await tx.fetch(FACETS, ids=ids)
    right = [fulltext.facet_row(context.tenant, row) for row in found]
    await tx.fetch(REFRESH_FACETS, memories=right)


async def _refresh_beliefs(tx: Tx, _: RequestContext, ids: list[str]) -> None:
    """Recompute the caches of beliefs from their events."""
    await tx.fetch(REFRESH_BELIEFS, ids=ids)


@dataclass(frozen=True, slots=True)
class CachedKind:
    """A kind of node with cached properties."""

    kind: str
    compare: Query[dict[str, Any]]
    refresh: Callable[[Tx, RequestContext, list[str]], Awaitable[None]]
    terms: Mapping[str, Any]
    """Parameters of `compare` in addition to those of the page."""


KINDS = (
    CachedKind(
        "memory",
        MEMORIES,
        refresh_memories,
        {"trace": formulas.trace_params(formulas.STANDARD_TRACE)},
    ),
    CachedKind("belief", BELIEFS, _refresh_beliefs, {}),
)


async def lineage(context: RequestContext, *, repair: bool, on_page: OnProgress) -> list[Mismatch]:
    """Return every memory and belief of the tenant whose caches differ from its events.

    Args:
        context: request context; all scopes of the tenant are checked.
        repair: also refresh the caches that differ; memories without events stay unchanged.
        on_page: receives the kind and the number of nodes after each page.
    """
    wrong: list[Mismatch] = []
    for kept in KINDS:
        after = ""
        while rows := await _page(context, kept, after):
            after = rows[-1]["id"]
            found = [row for row in rows if row["wrong"]]
            with_events = {row["id"] for row in found if row.get("has_events", True)}
            wrong += (
                Mismatch(
                    kind=kept.kind,
                    id=r["id"],
                    cached=r["cached"],
                    found=r["found"] if r["id"] in with_events else UNTOLD,
                )
                for r in found
            )
            if repair and with_events:
                await _refresh(context, kept, sorted(with_events))
            on_page(kept.kind, len(rows))
    return wrong


async def _page(context: RequestContext, kept: CachedKind, after: str) -> list[dict[str, Any]]:
    async def work(tx: Tx) -> list[dict[str, Any]]:
        rows = await tx.fetch(
            kept.compare,
            valid=read_options.FOREVER,
            known=None,
            after=after,
            limit=PAGE,
            **kept.terms,
        )
        return await _faceted(tx, context, rows) if kept.kind == "memory" else rows

    return await context.read(work)


async def _faceted(
    tx: Tx, context: RequestContext, rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return memory rows, marking those with stale facets; digests are computed in Python."""
    found = await tx.fetch(FACETS, ids=[row["id"] for row in rows])
    otherwise = {row["id"] for row in found if fulltext.has_stale_facets(context.tenant, row)}
    return [
        row | {"wrong": True, "cached": row["cached"] + ", facets differ"}
        if row["id"] in otherwise
        else row
        for row in rows
    ]


async def _refresh(context: RequestContext, kept: CachedKind, ids: list[str]) -> None:
    async def work(tx: Tx) -> None:
        await stored.lock(tx)
        await kept.refresh(tx, context, ids)

    await context.write(work)
