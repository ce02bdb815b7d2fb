"""Read the size of a tenant's data and its pending work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from graphmem import catalog
from graphmem.model import EventType, Status
from graphmem.ports import Services, Tx
from graphmem.rules import rating
from graphmem.rules.conflicts import retry_conversion
from graphmem.usage.records import ConsolidationWork, RatingStep, TenantStats

S = TypeVar("S", Status, EventType)

STEP = 100.0
"""Width of a histogram bar in rating points; every tier starts at a multiple of it."""

SIZES = catalog.query("metrics/sizes", dict)
RATINGS = catalog.query("metrics/ratings", dict)
WORK = catalog.query("metrics/work", dict)


@retry_conversion
async def read(services: Services, tenant: str) -> TenantStats:
    """Return the statistics of a tenant, read in one transaction.

    It counts nodes, so its duration is proportional to their number.
    """
    now = services.clock.now()

    async def work(tx: Tx) -> tuple[list[Any], list[Any], list[Any]]:
        return (
            await tx.fetch(SIZES, tenant=tenant),
            await tx.fetch(
                RATINGS,
                tenant=tenant,
                valid=now,
                rating_decay=rating.decay_params(rating.STANDARD),
                step=STEP,
            ),
            await tx.fetch(WORK, tenant=tenant),
        )

    sizes, ratings, [waiting] = await services.graph.read(work)
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
            RatingStep(**row, below=row["least"] + STEP, tier=rating.tier(row["least"]))
            for row in ratings
        ),
        unrated=unrated,
        unembedded=unembedded,
        consolidation=ConsolidationWork(**waiting),
    )


def _by(
    counted: Mapping[tuple[str, str | None], int], kind: str, states: Iterable[S]
) -> dict[S, int]:
    return {state: counted.get((kind, state), 0) for state in states}
