"""Edits, restores and upkeep: reports of users of other memories, each as a test of graphmem."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from graphmem import Handle
from tests.plugins.clients import on
from tests.plugins.faults import Embedding
from tests.plugins.graph import Look
from tests.plugins.texts import unlike

MAY = datetime(2026, 5, 4, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def edges(look: Look, tenant: str, item_id: str) -> list[list[str]]:
    """Return the relationships of an item, without those that a change of status adds."""
    rows = look.rows(
        "MATCH (n:Memory|Belief {tenant: $tenant, id: $id})-[r]-(m {tenant: $tenant}) "
        "WHERE NOT m:Event OR m.type IN ['ADD', 'EVIDENCE', 'REINFORCE_EXACT'] "
        "RETURN type(r) AS type, m.id AS id",
        tenant=tenant,
        id=item_id,
    )
    return sorted([row["type"], row["id"]] for row in rows)


def test_hiding_and_restoring_loses_no_link(plain: Handle, look: Look, tenant: str) -> None:
    """vectorize-io/hindsight#2864, vectorize-io/hindsight#2889: an edit or restore lost links.

    What the extraction had found (causes) went with the edit for good, and the restored memory was
    not queued to get its other links again.
    """
    done = plain.remember("Dana swims.", claims=[("Dana", "likes", "swimming")], at=MAY)
    memory_id = str(done.memory_id)
    newer = plain.supersede(memory_id, "Dana swims across the lake.", at=MAY + DAY)
    belief_id = plain.current("Dana", "likes").candidates[0].belief_id
    before = [edges(look, tenant, one) for one in (memory_id, belief_id, newer.newer_id)]
    assert [len(one) for one in before] == [3, 2, 2]
    plain.memories.deprecate(newer.newer_id)
    plain.beliefs.archive(belief_id)
    assert plain.recall("what does Dana like?").bites == ()
    plain.memories.restore(newer.newer_id)
    plain.beliefs.restore(belief_id)
    assert [edges(look, tenant, one) for one in (memory_id, belief_id, newer.newer_id)] == before
    found = [one.text for one in plain.recall("what does Dana like? does she swim?").bites]
    assert "Dana swims across the lake." in found
    assert len(found) == 2


def test_a_change_of_status_embeds_and_rewrites_nothing(
    plain: Handle, look: Look, tenant: str
) -> None:
    """vectorize-io/hindsight#2862, vectorize-io/hindsight#3264: any edit rebuilt the whole item.

    A change of a note recomputed the embedding, deleted all links and queued a run over the graph.
    """
    embedder = Embedding(lambda: None)
    memory = on(plain, embedder=embedder)
    ids = [str(memory.remember(unlike(n), at=MAY).memory_id) for n in range(5)]
    assert embedder.asked
    embedder.asked.clear()
    before = look.graph(tenant)
    event_id = memory.memories.deprecate(ids[0])
    after = look.graph(tenant)
    assert embedder.asked == []
    # One event with one relationship is new, one cached status differs, nothing else does.
    assert len(after["node"]) == len(before["node"]) + 1
    assert len(after["edge"]) == len(before["edge"]) + 1
    changed = set(after["node"]) - set(before["node"])
    assert len([one for one in changed if "'Event'" in one]) == 1
    assert len([one for one in changed if "'Memory'" in one]) == 1
    assert len(changed) == 2
    assert event_id in str(changed)


@pytest.mark.parametrize("how", ["supersede", "revise"])
def test_the_replacement_of_a_text_is_found_at_once(plain: Handle, how: str) -> None:
    """vectorize-io/hindsight#2889: an edited memory waited for a job before a search found it."""
    if how == "supersede":
        first = str(plain.remember("The boat lies in Faro.", at=MAY).memory_id)
        plain.supersede(first, "The boat lies in the harbour of Olhao.", at=MAY + DAY)
    else:
        told = plain.believe("The boat lies in Faro.", at=MAY)
        plain.beliefs.revise(told, "The boat lies in the harbour of Olhao.", at=MAY + DAY)
    [found] = plain.recall("where is the boat?").bites
    assert found.text == "The boat lies in the harbour of Olhao."
    assert found.vector_rank
