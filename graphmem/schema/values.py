"""Store the keys of the values of memories and beliefs that an earlier version wrote."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from graphmem import catalog
from graphmem.ports import Query, Row, Services
from graphmem.rules import rejections
from graphmem.schema.tenants import tenants

PAGE = 1_000
MEMORIES, BELIEFS = "memory_values", "belief_values"
"""Parameters of the statements that write the keys."""

VALUES = catalog.query("reject/values", dict)


def takes(statement: Query[Row]) -> bool:
    """Return whether a statement of a migration writes keys of values."""
    return not statement.params.isdisjoint((MEMORIES, BELIEFS))


async def fill(
    services: Services, statement: Query[Row], before_page: Callable[[], Awaitable[None]]
) -> None:
    """Run a statement for the memories or beliefs of all tenants."""
    name = MEMORIES if MEMORIES in statement.params else BELIEFS
    label = "Memory" if name == MEMORIES else "Belief"
    async for tenant, page in _pages(services, label):
        await before_page()
        rows = [
            {"tenant": tenant, "id": row["id"], "value_key": rejections.item_key(tenant, row)}
            for row in page
        ]
        await services.graph.schema(statement, **{name: rows})


async def _pages(
    services: Services, label: str
) -> AsyncIterator[tuple[str, list[Mapping[str, Any]]]]:
    async for tenant in tenants(services):
        after = ""
        while True:
            page = await services.fetch(VALUES, tenant=tenant, label=label, after=after, limit=PAGE)
            if page:
                yield tenant, list(page)
            if len(page) < PAGE:
                break
            after = page[-1]["id"]
