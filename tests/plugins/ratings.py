"""Ratings as they would be after a long log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

import pytest

from graphmem import Handle
from graphmem.settings import Settings
from tests.plugins.graph import driver_of

MARCH = datetime(2026, 3, 5, 9, tzinfo=UTC)

Rate = Callable[[Handle, Mapping[str, float]], None]


@pytest.fixture
def rate(migrated: Settings, tenant: str) -> Iterator[Rate]:
    """A function that sets ratings of items of a handle's scope, last touched at MARCH."""
    with driver_of(migrated) as driver:

        def rated(handle: Handle, elos: Mapping[str, float]) -> None:
            tenant_scope = handle._state.context.tenant_scope
            driver.execute_query(
                "UNWIND $rows AS row CALL (row) { "
                "MATCH (n:Memory {tenant: $tenant, id: row.id}) RETURN n UNION ALL "
                "MATCH (n:Belief {tenant: $tenant, id: row.id}) RETURN n UNION ALL "
                "MATCH (n:Episode {tenant: $tenant, id: row.id}) RETURN n } "
                "MERGE (g:Rating {tenant: $tenant, id: row.id, "
                "  kind: [l IN labels(n) WHERE l IN ['Memory', 'Belief', 'Episode']][0]}) "
                "SET g.scope = $scope, g.elo = row.elo, g.games = 20, g.touched_at = $at",
                rows=[{"id": item, "elo": elo} for item, elo in elos.items()],
                tenant=tenant_scope.tenant,
                scope=tenant_scope.scope,
                at=MARCH,
            )

        yield rated
