"""Supersessions that came without events: what such edges say holds now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.upkeep import BackfillReport, backfill
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.foreign import EDGES, change, draw, put, statuses, whole
from tests.plugins.graph import Look, fresh_tenant, has_cycle

MAY = datetime(2025, 5, 5, tzinfo=UTC)
DAY = timedelta(days=1)
EXAMPLES = examples(8, 60, 300)
NOTHING = BackfillReport(
    memories=0, filled=0, embedded=0, edges=0, events=0, capped=0, unfit=()
).model_dump()

few = hypothesis.settings(max_examples=EXAMPLES)


def test_an_edge_gets_an_event_and_is_in_force(memory: Handle, look: Look, tenant: str) -> None:
    put(look, tenant, "a", created_at=MAY, last_seen_at=MAY + 9 * DAY, reinforce_count=2)
    put(look, tenant, "b", created_at=MAY + DAY)
    draw(look, tenant, "b", "a")
    done = memory.admin.backfill()
    assert done.model_dump() == {**NOTHING, "memories": 2, "embedded": 2, "edges": 1, "events": 5}
    assert statuses(memory) == {"a": "superseded", "b": "current"}
    chain = memory.memories.chain("a")
    assert chain.head_ids == ("b",)
    [link] = chain.links
    assert link.in_force
    assert link.occurred_at == MAY + 9 * DAY + backfill.TICK
    for name in ("a", "b"):
        event = memory.memories.history(name)[-1]
        assert (event.id, event.type, event.source) == (link.event_id, "SUPERSEDE", "backfill")
        assert event.recorded_at == link.recorded_at
    assert memory.admin.verify().wrong == ()
    before = whole(look, tenant)
    assert memory.admin.backfill().model_dump() == NOTHING
    assert whole(look, tenant) == before


@pytest.mark.parametrize(
    ("props", "at"),
    [
        ({}, MAY + 2 * DAY),
        ({"occurred_at": MAY + 3 * DAY}, MAY + 3 * DAY),
        ({"occurred_at": MAY + 3 * DAY, "event_id": "theirs"}, MAY + 3 * DAY),
        ({"occurred_at": MAY - DAY, "recorded_at": MAY}, MAY + backfill.TICK),
    ],
)
def test_an_edge_is_as_old_as_it_says_or_as_its_newer_memory(
    plain: Handle, look: Look, tenant: str, props: dict[str, Any], at: datetime
) -> None:
    put(look, tenant, "a", created_at=MAY)
    put(look, tenant, "b", created_at=MAY + 2 * DAY)
    draw(look, tenant, "b", "a", **props)
    assert plain.admin.backfill().edges == 1
    [link] = plain.memories.chain("a").links
    assert (link.occurred_at, link.in_force) == (at, True)
    assert link.event_id.startswith("backfill_")


def test_an_edge_that_has_its_event_is_left_alone(memory: Handle, look: Look) -> None:
    tenant = memory._state.context.tenant
    put(look, tenant, "a", created_at=MAY)
    done = memory.supersede("a", "Alice deploys from Atlas", at=MAY + DAY)
    before = look.edges(tenant)
    assert memory.admin.backfill().model_dump() == {
        **NOTHING,
        "memories": 1,
        "embedded": 1,
        "events": 1,
    }
    assert look.edges(tenant) == before
    assert statuses(memory) == {"a": "superseded", done.newer_id: "current"}


edges = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda ends: ends[0] != ends[1]),
    max_size=8,
)


@few
@given(
    pairs=edges,
    starts=st.lists(st.integers(0, 20), min_size=6, max_size=6),
    lasts=st.lists(st.none() | st.integers(0, 20), min_size=6, max_size=6),
    hidden=st.sets(st.integers(0, 5)),
)
def test_what_edges_say_holds_now(
    plain: Handle,
    look: Look,
    pairs: list[tuple[int, int]],
    starts: list[int],
    lasts: list[int | None],
    hidden: set[int],
) -> None:
    """Whatever lies on no ring: the older one is superseded, and hidden stays what was hidden."""
    tenant = fresh_tenant()
    memory = on_tenant(plain, tenant)
    for n in range(6):
        put(
            look,
            tenant,
            f"m{n}",
            created_at=MAY + starts[n] * DAY,
            last_seen_at=None if lasts[n] is None else MAY + (starts[n] + (lasts[n] or 0)) * DAY,
            reinforce_count=None if lasts[n] is None else 2,
            status="deprecated" if n in hidden else None,
        )
    for newer, older in pairs:
        draw(look, tenant, f"m{newer}", f"m{older}")
    done = memory.admin.backfill()

    ringed = sum(u.count for u in done.unfit)
    assert done.edges + ringed == len(set(pairs))
    drawn = [row["props"] | row for row in look.rows(EDGES, tenant=tenant)]
    dated = [e for e in drawn if e.get("event_id")]
    assert len({(e["newer"], e["older"]) for e in dated}) == done.edges
    assert all(e["in_force"] for e in dated)
    if not ringed:
        assert not has_cycle(look.edges(tenant))
        superseded = {f"m{older}" for _, older in pairs}
        deprecated = {f"m{n}" for n in hidden}
        shown = statuses(memory)
        for name in shown:
            wanted = (
                "deprecated"
                if name in deprecated
                else "superseded"
                if name in superseded
                else "current"
            )
            assert shown[name] == wanted
        assert memory.admin.verify().wrong == ()
    before = whole(look, tenant)
    again = memory.admin.backfill()
    assert again.model_dump() == {**NOTHING, "unfit": done.model_dump()["unfit"]}
    assert whole(look, tenant) == before


def unfit_of(done: BackfillReport) -> dict[str, tuple[str, ...]]:
    keys = {problem: key for key, (problem, _) in backfill.EDGE_PROBLEMS.items()}
    return {keys[u.problem]: u.ids for u in done.unfit if u.kind == "edge"}


def test_edges_that_cannot_be_are_reported_and_left_alone(
    memory: Handle, look: Look, tenant: str
) -> None:
    for name in "abcdef":
        put(look, tenant, name)
    put(look, tenant, "private", scope="alice")
    put(look, tenant, "lacking", tags="one")
    draw(look, tenant, "a", "b")
    draw(look, tenant, "b", "a")
    draw(look, tenant, "c", "b")
    draw(look, tenant, "private", "c")
    draw(look, tenant, "d", "lacking")
    draw(look, tenant, "lacking", "d")
    draw(look, tenant, "e", "f", occurred_at="2025-05-05")
    change(
        look,
        "MATCH (m:Memory {tenant: $tenant, id: 'f'}) "
        "CREATE (:Memory {tenant: $tenant})-[:SUPERSEDES]->(m)",
        tenant=tenant,
    )
    before = look.rows(EDGES, tenant=tenant)
    done = memory.admin.backfill()
    assert {key: set(ids) for key, ids in unfit_of(done).items()} == {
        "ring": {"a -> b", "b -> a", "c -> b"},
        "apart": {"private -> c"},
        "ends": {"d -> lacking", "lacking -> d", "(no id) -> f"},
        "undated": {"e -> f"},
    }
    assert (done.edges, done.memories) == (0, 7)
    assert [
        {k: v for k, v in row["props"].items() if k != "in_force"}
        for row in look.rows(EDGES, tenant=tenant)
    ] == [row["props"] for row in before]

    change(
        look,
        "MATCH (:Memory {tenant: $tenant, id: 'a'})-[s:SUPERSEDES]->() DELETE s",
        tenant=tenant,
    )
    assert memory.admin.backfill().edges == 2
    assert statuses(memory)["a"] == statuses(memory)["b"] == "superseded"


@pytest.mark.parametrize("at", ["local", "future"])
def test_an_edge_of_no_instant_is_reported(plain: Handle, look: Look, tenant: str, at: str) -> None:
    put(look, tenant, "a")
    put(look, tenant, "b")
    future = datetime.now(UTC) + DAY
    draw(look, tenant, "b", "a", occurred_at=future.replace(tzinfo=None if at == "local" else UTC))
    assert unfit_of(plain.admin.backfill()) == {"undated": ("b -> a",)}


def test_two_edges_of_the_same_pair_have_one_event(memory: Handle, look: Look, tenant: str) -> None:
    put(look, tenant, "a")
    put(look, tenant, "b")
    draw(look, tenant, "b", "a", note="one")
    draw(look, tenant, "b", "a", note="two")
    done = memory.admin.backfill()
    assert (done.edges, done.events) == (1, 3)
    draw(look, tenant, "b", "a", note="later")
    again = memory.admin.backfill()
    assert (again.edges, len(look.events(tenant))) == (1, 3)
    assert len({e.event_id for e in look.edges(tenant)}) == 1
    assert memory.admin.verify().wrong == ()


def test_what_superseded_something_and_is_superseded_later_stays_so(
    memory: Handle, look: Look, tenant: str
) -> None:
    """A chain that comes piece by piece is one chain."""
    put(look, tenant, "a", created_at=MAY, last_seen_at=MAY + 50 * DAY, reinforce_count=1)
    put(look, tenant, "b", created_at=MAY + DAY)
    draw(look, tenant, "b", "a")
    memory.admin.backfill()
    put(look, tenant, "c", created_at=MAY + 2 * DAY)
    draw(look, tenant, "c", "b")
    assert memory.admin.backfill().edges == 1
    assert statuses(memory) == {"a": "superseded", "b": "superseded", "c": "current"}
