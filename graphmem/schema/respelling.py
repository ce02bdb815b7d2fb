"""Normalise the predicate keys of graphs that were written before keys were normalised."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from graphmem import catalog
from graphmem.ports import Query, Row, Services
from graphmem.rules import claims
from graphmem.schema.tenants import tenants

PAGE = 1_000
BELIEFS, PREDICATES = "respelt_beliefs", "respelt_predicates"
"""Parameters of the statements that write the normalised keys."""

KEYS = catalog.query("belief/predicate_keys", dict)


def takes(statement: Query[Row]) -> bool:
    """Return whether a statement of a migration writes normalised keys."""
    return not statement.params.isdisjoint((BELIEFS, PREDICATES))


async def respell(
    services: Services, statement: Query[Row], before_page: Callable[[], Awaitable[None]]
) -> None:
    """Run a statement for the beliefs or predicates whose keys are not normalised."""
    async for page in _pages(services):
        await before_page()
        rows = page[BELIEFS if BELIEFS in statement.params else PREDICATES]
        if rows:
            given = {BELIEFS: rows} if BELIEFS in statement.params else {PREDICATES: rows}
            await services.graph.schema(statement, **given)


async def _pages(services: Services) -> AsyncIterator[Mapping[str, list[dict[str, Any]]]]:
    """Yield what is to change, in pages of beliefs; predicates come with a tenant's first page."""
    async for tenant in tenants(services):
        after, first = "", True
        while True:
            [page] = await services.fetch(KEYS, tenant=tenant, after=after, limit=PAGE)
            declared = page["declared"] if first else []
            yield {
                BELIEFS: [row for one in page["beliefs"] for row in _belief(tenant, one)],
                PREDICATES: [
                    {"tenant": tenant, "former_key": key, "key": claims.predicate_key(key)}
                    for key in declared
                    if claims.predicate_key(key) != key
                ],
            }
            if len(page["beliefs"]) < PAGE:
                break
            after, first = page["beliefs"][-1]["id"], False


def _belief(tenant: str, belief: Mapping[str, Any]) -> list[dict[str, Any]]:
    former = belief["predicate_key"]
    key = former and claims.predicate_key(former)
    if key == former:
        return []
    slot_id = claims.slot_id_of_keys(belief["scope"], belief["subject_key"], key)
    return [
        {
            "tenant": tenant,
            "id": belief["id"],
            "predicate_key": key,
            "slot_id": slot_id,
            "former_slot_id": belief["slot_id"],
        }
    ]
