"""Walk over all tenants, for changes of the schema that need their data."""

from __future__ import annotations

from collections.abc import AsyncIterator

from graphmem import catalog
from graphmem.ports import Services

NEXT_TENANT = catalog.query("schema/next_tenant", lambda row: row["tenant"])


async def tenants(services: Services) -> AsyncIterator[str]:
    """Yield the names of the tenants that have content, in order."""
    last = ""
    while (last := (await services.fetch(NEXT_TENANT, after=last))[0]) is not None:
        yield last
