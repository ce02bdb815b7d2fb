"""How long a write may take, and how long a read: each has a setting of its own."""

from __future__ import annotations

import neo4j
import pytest

from graphmem import GraphMem, Handle
from graphmem.errors import GraphUnavailableError
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder

WORDS = "The limit is 100 requests."


@pytest.mark.system
def test_a_write_ends_at_its_own_limit_and_nothing_is_written(
    plain: Handle, migrated: Settings, session: neo4j.Session, tenant: str
) -> None:
    impatient = migrated.model_copy(update={"transaction_timeout_s": 3.0, "max_retry_time_s": 0.0})
    known = str(plain.remember(WORDS).memory_id)
    # The other transaction ends by itself: a write with another limit would come through then.
    with session.begin_transaction(timeout=120) as holding:
        holding.run(
            "MATCH (m:Memory {tenant: $tenant, id: $id}) SET m.held = true", tenant=tenant, id=known
        ).consume()
        with (
            GraphMem.open(settings=impatient, embedder=HashEmbedder()) as other,
            pytest.raises(GraphUnavailableError, match="transaction timed out"),
        ):
            other.tenant(tenant).remember(WORDS)
        holding.rollback()
    assert plain.memories.get(known).reinforce_count == 0
