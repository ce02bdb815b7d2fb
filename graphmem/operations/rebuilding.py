"""Hold what is cached to the events, and make it anew from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphmem import catalog
from graphmem.model import Mismatch
from graphmem.ports import OnPart, Query, RequestContext, Tx
from graphmem.rules import facets, moments, tracerank

PAGE = 500
UNTOLD = "nothing: no event of its own scope; `graphmem admin rebuild --backfill` makes them"
"""Of a memory that nothing was ever said of; what is kept with it is all that is known."""

LOCK = catalog.query("commit/lock", catalog.ignored)
MEMORIES = catalog.query("cache/memories", dict)
BELIEFS = catalog.query("cache/beliefs", dict)
REFRESH_MEMORIES = catalog.query("cache/refresh_memories", catalog.ignored)
RETRACE = catalog.query("cache/retrace", catalog.ignored)
FACETS = catalog.query("cache/facets", dict)
REFRESH_FACETS = catalog.query("cache/refresh_facets", catalog.ignored)
REFRESH_BELIEFS = catalog.query("belief/refresh", catalog.ignored)


@dataclass(frozen=True, slots=True)
class CachedKind:
    """One kind of node of which something is cached."""

    kind: str
    compare: Query[dict[str, Any]]
    refresh: Query[None]
    terms: Mapping[str, Any]
    """What `compare` is given beside the page."""


KINDS = (
    CachedKind("memory", MEMORIES, REFRESH_MEMORIES, {"trace": tracerank.trace_params(tracerank.STANDARD_TRACE)}),
    CachedKind("belief", BELIEFS, REFRESH_BELIEFS, {}),
)


async def lineage(to: RequestContext, *, mend: bool, on_page: OnPart) -> list[Mismatch]:
    """Return every memory and belief of the tenant whose caches its events do not bear out.

    Args:
        to: whose; every scope is looked at.
        mend: bring it up to date, too; a memory without events is left as it is.
        on_page: told after each page its kind and how many nodes it had.
    """
    wrong: list[Mismatch] = []
    for kept in KINDS:
        after = ""
        while rows := await _page(to, kept, after):
            after = rows[-1]["id"]
            found = [row for row in rows if row["wrong"]]
            told = {row["id"] for row in found if row.get("told", True)}
            wrong += (
                Mismatch(
                    kind=kept.kind,
                    id=r["id"],
                    cached=r["cached"],
                    found=r["found"] if r["id"] in told else UNTOLD,
                )
                for r in found
            )
            if mend and told:
                await _refresh(to, kept, sorted(told))
            on_page(kept.kind, len(rows))
    return wrong


async def _page(to: RequestContext, kept: CachedKind, after: str) -> list[dict[str, Any]]:
    async def work(tx: Tx) -> list[dict[str, Any]]:
        rows = await tx.fetch(
            kept.compare,
            tenant=to.wall.tenant,
            valid=moments.FOREVER,
            known=None,
            after=after,
            limit=PAGE,
            **kept.terms,
        )
        return await _faceted(tx, to, rows) if kept.kind == "memory" else rows

    return await to.world.graph.read(work)


async def _faceted(tx: Tx, to: RequestContext, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of memories with what their facets say: digests are made here, not there."""
    tenant = to.wall.tenant
    found = await tx.fetch(FACETS, tenant=tenant, ids=[row["id"] for row in rows])
    otherwise = {row["id"] for row in found if facets.stale(tenant, row)}
    return [
        row | {"wrong": True, "cached": row["cached"] + ", facets otherwise"}
        if row["id"] in otherwise
        else row
        for row in rows
    ]


async def _refresh(to: RequestContext, kept: CachedKind, ids: list[str]) -> None:
    async def work(tx: Tx) -> None:
        await tx.fetch(LOCK, tenant=to.wall.tenant)
        await tx.fetch(kept.refresh, tenant=to.wall.tenant, ids=ids)
        if kept.kind == "memory":
            anew = tracerank.retold(dict.fromkeys(ids))
            await tx.fetch(RETRACE, tenant=to.wall.tenant, **anew)
            found = await tx.fetch(FACETS, tenant=to.wall.tenant, ids=ids)
            right = [facets.refreshed(to.wall.tenant, row) for row in found]
            await tx.fetch(REFRESH_FACETS, tenant=to.wall.tenant, memories=right)

    await to.world.graph.write(work)
