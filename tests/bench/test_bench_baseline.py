"""The baseline of the commit benchmark does the same work as what it is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from neo4j.vector import Vector

from bench.bare import Bare
from bench.commit import written
from graphmem import Handle
from graphmem.client import connect
from graphmem.rules import identity
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.plugins.clients import on_tenant
from tests.plugins.graph import fresh_tenant

if TYPE_CHECKING:
    from tests.plugins.graph import Look

pytestmark = pytest.mark.system

LEFT = (
    "MATCH (e:Event {tenant: $tenant})-[r]->(m:Memory {tenant: $tenant}) "
    "RETURN type(r) AS edge, e.type AS type, keys(e) AS event, keys(m) AS memory, "
    "  size(m.embedding) AS dimension, m.id AS id, m.tenant_key AS key, m.scope_key AS scope_key"
)


def test_both_sides_leave_the_same_nodes_properties_and_edges(
    plain: Handle, look: Look, migrated: Settings
) -> None:
    text = "written twice, once without graphmem"
    ours, theirs = fresh_tenant(), fresh_tenant()
    on_tenant(plain, ours).remember(text)
    embedding = Vector.from_numpy(np.full(HashEmbedder.DIMENSION, 0.1, dtype=np.float32))
    with Bare(connect.address(migrated, connect.silent)) as bare:
        bare.insert(theirs, identity.tenant_key(theirs), [written(theirs, text, embedding)])
        assert bare.nearest(theirs, embedding, 5) == [identity.memory_id("global", text)]
    [left], [right] = (look.rows(LEFT, tenant=tenant) for tenant in (ours, theirs))
    for row in (left, right):
        row["event"], row["memory"] = sorted(row["event"]), sorted(row["memory"])
    keys = {"key": identity.tenant_key(theirs), "scope_key": identity.scope_key(theirs, "global")}
    assert right == left | keys
