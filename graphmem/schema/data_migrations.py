"""Migrations of data whose rows come from rules: normalised keys of predicates, keys of values."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from graphmem import catalog
from graphmem.ports import Query, Row, Services
from graphmem.rules import claims, rejections

PAGE = 1_000
RESPELT_BELIEFS, RESPELT_PREDICATES = "respelt_beliefs", "respelt_predicates"
"""Parameters of the statements that write the normalised keys of predicates."""
MEMORY_VALUES, BELIEF_VALUES = "memory_values", "belief_values"
"""Parameters of the statements that write the keys of values."""
_PARAMETERS = (RESPELT_BELIEFS, RESPELT_PREDICATES, MEMORY_VALUES, BELIEF_VALUES)

NEXT_TENANT = catalog.query("schema/next_tenant", lambda row: row["tenant"])
KEYS = catalog.query("belief/predicate_keys", dict)
VALUES = catalog.query("reject/values", dict)


def takes(statement: Query[Row]) -> bool:
    """Return whether a statement of a migration writes rows that rules make."""
    return not statement.params.isdisjoint(_PARAMETERS)


async def fill(
    services: Services, statement: Query[Row], before_page: Callable[[], Awaitable[None]]
) -> None:
    """Run a statement for the data of all tenants that it is about, in pages."""
    [name] = statement.params.intersection(_PARAMETERS)
    pages = _values if name in (MEMORY_VALUES, BELIEF_VALUES) else _respelt
    async for rows in pages(services, name):
        await before_page()
        if rows:
            await services.graph.schema(statement, **{name: rows})


async def _respelt(services: Services, name: str) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield the beliefs or predicates whose keys are not normalised."""
    async for tenant in tenants(services):
        after, first = "", True
        while True:
            [page] = await services.fetch(KEYS, tenant=tenant, after=after, limit=PAGE)
            if name == RESPELT_BELIEFS:
                yield [row for one in page["beliefs"] for row in _belief(tenant, one)]
            elif first:
                yield [
                    {"tenant": tenant, "former_key": key, "key": claims.predicate_key(key)}
                    for key in page["declared"]
                    if claims.predicate_key(key) != key
                ]
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


async def _values(services: Services, name: str) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield the keys of the values of memories or beliefs."""
    label = "Memory" if name == MEMORY_VALUES else "Belief"
    async for tenant in tenants(services):
        after = ""
        while True:
            page = await services.fetch(VALUES, tenant=tenant, label=label, after=after, limit=PAGE)
            yield [
                {
                    "tenant": tenant,
                    "id": row["id"],
                    "value_key": rejections.item_key(tenant, row),
                }
                for row in page
            ]
            if len(page) < PAGE:
                break
            after = page[-1]["id"]


async def tenants(services: Services) -> AsyncIterator[str]:
    """Yield the names of the tenants that have content, in order."""
    last = ""
    while (last := (await services.fetch(NEXT_TENANT, after=last))[0]) is not None:
        yield last
