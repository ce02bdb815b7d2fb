"""Memories that came without events: each gets one ADD event, or stays as it is with a reason."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import AsOf, Handle, MemoryBite
from graphmem.errors import GraphUnavailableError
from graphmem.integrity import backfill
from graphmem.rules import identity
from tests.plugins.clients import on, on_tenant
from tests.plugins.examples import examples
from tests.plugins.faults import Dying, Retrying
from tests.plugins.foreign import change, draw, nodes, put
from tests.plugins.graph import Look, fresh_tenant

MAY = datetime(2025, 5, 5, tzinfo=UTC)
DAY = timedelta(days=1)


def kinds(memory: Handle, memory_id: str) -> Counter[str]:
    return Counter(str(event.type) for event in memory.memories.history(memory_id))


def test_a_node_with_only_what_is_required_becomes_a_memory(
    memory: Handle, look: Look, tenant: str
) -> None:
    put(look, tenant, "old-1", content="Alice  deploys from Borealis", created_at=MAY)
    assert memory.admin.backfill().model_dump() == {"memories": 1, "skipped": ()}
    [props] = nodes(look, tenant).values()
    assert props["tenant_key"] == identity.tenant_key(tenant)
    assert props["scope_key"] == identity.scope_key(tenant, "global")
    assert props["content_hash"] == identity.content_hash("Alice deploys from Borealis")
    one = memory.memories.get("old-1")
    assert (one.status, one.tags, one.reinforce_count) == ("current", (), 0)
    assert one.created_at == one.last_seen_at == MAY
    [event] = memory.memories.history("old-1")
    assert (event.type, event.source, event.payload) == ("ADD", "backfill", {"synthetic": True})
    assert (event.occurred_at, event.recorded_at) == (MAY, one.recorded_at)
    assert memory.admin.verify().wrong == ()
    assert memory.memories.get("old-1", as_of=AsOf(known=event.recorded_at)).content == one.content


def test_it_is_found_by_meaning_and_by_words(memory: Handle, look: Look, tenant: str) -> None:
    put(look, tenant, "old-1", content="Alice deploys from Borealis", created_at=MAY)
    memory.admin.backfill()
    [bite] = memory.recall("Alice deploys from Borealis").bites
    assert isinstance(bite, MemoryBite)
    assert (bite.memory.id, bite.vector_rank, bite.bm25_rank) == ("old-1", 1, 1)
    again = memory.remember("Alice deploys from Borealis")
    assert (again.outcome, again.memory_id) == ("NEAR_DUPE", "old-1")


@hypothesis.settings(max_examples=examples(6, 40, 200))
@given(
    rows=st.lists(
        st.tuples(
            st.none() | st.integers(0, 30),
            st.integers(0, 10**12),
            st.sampled_from(["global", "alice"]),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_the_count_is_a_prior_at_the_start(plain: Handle, look: Look, rows: list[Any]) -> None:
    tenant = fresh_tenant()
    memory = on_tenant(plain, tenant)
    handles = {"global": memory, "alice": memory.scope("alice")}
    for n, (count, start, scope) in enumerate(rows):
        created = MAY + timedelta(microseconds=start)
        put(look, tenant, f"m{n}", scope=scope, created_at=created, reinforce_count=count)
    assert memory.admin.backfill().memories == len(rows)
    for n, (count, start, scope) in enumerate(rows):
        one = handles[scope].memories.get(f"m{n}")
        assert one.created_at == one.last_seen_at == MAY + timedelta(microseconds=start)
        assert one.reinforce_count == (count or 0)
    assert memory.admin.verify().wrong == ()
    assert memory.admin.backfill().memories == 0


def test_a_large_count_is_kept_in_the_payload(memory: Handle, look: Look, tenant: str) -> None:
    put(look, tenant, "old-1", created_at=MAY, reinforce_count=1_000_000)
    memory.admin.backfill()
    found = kinds(memory, "old-1")
    assert found == {"ADD": 1, "REINFORCE_EXACT": backfill.MAX_REPEATS}
    assert memory.memories.history("old-1")[0].payload["reinforce_count"] == 1_000_000


WRONG: dict[str, dict[str, Any]] = {
    "id": {"id": "x" * 201},
    "scope": {"scope": ""},
    "content": {"content": "  "},
    "created_at": {"created_at": "yesterday"},
    "tags": {"tags": "home"},
    "reinforce_count": {"reinforce_count": -1},
    "status": {"status": "superseded"},
}


@pytest.mark.parametrize("name", backfill.PROBLEMS)
def test_what_cannot_be_used_is_skipped_with_a_remedy(
    memory: Handle, look: Look, tenant: str, name: str
) -> None:
    put(look, tenant, "good", created_at=MAY)
    put(look, tenant, "bad", **({"created_at": MAY} | WRONG[name]))
    before = nodes(look, tenant)
    done = memory.admin.backfill()
    assert done.memories == 1
    [skipped] = done.skipped
    assert (skipped.problem, skipped.hint) == backfill.PROBLEMS[name]
    [bad_id] = skipped.ids
    after = nodes(look, tenant)
    changed = {key for key in after if after[key] != before.get(key)}
    assert changed == {"good"}
    assert bad_id == "bad" or name == "id"


def test_an_edge_without_an_event_is_a_reason_to_skip(
    memory: Handle, look: Look, tenant: str
) -> None:
    for name in ("newer", "older"):
        put(look, tenant, name, created_at=MAY)
    draw(look, tenant, "newer", "older")
    done = memory.admin.backfill()
    assert (done.memories, done.skipped[0].ids) == (0, ("newer", "older"))


def test_memories_with_events_and_other_tenants_stay_as_they_are(
    memory: Handle, look: Look, tenant: str
) -> None:
    known = str(memory.remember("Alice takes the night train to Porto.").memory_id)
    foreign = fresh_tenant()
    put(look, foreign, "old-1", created_at=MAY)
    change(look, "CREATE (:Memory {id: 'nobody', scope: 'global', content: 'Of nobody.'})")
    before = nodes(look, tenant), nodes(look, foreign)
    assert memory.admin.backfill().memories == 0
    assert (nodes(look, tenant), nodes(look, foreign)) == before
    assert kinds(memory, known) == {"ADD": 1}


def test_a_missing_id_is_made(memory: Handle, look: Look, tenant: str) -> None:
    put(look, tenant, "old-1", created_at=MAY)
    change(look, "MATCH (m:Memory {tenant: $tenant}) REMOVE m.id", tenant=tenant)
    assert memory.admin.backfill().memories == 1
    [name] = nodes(look, tenant)
    assert memory.memories.get(name).created_at == MAY


@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.parametrize("nth", [1, 2])
def test_an_interrupted_run_is_completed_by_the_next(
    memory: Handle, look: Look, tenant: str, monkeypatch: pytest.MonkeyPatch, nth: int, late: int
) -> None:
    monkeypatch.setattr(backfill, "PAGE", 2)
    for n in range(5):
        put(look, tenant, f"m{n}", created_at=MAY + n * DAY)
    graph = memory._state.context.services.graph
    with pytest.raises(GraphUnavailableError):
        on(memory, graph=Dying(graph, nth, late=bool(late))).admin.backfill()
    on(memory, graph=Retrying(graph)).admin.backfill()
    assert [kinds(memory, f"m{n}") for n in range(5)] == [{"ADD": 1}] * 5
    assert memory.admin.verify().wrong == ()


def test_a_memory_changed_meanwhile_is_left_to_the_next_run(
    memory: Handle, look: Look, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(look, tenant, "old-1", content="Alice deploys from Borealis", created_at=MAY)
    embed = memory._state.context.services.embedder.embed

    class Changing:
        def __getattr__(self, name: str) -> Any:
            return getattr(memory._state.context.services.embedder, name)

        async def embed(self, *args: Any) -> Any:
            change(
                look,
                "MATCH (m:Memory {tenant: $tenant}) SET m.content = 'Alice deploys from Atlas'",
                tenant=tenant,
            )
            return await embed(*args)

    assert on(memory, embedder=Changing()).admin.backfill().memories == 0
    assert memory.admin.backfill().memories == 1
    assert memory.memories.get("old-1").content == "Alice deploys from Atlas"
