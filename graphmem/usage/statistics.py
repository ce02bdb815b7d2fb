"""Count what a graph stores, by tenant and by scope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from graphmem.graph import catalog
from graphmem.model import EventType, Status
from graphmem.ports import Query, RequestContext, Services
from graphmem.rules import rating, read_options
from graphmem.usage import (
    ConsolidationWork,
    FailingUnit,
    JobStatus,
    RatingStep,
    ScopePage,
    StoredCounts,
    TenantPage,
    TenantStats,
)

S = TypeVar("S", Status, EventType)

TIER_STEP = 100.0
"""Width of a histogram bar in rating points; every tier starts at a multiple of it."""

SIZES = catalog.query("metrics/sizes", dict)

TENANTS = catalog.query("schema/tenants", lambda row: StoredCounts(**row))

KNOWN: Query[bool] = catalog.query("metrics/known", lambda row: row["known"])

SCOPES = catalog.query("metrics/scopes", lambda row: StoredCounts(**row))

TIERS = catalog.query("metrics/ratings", dict)

WORK = catalog.query("metrics/work", dict)

JOBS = catalog.query("metrics/jobs", lambda row: JobStatus(**row))

FAILING = catalog.query("metrics/failing_units", lambda row: FailingUnit(**row))

STATS = catalog.together(SIZES, TIERS, WORK, JOBS, FAILING)


async def read(services: Services, tenant: str) -> TenantStats:
    """Return the statistics of a tenant, read in one transaction.

    It counts nodes, so its duration is proportional to their number.
    """
    by = rating.from_settings(services.settings)
    [(sizes, ratings, [waiting], jobs, failing)] = await services.fetch(
        STATS,
        tenant=tenant,
        valid=services.clock.now(),
        rating_decay=rating.decay_params(by),
        step=TIER_STEP,
    )
    counted = {(row["kind"], row["state"]): row["items"] for row in sizes}
    unrated, unembedded = waiting.pop("unrated"), waiting.pop("unembedded")
    return TenantStats(
        tenant=tenant,
        memories=_by(counted, "memory", Status),
        beliefs=_by(counted, "belief", Status),
        events=_by(counted, "event", EventType),
        episodes=counted.get(("episode", None), 0),
        turns=counted.get(("turn", None), 0),
        artifacts=counted.get(("artifact", None), 0),
        archives=counted.get(("archive", None), 0),
        ratings=tuple(
            RatingStep(
                **row, below=row["min_elo"] + TIER_STEP, tier=rating.tier(row["min_elo"], by)
            )
            for row in ratings
        ),
        unrated=unrated,
        unembedded=unembedded,
        consolidation=ConsolidationWork(**waiting),
        jobs=tuple(jobs),
        failing=tuple(failing),
    )


def _by(
    counted: Mapping[tuple[str, str | None], int], kind: str, states: Iterable[S]
) -> dict[S, int]:
    return {state: counted.get((kind, state), 0) for state in states}


async def tenants(services: Services, *, cursor: str | None, limit: int) -> TenantPage:
    """Return one page of the tenants with data, by name; the only read of all tenants' names."""
    [after] = read_options.parse_key_cursor(cursor, 1)
    page = tuple(await services.fetch(TENANTS, after=after, limit=limit))
    return TenantPage(tenants=page, next_cursor=_cursor_after(page, limit))


async def scopes(context: RequestContext, *, cursor: str | None, limit: int) -> ScopePage:
    """Return one page of the scopes of the tenant with data, by name."""
    [after] = read_options.parse_key_cursor(cursor, 1)
    asked = {"tenant": context.tenant, "after": after, "limit": limit}
    page = tuple(await context.services.fetch(SCOPES, **asked))
    return ScopePage(scopes=page, next_cursor=_cursor_after(page, limit))


async def is_known(context: RequestContext) -> bool:
    """Return whether the tenant has any data; search logs alone do not count."""
    [known] = await context.services.fetch(KNOWN, tenant=context.tenant)
    return known


def _cursor_after(page: Sequence[StoredCounts], limit: int) -> str | None:
    return read_options.key_cursor(page[-1].name) if len(page) == limit else None
