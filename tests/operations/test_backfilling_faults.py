"""A backfill that is interrupted, repeated, or not alone: everything is made once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import hypothesis
import pytest

from graphmem import Handle
from graphmem.errors import GraphUnavailableError, ModelUnavailableError
from graphmem.rules import identity
from graphmem.upkeep import BackfillReport, caches
from tests.plugins.clients import Door, on_tenant
from tests.plugins.examples import examples
from tests.plugins.faults import (
    Between,
    Breaking,
    Embedding,
    Failing,
    Holding,
    LostError,
    Retrying,
    Unacknowledged,
)
from tests.plugins.foreign import change, draw, nodes, put, statuses, whole
from tests.plugins.graph import Look, fresh_tenant

pytestmark = pytest.mark.usefixtures("both_clients")

MAY = datetime(2025, 5, 5, tzinfo=UTC)
DAY = timedelta(days=1)
EXAMPLES = examples(8, 60, 300)
NOTHING = BackfillReport(
    memories=0, filled=0, embedded=0, edges=0, events=0, capped=0, unfit=()
).model_dump()

few = hypothesis.settings(max_examples=EXAMPLES)


def prepare(look: Look, tenant: str) -> None:
    """Put some of everything there."""
    put(look, tenant, "a", created_at=MAY, last_seen_at=MAY + 9 * DAY, reinforce_count=3)
    put(look, tenant, "b", created_at=MAY + DAY, status="deprecated")
    put(look, tenant, "c", created_at=MAY + 2 * DAY, scope="alice")
    put(look, tenant, "d", created_at=MAY + 3 * DAY)
    put(look, tenant, "bad", tags="one")
    draw(look, tenant, "b", "a")
    draw(look, tenant, "d", "b")


def expected(memory: Handle, look: Look) -> tuple[Any, ...]:
    """Return what a backfill in one go makes, but for what depends on the tenant's name."""
    tenant = fresh_tenant()
    prepare(look, tenant)
    on_tenant(memory, tenant).admin.backfill()
    return shape(look, tenant)


def shape(look: Look, tenant: str) -> tuple[Any, ...]:
    events, memories, edges = whole(look, tenant)
    said = sorted(
        (e["type"], str(e["occurred_at"])[:10], [n for _, _, n in e["edges"]])
        for e in events.values()
        if e["type"] != "DEPRECATE"
    )
    hidden = [e["edges"] for e in events.values() if e["type"] == "DEPRECATE"]
    shown = {
        name: [props.get(k) for k in ("status", "trace", "content_hash", "created_at")]
        for name, props in memories.items()
    }
    return said, len(hidden), shown, [(a, b, s["in_force"]) for a, b, s in edges]


@pytest.mark.parametrize("page", [pytest.param(1, marks=pytest.mark.system), 500])
def test_wherever_it_breaks_a_second_run_ends_it(
    door: Door,
    memory: Handle,
    look: Look,
    monkeypatch: pytest.MonkeyPatch,
    page: int,
) -> None:
    monkeypatch.setattr(caches, "BACKFILL_PAGE", page)
    wanted = expected(memory, look)
    inner = memory._state.context.services.graph
    for nth in range(1, 60):
        tenant = fresh_tenant()
        prepare(look, tenant)
        handle = on_tenant(memory, tenant)
        try:
            door.on(handle, graph=Breaking(inner, nth)).admin.backfill()
        except LostError:
            for name, props in nodes(look, tenant).items():
                events = [e for e in look.events(tenant).values() if name in str(e["edges"])]
                assert ("content_hash" in props) == bool(events)
            handle.admin.backfill()
            assert shape(look, tenant) == wanted
            assert handle.admin.backfill().events == 0
        else:
            assert nth > 4
            return
    pytest.fail("it never came through")


@pytest.mark.parametrize("nth", [1, 2])
def test_what_was_not_acknowledged_is_not_made_again(
    door: Door, memory: Handle, look: Look, tenant: str, nth: int
) -> None:
    prepare(look, tenant)
    inner = memory._state.context.services.graph
    with pytest.raises(GraphUnavailableError):
        door.on(memory, graph=Unacknowledged(inner, nth)).admin.backfill()
    memory.admin.backfill()
    assert shape(look, tenant) == expected(memory, look)


def test_a_retried_transaction_counts_once(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    prepare(look, tenant)
    inner = memory._state.context.services.graph
    done = door.on(memory, graph=Retrying(inner)).admin.backfill()
    assert (done.memories, done.edges, done.events) == (4, 2, 10)
    assert shape(look, tenant) == expected(memory, look)


def test_several_at_once_make_everything_once(
    door: Door, memory: Handle, look: Look, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "BACKFILL_PAGE", 1)
    prepare(look, tenant)
    done = door.together(memory, [lambda m: m.admin.backfill()] * 4)
    assert all(isinstance(one, BackfillReport) for one in done)
    for name, total in (("memories", 4), ("embedded", 4), ("edges", 2), ("events", 10)):
        assert sum(getattr(one, name) for one in done) == total
    assert shape(look, tenant) == expected(memory, look)
    assert [wrong.id for wrong in memory.admin.verify().wrong] == ["bad"]


def test_a_model_that_fails_leaves_nothing(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    put(look, tenant, "m")
    before = nodes(look, tenant)
    with pytest.raises(ModelUnavailableError):
        door.on(memory, embedder=Failing(ModelUnavailableError("gone"))).admin.backfill()
    assert (nodes(look, tenant), look.events(tenant)) == (before, {})
    assert memory.admin.backfill().memories == 1


def test_what_is_whole_needs_no_model(door: Door, memory: Handle, look: Look) -> None:
    tenant = memory._state.context.tenant
    put(look, tenant, "m")
    memory.admin.backfill()
    without = door.on(memory, embedder=Failing(ModelUnavailableError("gone")))
    assert without.admin.backfill().model_dump() == NOTHING


def meanwhile(look: Look, tenant: str, text: LiteralString) -> Callable[[], None]:
    """Return what changes memory `m` past graphmem, while a backfill embeds."""
    return lambda: change(
        look, "MATCH (m:Memory {tenant: $tenant, id: 'm'}) " + text, tenant=tenant
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("SET m.content = 'Something else'", True),
        ("SET m.tags = 'one'", True),
        ("SET m.tags = ['one']", False),
        ("DETACH DELETE m", True),
    ],
    ids=["content", "unfit", "tags", "gone"],
)
def test_what_changes_meanwhile_is_looked_at_again(
    door: Door, memory: Handle, look: Look, tenant: str, text: LiteralString, *, left: bool
) -> None:
    put(look, tenant, "m")
    embedder = Embedding(meanwhile(look, tenant, text))
    done = door.on(memory, embedder=embedder).admin.backfill()
    assert done.memories == int(not left)
    assert len(look.events(tenant)) == int(not left)
    if text.startswith("SET m.content"):
        assert memory.admin.backfill().memories == 1
        assert memory.memories.get("m").content_hash == identity.content_hash("Something else")


def test_what_comes_meanwhile_is_left_to_the_next_run(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    put(look, tenant, "m")
    embedder = Embedding(lambda: put(look, tenant, "a", content="Alice deploys"))
    assert door.on(memory, embedder=embedder).admin.backfill().memories == 1
    assert memory.admin.backfill().memories == 1


def test_a_memory_that_is_said_again_meanwhile_has_its_event(
    door: Door, memory: Handle, plain: Handle, look: Look, tenant: str
) -> None:
    put(look, tenant, "m", content="Alice deploys from Borealis")
    plain.admin.backfill()
    change(
        look,
        "MATCH (m:Memory {tenant: $tenant, id: 'm'})<-[r]-(:Event) DELETE r",
        tenant=tenant,
    )
    inner = memory._state.context.services.graph

    def other() -> None:
        assert plain.remember("Alice deploys from Borealis").memory_id == "m"

    done = door.on(memory, graph=Between(inner, other)).admin.backfill()
    assert done.model_dump() == NOTHING
    assert memory.memories.get("m").reinforce_count == 1


def test_an_edge_that_goes_meanwhile_has_no_event(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    for name in "ab":
        put(look, tenant, name)
    memory.admin.backfill()
    draw(look, tenant, "b", "a")
    before = look.events(tenant)

    def other() -> None:
        change(
            look,
            "MATCH (:Memory {tenant: $tenant, id: 'b'})-[s:SUPERSEDES]->() DELETE s",
            tenant=tenant,
        )

    inner = memory._state.context.services.graph
    done = door.on(memory, graph=Holding(inner, "commit/lock", other)).admin.backfill()
    assert done.model_dump() == NOTHING
    assert look.events(tenant) == before


def test_a_memory_taken_away_and_put_in_anew_has_its_events_again(
    memory: Handle, look: Look, tenant: str
) -> None:
    def load(created: datetime, count: int) -> None:
        put(look, tenant, "m", created_at=created, reinforce_count=count, status="deprecated")
        put(look, tenant, "n", created_at=created)
        draw(look, tenant, "n", "m")

    load(MAY, 1)
    memory.admin.backfill()
    events = look.events(tenant)
    change(look, "MATCH (m:Memory {tenant: $tenant}) DETACH DELETE m", tenant=tenant)
    load(MAY + DAY, 2)
    done = memory.admin.backfill()
    assert (done.memories, done.edges) == (2, 1)
    after = look.events(tenant)
    # One more was said, and another deprecation stands behind it.
    assert len(after) == len(events) + 2
    for name, event in events.items():
        assert after[name]["edges"] == ([] if event["type"] == "DEPRECATE" else event["edges"])
    assert statuses(memory) == {"m": "deprecated", "n": "current"}
    assert memory.memories.get("m").created_at == memory.memories.get("n").created_at == MAY
    assert memory.admin.verify().wrong == ()
    assert memory.admin.backfill().model_dump() == NOTHING


def test_events_of_before_the_backfill_count(memory: Handle, look: Look, tenant: str) -> None:
    """What was deprecated or restored by an event is what its events say, whatever is kept."""
    put(look, tenant, "m", created_at=MAY, status="current")
    put(look, tenant, "n", created_at=MAY, status="current")
    memory.memories.deprecate("m", at=MAY + DAY)
    memory.memories.deprecate("n", at=MAY + DAY)
    memory.memories.restore("n", at=MAY + 2 * DAY)
    change(
        look,
        "MATCH (m:Memory {tenant: $tenant, id: 'n'}) SET m.status = 'deprecated'",
        tenant=tenant,
    )
    done = memory.admin.backfill()
    assert (done.memories, done.events) == (2, 2)
    assert statuses(memory) == {"m": "deprecated", "n": "current"}
